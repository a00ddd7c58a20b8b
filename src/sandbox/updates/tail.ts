import { refused } from '../errors/refused.js';
import type { Call } from '../http/Call.js';
import { timerMs } from '../http/timerMs.js';
import { checkpoint } from './checkpoint.js';
import { readRange } from './readRange.js';
import type { UpdatesRequest } from './UpdatesRequest.js';

/**
 * Collects an open-ended stream until it has `count` elements or was idle for too long. Never settles once
 * the client is gone, and leaves nothing behind then.
 */
export function tail(call: Call, request: UpdatesRequest, count: number, idleMs: number): Promise<readonly object[]> {
  const { signal, participant, isAuthorized } = call;
  const { ledger, settings } = participant;
  const { profile, earlyCheckpointMs, idleCheckpointMs } = settings;
  return new Promise((resolve, reject) => {
    const elements: object[] = [];
    let readTo = request.beginExclusive;
    let checkpointAt = -1;
    // started first: with equal times the list ends before its early checkpoint, as it may on a real node
    const idle = setTimeout(finish, timerMs(idleMs));
    const early = earlyCheckpointMs === false ? undefined : setTimeout(sendCheckpoint, timerMs(earlyCheckpointMs));
    const late = idleCheckpointMs === false ? undefined : setInterval(sendCheckpoint, timerMs(idleCheckpointMs));
    const unlisten = ledger.listen(onChange);
    signal.addEventListener('abort', drop, { once: true });
    send(read());

    function read() {
      const from = { ...request, beginExclusive: readTo };
      readTo = Math.max(readTo, ledger.end);
      return readRange(from, readTo, count - elements.length, { ledger, profile });
    }

    function send(added: readonly object[]) {
      elements.push(...added);
      if (elements.length >= count) finish();
      else if (added.length > 0) {
        idle.refresh();
        late?.refresh();
      }
    }

    function sendLater(added: readonly object[]) {
      if (added.length === 0) return;
      // a token is looked at again only when there is something to send
      if (isAuthorized()) send(added);
      else fail(refused('ACCESS_TOKEN_EXPIRED', 'JWT token has expired'));
    }

    function onChange() {
      sendLater(read());
    }

    function sendCheckpoint() {
      // repeated, it would keep a list from ever being idle; participants do not repeat it either
      if (readTo <= checkpointAt) return;
      checkpointAt = readTo;
      sendLater([checkpoint(readTo, ledger)]);
    }

    function finish() {
      drop();
      resolve(elements);
    }

    function fail(error: Error) {
      drop();
      reject(error);
    }

    function drop() {
      clearTimeout(idle);
      clearTimeout(early);
      clearInterval(late);
      unlisten();
      signal.removeEventListener('abort', drop);
    }
  });
}
