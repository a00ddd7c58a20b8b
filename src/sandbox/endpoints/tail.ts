import { refused } from '../errors.js';
import type { Call } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { UpdatesRequest } from '../requests/updatesRequest.js';
import { timerMs } from '../wire/values.js';
import { readRange, visibleIn } from './range.js';

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

/** Waits for a change of the ledger, and tells what came first: it, the end of the time, or the signal. */
export function changeWithin(ms: number, ledger: Ledger, signal: AbortSignal): Promise<'change' | 'time' | 'signal'> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, timerMs(ms), 'time');
    const unlisten = ledger.listen(() => {
      end('change');
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();

    function onAbort() {
      end('signal');
    }

    function end(by: 'change' | 'time' | 'signal') {
      clearTimeout(timer);
      unlisten();
      signal.removeEventListener('abort', onAbort);
      resolve(by);
    }
  });
}

/** An open-ended stream. It holds no more than the element that it hands out, and ends with the client alone. */
export async function* follow({ participant, signal }: Call, request: UpdatesRequest): AsyncGenerator<object> {
  const { ledger, settings } = participant;
  const { profile, earlyCheckpointMs, idleCheckpointMs } = settings;
  const idleMs = idleCheckpointMs === false ? Infinity : idleCheckpointMs;
  let readTo = request.beginExclusive;
  let checkpointAt = -1;
  let earlyAt = earlyCheckpointMs === false ? Infinity : performance.now() + earlyCheckpointMs;
  let idleAt = performance.now() + idleMs;
  for (;;) {
    while (readTo < ledger.end) {
      const { end } = ledger;
      for (const element of visibleIn({ ...request, beginExclusive: readTo }, end, { ledger, profile })) {
        yield element;
        idleAt = performance.now() + idleMs;
      }
      readTo = end;
    }
    const dueAt = Math.min(earlyAt, idleAt);
    const came = await changeWithin(dueAt - performance.now(), ledger, signal);
    if (came === 'signal') return;
    if (came === 'change') continue;
    if (dueAt === earlyAt) earlyAt = Infinity;
    else idleAt = performance.now() + idleMs;
    // participants do not repeat one either
    if (readTo <= checkpointAt) continue;
    checkpointAt = readTo;
    yield checkpoint(readTo, ledger);
    idleAt = performance.now() + idleMs;
  }
}

/** A checkpoint in its envelope, for a stream that has been sent all up to an offset. */
function checkpoint(offset: number, { recordTimes }: Ledger): object {
  return { update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: recordTimes.all } } } };
}
