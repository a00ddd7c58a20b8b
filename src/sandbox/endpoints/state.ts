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

/** `GET /v2/state/connected-synchronizers`: with a party, its synchronizers and the participant's permission for it. */
export function getConnectedSynchronizers({ participant, query }: Call): Answer {
  const { settings, hosted } = participant;
  const party = query.get('party');
  const hosting = hosted.find(party ?? '') === undefined ? 'SUBMISSION' : 'CONFIRMATION';
  const permission = `PARTICIPANT_PERMISSION_${party === null ? 'UNSPECIFIED' : hosting}`;
  const synchronizers = party === null || hosted.all.includes(party) ? settings.synchronizers : [];
  const connectedSynchronizers = synchronizers.map((synchronizerId) => ({
    synchronizerAlias: synchronizerId.split('::')[0],
    synchronizerId,
    permission,
  }));
  return jsonAnswer({ connectedSynchronizers });
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
