import { requestError } from '../errors.js';
import type { Call } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { UpdatesRequest } from '../requests/updatesRequest.js';
import { clampTimer } from '../wire/values.js';
import { readRange, streamRange } from './range.js';

/**
 * Collects an open-ended stream until it has `count` elements or has been idle for `idleMs`. When the client
 * disconnects, the promise never settles and all timers and listeners are removed.
 */
export function tail(call: Call, request: UpdatesRequest, count: number, idleMs: number): Promise<readonly object[]> {
  const { signal, participant, isAuthorized } = call;
  const { ledger, settings } = participant;
  const { profile, earlyCheckpointMs, idleCheckpointMs } = settings;
  return new Promise((resolve, reject) => {
    const elements: object[] = [];
    let readTo = request.beginExclusive;
    let lastCheckpoint = -1;
    // started first, so that with equal times the list ends before its early checkpoint, as is possible on a
    // participant
    const idle = setTimeout(finish, clampTimer(idleMs));
    const early = earlyCheckpointMs === false ? undefined : setTimeout(sendCheckpoint, clampTimer(earlyCheckpointMs));
    const late = idleCheckpointMs === false ? undefined : setInterval(sendCheckpoint, clampTimer(idleCheckpointMs));
    const unsubscribe = ledger.subscribe(onChange);
    signal.addEventListener('abort', cleanUp, { once: true });
    push(read());

    function read() {
      const from = { ...request, beginExclusive: readTo };
      readTo = Math.max(readTo, ledger.end);
      return readRange(from, readTo, count - elements.length, { ledger, profile });
    }

    function push(added: readonly object[]) {
      elements.push(...added);
      if (elements.length >= count) finish();
      else if (added.length > 0) {
        idle.refresh();
        late?.refresh();
      }
    }

    function pushIfAuthorized(added: readonly object[]) {
      if (added.length === 0) return;
      // the token is checked again only when there is something to send
      if (isAuthorized()) push(added);
      else fail(requestError('ACCESS_TOKEN_EXPIRED', 'JWT token has expired'));
    }

    function onChange() {
      pushIfAuthorized(read());
    }

    function sendCheckpoint() {
      // participants do not repeat a checkpoint; repetitions would keep the list from becoming idle
      if (readTo <= lastCheckpoint) return;
      lastCheckpoint = readTo;
      pushIfAuthorized([checkpoint(readTo, ledger)]);
    }

    function finish() {
      cleanUp();
      resolve(elements);
    }

    function fail(error: Error) {
      cleanUp();
      reject(error);
    }

    function cleanUp() {
      clearTimeout(idle);
      clearTimeout(early);
      clearInterval(late);
      unsubscribe();
      signal.removeEventListener('abort', cleanUp);
    }
  });
}

/** An open-ended stream. It buffers nothing, and ends only when the client disconnects. */
export async function* follow({ participant, signal }: Call, request: UpdatesRequest): AsyncGenerator<object> {
  const { ledger, settings } = participant;
  const { profile, earlyCheckpointMs, idleCheckpointMs } = settings;
  const idleMs = idleCheckpointMs === false ? Infinity : idleCheckpointMs;
  let readTo = request.beginExclusive;
  let lastCheckpoint = -1;
  let earlyAt = earlyCheckpointMs === false ? Infinity : performance.now() + earlyCheckpointMs;
  let idleAt = performance.now() + idleMs;
  for (;;) {
    while (readTo < ledger.end) {
      const { end } = ledger;
      for (const element of streamRange({ ...request, beginExclusive: readTo }, end, { ledger, profile })) {
        yield element;
        idleAt = performance.now() + idleMs;
      }
      readTo = end;
    }
    const dueAt = Math.min(earlyAt, idleAt);
    const result = await waitForChange(dueAt - performance.now(), ledger, signal);
    if (result === 'abort') return;
    if (result === 'change') continue;
    if (dueAt === earlyAt) earlyAt = Infinity;
    else idleAt = performance.now() + idleMs;
    // participants do not repeat a checkpoint
    if (readTo <= lastCheckpoint) continue;
    lastCheckpoint = readTo;
    yield checkpoint(readTo, ledger);
    idleAt = performance.now() + idleMs;
  }
}

type WaitResult = 'change' | 'timeout' | 'abort';

/** Waits for a change of the ledger, a timeout or the abort of the signal, whichever comes first. */
function waitForChange(ms: number, ledger: Ledger, signal: AbortSignal): Promise<WaitResult> {
  return new Promise((resolve) => {
    const timer = setTimeout(end, clampTimer(ms), 'timeout');
    const unsubscribe = ledger.subscribe(() => {
      end('change');
    });
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();

    function onAbort() {
      end('abort');
    }

    function end(result: WaitResult) {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      resolve(result);
    }
  });
}

/** Creates the checkpoint of a stream that has received everything up to an offset. */
function checkpoint(offset: number, { recordTimes }: Ledger): object {
  return { update: { OffsetCheckpoint: { value: { offset, synchronizerTimes: recordTimes.all } } } };
}
