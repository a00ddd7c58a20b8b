import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';

const versions = { '3.4': '3.4.12', '3.5': '3.5.19', '3.6': '3.6.0' };

/** `GET /v2/version` */
export function getVersion({ participant }: Call): Answer {
  const duration = { seconds: 75, nanos: 0, unknownFields: { fields: {} } };
  return jsonAnswer({
    version: versions[participant.settings.profile],
    features: {
      experimental: { staticTime: { supported: false }, commandInspectionService: { supported: true } },
      userManagement: { supported: true, maxRightsPerUser: 1000, maxUsersPageSize: 1000 },
      partyManagement: { maxPartiesPageSize: 10_000 },
      offsetCheckpoint: { maxOffsetCheckpointEmissionDelay: duration },
      packageFeature: { maxVettedPackagesPageSize: 100 },
    },
  });
}
