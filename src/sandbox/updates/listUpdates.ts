import { parseBody } from '../decoding/parseBody.js';
import { readInteger } from '../decoding/readInteger.js';
import type { Answer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import { jsonAnswer } from '../http/jsonAnswer.js';
import { checkRange } from './checkRange.js';
import { listTooLong } from './listTooLong.js';
import { readRange } from './readRange.js';
import { readUpdatesRequest } from './readUpdatesRequest.js';
import { tail } from './tail.js';

/** `POST /v2/updates`: a stream of updates, collected into a list. */
export async function listUpdates(call: Call): Promise<Answer> {
  const { ledger, settings } = call.participant;
  const { maxListElements: max, profile, listWaitTimeMs } = settings;
  const limit = readInteger(call.query, 'limit') ?? max + 1;
  const idleMs = readInteger(call.query, 'stream_idle_timeout_ms') ?? listWaitTimeMs;
  const request = readUpdatesRequest(parseBody(call.body), settings);
  // one more than allowed is enough to see that there are too many
  const count = Math.min(limit, max + 1);
  if (count <= 0) return jsonAnswer([]);
  checkRange(request, ledger);
  const { endInclusive } = request;
  const elements =
    endInclusive === undefined
      ? await tail(call, request, count, idleMs)
      : readRange(request, endInclusive, count, { ledger, profile });
  if (elements.length > max) throw listTooLong(elements.length, max);
  return jsonAnswer(elements);
}
