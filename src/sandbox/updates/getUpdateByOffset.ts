import { refused } from '../errors/refused.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { getUpdate } from './getUpdate.js';

/** `POST /v2/updates/update-by-offset` */
export function getUpdateByOffset(call: Call): Answer {
  return getUpdate(call, (request) => {
    const offset = request.required('offset').integer();
    if (offset <= 0) throw refused('NON_POSITIVE_OFFSET', `Offset ${offset} in offset is not positive`);
    return offset;
  });
}
