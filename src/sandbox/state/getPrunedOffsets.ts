import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';

/** `GET /v2/state/latest-pruned-offsets` */
export function getPrunedOffsets({ participant }: Call): Answer {
  const { pruned } = participant.ledger;
  return jsonAnswer({ participantPrunedUpToInclusive: pruned, allDivulgedContractsPrunedUpToInclusive: pruned });
}
