import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';

/** `GET /v2/state/ledger-end` */
export function getLedgerEnd({ participant }: Call): Answer {
  const { ledger, settings } = participant;
  const offset = ledger.end;
  return jsonAnswer(settings.profile === '3.6' ? { offset, synchronizerTimes: ledger.recordTimes.all } : { offset });
}
