import { cantonError, RequestError, requestError } from '../errors.js';
import { type Answer, jsonAnswer } from '../http/Answer.js';
import type { Call } from '../http/Call.js';
import type { Ledger } from '../ledger/Ledger.js';
import { type ReadContext, visibleUpdate } from '../ledger/visible.js';
import { readInteger } from '../requests/decode.js';
import type { UpdateSelection } from '../requests/selections.js';
import { updateValue } from '../wire/events.js';
import { clampTimer } from '../wire/values.js';

/** A range of the ledger, and the updates in it that a request selects. */
export interface UpdatesRange {
  readonly beginExclusive: number;
  /** `undefined` for a range without an end. */
  readonly endInclusive: number | undefined;
  readonly descending: boolean;
  readonly selection: UpdateSelection;
}

/**
 * Reads the visible updates of a range up to an offset, one by one. Looks up each update only when it is needed,
 * because the ledger may be pruned or restored in the meantime.
 */
export function* streamRange(range: UpdatesRange, endInclusive: number, context: ReadContext): Generator<object> {
  const { ledger } = context;
  const { descending, selection } = range;
  let [above, upTo] = [range.beginExclusive, endInclusive];
  for (;;) {
    checkPruned(above, upTo, ledger);
    const [first, end] = [ledger.indexAfter(above), ledger.indexAfter(upTo)];
    const update = first < end ? ledger.updates[descending ? end - 1 : first] : undefined;
    if (update === undefined) return;
    const { offset } = updateValue(update);
    if (descending) upTo = offset - 1;
    else above = offset;
    const element = visibleUpdate(update, selection, context);
    if (element !== undefined) yield element;
  }
}

export function checkNotNegative(beginExclusive: number): void {
  if (beginExclusive < 0)
    throw requestError('NEGATIVE_OFFSET', `Offset ${beginExclusive} in begin_exclusive is negative`);
}

/** Rejects a bound of a range after the ledger end. */
export function checkEnd(bound: string, offset: number, { end }: Ledger): void {
  if (offset > end)
    throw requestError('OFFSET_AFTER_LEDGER_END', `${bound} offset (${offset}) is after ledger end (${end})`);
}

/** Rejects a range that begins before the pruned offset. */
export function checkPruned(beginExclusive: number, endInclusive: number | undefined, { pruned, end }: Ledger): void {
  if (beginExclusive >= pruned) return;
  const range = `Updates request from ${beginExclusive + 1} to ${endInclusive ?? end}`;
  throw requestError('PARTICIPANT_PRUNED_DATA_ACCESSED', `${range} precedes pruned offset ${pruned}`, {
    context: { earliest_offset: String(pruned) },
  });
}

/** How many elements a list has at most, and the idle time after which an open-ended one ends. */
export function readLimits({ query, participant: { settings } }: Call): { count: number; idleMs: number } {
  const { maxListElements: max, listWaitTimeMs } = settings;
  const limit = readInteger(query, 'limit') ?? max + 1;
  const idleMs = readInteger(query, 'stream_idle_timeout_ms') ?? listWaitTimeMs;
  // one element above the limit shows that the list is too long
  return { count: Math.min(limit, max + 1), idleMs };
}

/** Collects a stream into a list, until it ends or has `count` elements. */
export async function listAnswer(
  stream: AsyncIterable<object> | Iterable<object>,
  count: number,
  { participant: { settings } }: Call,
): Promise<Answer> {
  const elements: object[] = [];
  for await (const element of stream) if (elements.push(element) >= count) break;
  if (elements.length > settings.maxListElements) throw listTooLong(elements.length, settings.maxListElements);
  return jsonAnswer(elements);
}

/** The error of a list that is too long. Its category is retryable, but a retry does not help. */
export function listTooLong(count: number, max: number): RequestError {
  const cause = `The number of matching elements (${count}) is greater than the node limit (${max}).`;
  const body = cantonError('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', { cause, definiteAnswer: false });
  // the JSON layer creates this error, without a context
  return new RequestError(413, { ...body, context: {} });
}

/** The elements of a stream without an end. */
export interface Source {
  readonly beginExclusive: number;
  /** Reads the elements after an offset, up to another. */
  readonly read: (above: number, upTo: number) => Iterable<object>;
  /** Puts a checkpoint into the envelope of the elements. */
  readonly envelope: (checkpoint: object) => object;
}

/**
 * A stream without an end. It buffers nothing, and ends when the client disconnects, or when it has sent nothing for
 * `endAfterMs`.
 */
export async function* follow(
  { participant, signal, isAuthorized }: Call,
  source: Source,
  endAfterMs = Infinity,
): AsyncGenerator<object> {
  const { ledger, settings } = participant;
  const idleMs = settings.idleCheckpointMs === false ? Infinity : settings.idleCheckpointMs;
  const earlyMs = settings.firstCheckpointMs === false ? Infinity : settings.firstCheckpointMs;
  let readTo = source.beginExclusive;
  let lastCheckpoint = -1;
  let sentAt = performance.now();
  let earlyAt = sentAt + earlyMs;
  let idleAt = sentAt + idleMs;
  for (;;) {
    while (readTo < ledger.end) {
      const { end } = ledger;
      for (const element of source.read(readTo, end)) {
        checkToken();
        yield element;
        sentAt = performance.now();
        idleAt = sentAt + idleMs;
      }
      readTo = end;
    }
    // at equal times the stream ends before its checkpoint, as is possible on a participant
    const endAt = sentAt + endAfterMs;
    const dueAt = Math.min(earlyAt, idleAt, endAt);
    const result = await waitForChange(dueAt - performance.now(), ledger, signal);
    if (result === 'abort') return;
    if (result === 'change') continue;
    if (dueAt === endAt) return;
    if (dueAt === earlyAt) earlyAt = Infinity;
    else idleAt = performance.now() + idleMs;
    // participants do not repeat a checkpoint
    if (readTo <= lastCheckpoint) continue;
    lastCheckpoint = readTo;
    checkToken();
    yield source.envelope({
      OffsetCheckpoint: { value: { offset: readTo, synchronizerTimes: ledger.recordTimes.all } },
    });
    sentAt = performance.now();
    idleAt = sentAt + idleMs;
  }

  /** The token may expire while the stream waits. It is checked again only when there is something to send. */
  function checkToken() {
    if (!isAuthorized()) throw requestError('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
  }
}

/** Waits for a change of the ledger, a timeout or the abort of the signal, whichever comes first. */
function waitForChange(ms: number, ledger: Ledger, signal: AbortSignal): Promise<'change' | 'timeout' | 'abort'> {
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

    function end(result: 'change' | 'timeout' | 'abort') {
      clearTimeout(timer);
      unsubscribe();
      signal.removeEventListener('abort', onAbort);
      resolve(result);
    }
  });
}
