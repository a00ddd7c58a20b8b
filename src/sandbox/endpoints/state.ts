import { type Answer, type Call, jsonAnswer } from '../http/Call.js';

/** `GET /v2/state/ledger-end` */
export function getLedgerEnd({ participant }: Call): Answer {
  const { ledger, settings } = participant;
  const offset = ledger.end;
  return jsonAnswer(settings.profile === '3.6' ? { offset, synchronizerTimes: ledger.recordTimes.all } : { offset });
}

/** `GET /v2/state/latest-pruned-offsets` */
export function getPrunedOffsets({ participant }: Call): Answer {
  const { pruned } = participant.ledger;
  return jsonAnswer({ participantPrunedUpToInclusive: pruned, allDivulgedContractsPrunedUpToInclusive: pruned });
}

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

const versions = { '3.4': '3.4.12', '3.5': '3.5.19', '3.6': '3.6.0' };

/** `GET /v2/parties/participant-id` */
export const getParticipantId = ({ participant }: Call): Answer =>
  jsonAnswer({ participantId: participant.settings.participantId });
