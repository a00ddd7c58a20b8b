import { cantonError, RequestError, requestError } from '../errors.js';
import { type Answer, type Call, jsonAnswer } from '../http/Call.js';
import { checkFilters } from '../ledger/checkFilters.js';
import { visibleUpdate } from '../ledger/visible.js';
import { type JsonCursor, parseBody, readInteger } from '../requests/JsonCursor.js';
import { readUpdateFormat } from '../requests/formats.js';
import { readUpdatesRequest, rejectDeprecated } from '../requests/updatesRequest.js';
import { checkRange, readRange, streamRange } from './range.js';
import { follow, tail } from './tail.js';

/** `POST /v2/updates`: a stream of updates, collected into a list. */
export async function listUpdates(call: Call): Promise<Answer> {
  const { ledger, settings } = call.participant;
  const { maxListElements: max, profile, listWaitTimeMs } = settings;
  const limit = readInteger(call.query, 'limit') ?? max + 1;
  const idleMs = readInteger(call.query, 'stream_idle_timeout_ms') ?? listWaitTimeMs;
  const request = readUpdatesRequest(parseBody(call.body), settings);
  // one element above the limit shows that the list is too long
  const count = Math.min(limit, max + 1);
  if (count <= 0) return jsonAnswer([]);
  checkRange(request, ledger);
  checkFilters(ledger.packages, request.format.transactions?.events, request.format.reassignments);
  const { endInclusive } = request;
  const elements =
    endInclusive === undefined
      ? await tail(call, request, count, idleMs)
      : readRange(request, endInclusive, count, { ledger, profile });
  if (elements.length > max) throw listTooLong(elements.length, max);
  return jsonAnswer(elements);
}

/** The error of a list that is too long. Its category is retryable, but a retry does not help. */
export function listTooLong(count: number, max: number): RequestError {
  const cause = `The number of matching elements (${count}) is greater than the node limit (${max}).`;
  const body = cantonError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', { cause, definiteAnswer: false });
  // the JSON layer creates this error, without a context
  return new RequestError(413, { ...body, context: {} });
}

/** `POST /v2/updates/flats`: the older name of `/v2/updates`. */
export async function listFlatUpdates(call: Call): Promise<Answer> {
  rejectDeprecated(call.participant.settings, 'The endpoint /v2/updates/flats');
  return listUpdates(call);
}

/** `GET /v2/updates` as a WebSocket: a stream of updates, one by one. */
export async function* streamUpdates(call: Call): AsyncGenerator<object> {
  const { ledger, settings } = call.participant;
  const request = readUpdatesRequest(parseBody(call.body), settings);
  checkRange(request, ledger);
  checkFilters(ledger.packages, request.format.transactions?.events, request.format.reassignments);
  const { endInclusive } = request;
  if (endInclusive === undefined) yield* follow(call, request);
  else yield* streamRange(request, endInclusive, { ledger, profile: settings.profile });
}

/** `GET /v2/updates/flats` as a WebSocket: the older name of `/v2/updates`. */
export async function* streamFlatUpdates(call: Call): AsyncGenerator<object> {
  rejectDeprecated(call.participant.settings, 'The endpoint /v2/updates/flats');
  yield* streamUpdates(call);
}

/** `POST /v2/updates/update-by-id` */
export function getUpdateById(call: Call): Answer {
  return getUpdate(call, (request) => call.participant.ledger.offsetOf(request.required('updateId').string()));
}

/** `POST /v2/updates/update-by-offset` */
export function getUpdateByOffset(call: Call): Answer {
  return getUpdate(call, (request) => {
    const offset = request.required('offset').integer();
    if (offset <= 0) throw requestError('NON_POSITIVE_OFFSET', `Offset ${offset} in offset is not positive`);
    return offset;
  });
}

/** Looks up one update. Unknown, pruned and filtered updates all get the same 404. */
function getUpdate({ participant, body }: Call, offsetOf: (request: JsonCursor) => number | undefined): Answer {
  const { ledger, settings } = participant;
  const { profile } = settings;
  const request = parseBody(body);
  const offset = offsetOf(request);
  const format = readUpdateFormat(request.required('updateFormat'), profile);
  checkFilters(ledger.packages, format.transactions?.events, format.reassignments);
  const update = offset === undefined || offset <= ledger.pruned ? undefined : ledger.at(offset);
  const visible = update && visibleUpdate(update, format, { ledger, profile });
  if (visible === undefined) throw requestError('UPDATE_NOT_FOUND', 'Update not found, or not visible.');
  return jsonAnswer(visible);
}
