import type { Cursor } from '../decoding/Cursor.js';
import { parseBody } from '../decoding/parseBody.js';
import { refused } from '../errors/refused.js';
import { readUpdateFormat } from '../formats/readUpdateFormat.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { visibleUpdate } from '../visible/visibleUpdate.js';

/** Looks up one update. Unknown, pruned and filtered away are all the same 404. */
export function getUpdate({ participant, body }: Call, offsetOf: (request: Cursor) => number | undefined): Answer {
  const { ledger, settings } = participant;
  const { profile } = settings;
  const request = parseBody(body);
  const offset = offsetOf(request);
  const format = readUpdateFormat(request.required('updateFormat'), profile);
  const update = offset === undefined || offset <= ledger.pruned ? undefined : ledger.at(offset);
  const visible = update && visibleUpdate(update, format, { ledger, profile });
  if (visible === undefined) throw refused('UPDATE_NOT_FOUND', 'Update not found, or not visible.');
  return jsonAnswer(visible);
}
