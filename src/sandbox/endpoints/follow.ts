import { filter, map, merge, NEVER, type Observable, take, timer, toArray } from 'rxjs';
import { jsonLayerError, type RequestError, requestError } from '../errors.js';
import { type Answer, type Call, type Handler, jsonAnswer, type Stream } from '../http/Call.js';
import { elementsOf, Wait } from '../http/Wait.js';
import type { Ledger } from '../ledger/Ledger.js';
import { type ReadContext, type VisibleUpdate, visibleUpdate } from '../ledger/visible.js';
import { readInteger } from '../requests/decode.js';
import type { UpdateSelection } from '../requests/selections.js';
import { clampTimer } from '../wire/values.js';
import { updateValue } from '../wire/WireUpdate.js';

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
export function* streamRange(
  range: UpdatesRange,
  endInclusive: number,
  context: ReadContext,
): Generator<VisibleUpdate> {
  const { ledger } = context;
  const { descending, selection } = range;
  let [above, upTo] = [range.beginExclusive, endInclusive];
  for (;;) {
    if (above === upTo) return;
    if (!descending) checkPruned(above, upTo, ledger);
    // a descending range has its updates down to the pruned ones
    const [first, end] = [ledger.indexAfter(Math.max(above, ledger.pruned)), ledger.indexAfter(upTo)];
    const update = first < end ? ledger.updates[descending ? end - 1 : first] : undefined;
    if (update === undefined) {
      checkPruned(above, upTo, ledger);
      return;
    }
    const { offset } = updateValue(update);
    if (descending) upTo = offset - 1;
    else above = offset;
    const element = visibleUpdate(update, selection, context);
    if (element !== undefined) yield element;
  }
}

/** Rejects an offset that no update can have. */
export function checkPositive(offset: number, field: string): void {
  if (offset <= 0) throw requestError('NON_POSITIVE_OFFSET', `Offset ${offset} in ${field} is not positive`);
}

/** Rejects the size of a page that is not positive or too large, and returns any other. */
export function checkPageSize(size: number, largest: number): number {
  if (size <= 0) throw requestError('INVALID_ARGUMENT', `Requested page size must be positive, but got ${size}`);
  if (size <= largest) return size;
  throw requestError('INVALID_ARGUMENT', `Requested page size must not exceed ${largest}, but got ${size}`);
}

/** Rejects an offset after the ledger end. */
export function checkEnd(name: string, offset: number, { end }: Ledger): void {
  if (offset > end)
    throw requestError('OFFSET_AFTER_LEDGER_END', `${name} offset (${offset}) is after ledger end (${end})`);
}

/** Rejects a range that begins before the pruned offset. */
export function checkPruned(beginExclusive: number, endInclusive: number | undefined, { pruned, end }: Ledger): void {
  if (beginExclusive >= pruned) return;
  throw prunedError(`Updates request from ${beginExclusive + 1} to ${endInclusive ?? end}`, pruned);
}

export const prunedError = (request: string, pruned: number): RequestError =>
  requestError('PARTICIPANT_PRUNED_DATA_ACCESSED', `${request} precedes pruned offset ${pruned}`, {
    context: { earliest_offset: String(pruned) },
  });

/** What a request for a list or a stream selects. */
export interface Selected {
  /** Rejects a request that the ledger cannot serve. */
  readonly check: () => void;
  /** Reads the elements. With `idleMs`, the request of a list sets the idle time after which it ends. */
  readonly read: (idleMs?: number) => Iterable<object | Wait>;
}

/** Serves what a request selects as a stream of single elements, for a WebSocket. */
export const streamOf = (select: (call: Call) => Selected): Stream =>
  function* (call) {
    const { check, read } = select(call);
    check();
    yield* read();
  };

