import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { getUpdate } from './getUpdate.js';

/** `POST /v2/updates/update-by-id` */
export function getUpdateById(call: Call): Answer {
  return getUpdate(call, (request) => call.participant.ledger.offsetOf(request.required('updateId').string()));
}
