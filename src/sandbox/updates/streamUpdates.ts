import { parseBody } from '../decoding/parseBody.js';
import type { Call } from '../http/Call.js';
import { checkRange } from './checkRange.js';
import { follow } from './follow.js';
import { readUpdatesRequest } from './readUpdatesRequest.js';
import { visibleIn } from './visibleIn.js';

/** `GET /v2/updates` as a WebSocket: a stream of updates, one by one. */
export async function* streamUpdates(call: Call): AsyncGenerator<object> {
  const { ledger, settings } = call.participant;
  const request = readUpdatesRequest(parseBody(call.body), settings);
  checkRange(request, ledger);
  const { endInclusive } = request;
  if (endInclusive === undefined) yield* follow(call, request);
  else yield* visibleIn(request, endInclusive, { ledger, profile: settings.profile });
}