/** Serves what a request selects as a list: the elements until the stream ends or has enough of them. */
export const listOf =
  (select: (call: Call) => Selected): Handler =>
  (call) => {
    const { maxListElements: max } = call.participant.settings;
    // one element above the limit shows that the list is too long
    const count = Math.min(readInteger(call.query, 'limit') ?? max + 1, max + 1);
    const idleMs = readInteger(call.query, 'stream_idle_timeout_ms');
    if (idleMs !== undefined && idleMs < 0)
      throw jsonLayerError(400, 'INVALID_ARGUMENT', `The idle timeout ${idleMs} ms must not be negative`);
    const { check, read } = select(call);
    if (count <= 0) return jsonAnswer([]);
    check();
    const list$ = elementsOf(read(idleMs)).pipe(
      take(count),
      toArray(),
      map((elements) => {
        if (elements.length > max) throw listTooLong(elements.length, max);
        return jsonAnswer(elements);
      }),
    );
    return merge(brokenOff(call), list$).pipe(take(1));
  };

/** Loses the response to a request that waits while the ledger is restored: what came after that would be of another ledger. */
function brokenOff({ participant: { ledger }, timeoutAnswer }: Call): Observable<Answer> {
  const { restores } = ledger;
  return ledger.changes$.pipe(
    filter(() => ledger.restores !== restores),
    map(() => ({ ...timeoutAnswer, lost: true })),
  );
}

/** The error of a list that is too long. Its category is retryable, but a retry does not help. */
function listTooLong(count: number, max: number): RequestError {
  const cause = `The number of matching elements (${count}) is greater than the node limit (${max}).`;
  return jsonLayerError(413, 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', cause);
}

/** The elements of a stream without an end. */
export interface Source {
  readonly beginExclusive: number;
  /** Reads the elements after an offset, up to another. */
  readonly read: (above: number, upTo: number) => Iterable<object>;
  /** Puts a checkpoint into the envelope of the elements. */
  readonly envelope: (checkpoint: object) => object;
}

/** A stream without an end. It buffers nothing. A list ends when it has got nothing for a while. */
export function* follow(
  { participant, isAuthorized, method }: Call,
  source: Source,
  listIdleMs?: number,
): Generator<object | Wait, void> {
  const { ledger, settings } = participant;
  const endAfterMs = method === 'GET' ? Infinity : (listIdleMs ?? settings.listWaitTimeMs);
  const idleMs = settings.idleCheckpointMs === false ? Infinity : settings.idleCheckpointMs;
  const earlyMs = settings.firstCheckpointMs === false ? Infinity : settings.firstCheckpointMs;
  let readTo = source.beginExclusive;
  let lastCheckpoint = -1;
  let earlyAt = ledger.now() + earlyMs;
  let sentAt = 0;
  let idleAt = 0;
  onSent();
  for (;;) {
    while (readTo < ledger.end) {
      const { end } = ledger;
      for (const element of source.read(readTo, end)) {
        checkToken();
        yield element;
        onSent();
      }
      readTo = end;
    }
    // at equal times the stream ends before its checkpoint, as is possible on a participant
    const endAt = sentAt + endAfterMs;
    const dueAt = Math.min(earlyAt, idleAt, endAt);
    const waitMs = dueAt - ledger.now();
    const due$ = waitMs === Infinity ? NEVER : timer(clampTimer(waitMs), ledger.scheduler);
    yield new Wait(merge(ledger.changes$, due$));
    // what was committed comes first: the times of a checkpoint are those of all updates
    if (ledger.now() < dueAt || readTo < ledger.end) continue;
    if (dueAt === endAt) return;
    if (dueAt === earlyAt) earlyAt = Infinity;
    else idleAt = ledger.now() + idleMs;
    // participants do not repeat a checkpoint
    if (readTo <= lastCheckpoint) continue;
    lastCheckpoint = readTo;
    checkToken();
    yield source.envelope({
      OffsetCheckpoint: { value: { offset: readTo, synchronizerTimes: ledger.recordTimes.all } },
    });
    onSent();
  }

  function onSent() {
    sentAt = ledger.now();
    idleAt = sentAt + idleMs;
  }

  /** The token may expire while the stream waits. It is checked again only when there is something to send. */
  function checkToken() {
    if (!isAuthorized()) throw requestError('ACCESS_TOKEN_EXPIRED', 'JWT token has expired');
  }
}
