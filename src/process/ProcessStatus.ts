import {
  asyncScheduler,
  catchError,
  connect,
  EMPTY,
  endWith,
  exhaustMap,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  type OperatorFunction,
  scan,
  startWith,
  takeUntil,
  timer,
} from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { monotonicNow, startAge, stopwatch } from '../http/clock.js';
import { checkNotNegative, checkPositive } from '../http/retry.js';
import { isLater } from '../operators/recordTimes.js';
import type { Committed } from './ProcessOptions.js';

/**
 * The status of a processor: plain JSON, for a health endpoint.
 *
 * @category Processing
 */
export interface ProcessStatus {
  /**
   * `'leader'` if the processor holds its name and works; `'standby'` if another processor holds the name, and this one
   * could continue with the stored cursor; `'starting'` if neither is known: at the start, and while the store or the
   * ledger cannot be reached.
   */
  readonly role: ProcessorRole;
  /**
   * `'waiting'` unless the processor is the leader. A leader is `'caughtUp'` if everything that the ledger was known to have
   * has been handled, and `'catchingUp'` otherwise.
   */
  readonly state: 'waiting' | 'catchingUp' | 'caughtUp';
  /**
   * The offset up to which everything has been handled; for a standby, the offset of the cursor when it began to wait.
   * Absent until it is known.
   */
  readonly offset?: Offset;
  /** The last known ledger end; absent until it has been read. */
  readonly ledgerEnd?: Offset;
  /**
   * The number of offsets between `offset` and `ledgerEnd`. Not every offset is an update, or one that the request
   * selects. Absent if it is not known: unless the processor is the leader, and while the ledger end cannot be read.
   */
  readonly lagOffsets?: number;
  /**
   * The time since which the ledger end is known to be after `offset`, in milliseconds since the epoch; absent
   * otherwise.
   */
  readonly behindSince?: number;
  /** When the ledger end was last read, in milliseconds since the epoch; absent until then. */
  readonly seenAt?: number;
  /** The latest record time of all handled updates. */
  readonly recordTime?: Timestamp;
  /**
   * The age of `recordTime` in milliseconds, by the clock of the machine. On a quiet ledger it grows until the next
   * checkpoint of the participant, usually for at most a minute.
   */
  readonly recordTimeLagMs?: number;
  /** The number of updates handled since the processor was subscribed. */
  readonly handled: number;
  /** The number of updates handled per second, over the last ten seconds. */
  readonly updatesPerSecond: number;
  /** The number of updates that are parked, if `toStatus` has a source for it. Absent while that cannot be read. */
  readonly parked?: number;
  /** When the processor last committed, in milliseconds since the epoch; absent before the first commit. */
  readonly committedAt?: number;
  /** When this status was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The conditions under which a processor counts as ready.
 *
 * @category Processing
 */
export interface ReadyOptions {
  /**
   * The maximum lag, in offsets, of a ready processor that has not caught up.
   *
   * @defaultValue 0
   */
  readonly maxLagOffsets?: number | undefined;
  /**
   * The maximum age, in milliseconds, of the last reading of the ledger end, and of the time since which the ledger end
   * has been after the handled updates. On a quiet ledger the cursor follows the ledger end within a minute.
   *
   * @defaultValue 60000
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Whether a standby counts as ready.
   *
   * @defaultValue true
   */
  readonly isStandbyReady?: boolean | undefined;
}

/**
 * Converts the commits of a processor to its status, for a health endpoint that serves the latest one. Emits at each
 * commit and every `everyMs`. Completes and errors with the processor. If the ledger end cannot be read, that is not an
 * error: the status keeps the last known one.
 *
 * @param ledgerEnd$ - the `end$` of the feed, or `ledger.ledgerEnd()`; subscribed to for each reading of the ledger end
 * @param options - `everyMs`: the time between two readings, in milliseconds; default: 5000. `parked$`: emits the number of parked
 * updates, and is read as often, for example `defer(() => store.parked(name)).pipe(count())`; default: the status has no such number
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { isReady, processFeed, toStatus, updatesFeed } from 'canton-rx/process';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * processFeed(feed, () => undefined)
 *   .pipe(toStatus(feed.end$), take(5))
 *   .subscribe((status) => {
 *     console.log(isReady(status), status.state, status.lagOffsets ?? '?');
 *   });
 * ```
 *
 * @category Processing
 */
export function toStatus(
  ledgerEnd$: Observable<Offset>,
  { everyMs = 5_000, parked$ }: { readonly everyMs?: number; readonly parked$?: Observable<number> | undefined } = {},
): OperatorFunction<Committed, ProcessStatus> {
  checkPositive({ everyMs });
  return (committed$) =>
    committed$.pipe(
      connect((shared$) => {
        const read = <A>(source$: Observable<A>): Observable<A | undefined> =>
          timer(0, everyMs).pipe(
            exhaustMap(() => source$.pipe(catchError(() => of(undefined)))),
            takeUntil(shared$.pipe(ignoreElements(), endWith(true))),
          );
        return merge(
          shared$.pipe(map((committed) => (tally: Tally) => withCommit(tally, committed))),
          read(ledgerEnd$).pipe(map((ledgerEnd) => (tally: Tally) => withLedgerEnd(tally, ledgerEnd))),
          (parked$ === undefined ? EMPTY : read(parked$)).pipe(
            map((parked) => (tally: Tally): Tally => ({ ...tally, parked })),
          ),
        ).pipe(
          scan((tally, change) => change(tally), noTally),
          startWith(noTally),
          map(toProcessStatus),
        );
      }),
    );
}

/**
 * Returns whether a processor is ready, for a readiness probe: it knows the ledger end, and has caught up, lags a
 * little, or is a standby. A processor that is starting is not ready: it has not reached its store, or could not check
 * its cursor and its handler.
 *
 * @example
 * ```ts
 * import { isReady } from 'canton-rx/process';
 *
 * const seen = { role: 'leader',  ledgerEnd: 27, seenAt: Date.now(), handled: 3, updatesPerSecond: 0.3, at: Date.now() } as const;
 * isReady({ state: 'caughtUp', offset: 27, lagOffsets: 0, ...seen }); // true
 * isReady({ state: 'catchingUp', offset: 7, lagOffsets: 20, ...seen }); // false
 * ```
 *
 * @category Processing
 */
export function isReady(
  { role, state, offset = 0, ledgerEnd = Infinity, seenAt = 0, behindSince }: ProcessStatus,
  { maxLagOffsets = 0, maxAgeMs = 60_000, isStandbyReady = true }: ReadyOptions = {},
): boolean {
  checkNotNegative({ maxLagOffsets, maxAgeMs });
  const now = asyncScheduler.now();
  // a status says how old its times are by `at`; a clock that was set since then makes them old until the next one
  if (Math.abs(now - seenAt) > maxAgeMs) return false;
  if (role !== 'leader') return role === 'standby' && isStandbyReady;
  const isNear = ledgerEnd - offset <= maxLagOffsets;
  const isLate = behindSince !== undefined && Math.abs(now - behindSince) > maxAgeMs;
  return isNear || (state === 'caughtUp' && !isLate);
}

/** The summary of the commits and ledger ends so far. */
interface Tally {
  readonly last?: Committed;
  readonly committedAt?: number;
  readonly handled: number;
  /** The numbers of updates handled in the last seconds, newest first. */
  readonly recent: readonly Handled[];
  readonly ledgerEnd?: Offset;
  /** Returns how long ago the ledger end was read, in milliseconds. */
  readonly sinceSeenMs?: () => number;
  /** Whether the last attempt to read the ledger end failed. */
  readonly isEndUnknown?: boolean;
  readonly parked?: number | undefined;
  /** A ledger end that has not been handled yet, and how long it has been known, in milliseconds. */
  readonly behind?: { readonly end: Offset; readonly forMs: () => number } | undefined;
}

/** Updates that were handled within a second. */
interface Handled {
  readonly count: number;
  /** The second, by the monotonic clock. */
  readonly second: number;
  /** Returns how long ago that was, in milliseconds. */
  readonly agoMs: () => number;
}

const noTally: Tally = { handled: 0, recent: [] };

/** The number of seconds over which the rate is computed. */
const rateSeconds = 10;

const isRecent = ({ second, agoMs }: Handled): boolean =>
  second > thisSecond() - rateSeconds && agoMs() < rateSeconds * 1_000;

const thisSecond = (): number => Math.floor(monotonicNow() / 1_000);

function withCommit(tally: Tally, last: Committed): Tally {
  const second = thisSecond();
  const [newest, ...others] = tally.recent.filter(isRecent);
  const begun = newest?.second === second ? newest : { count: 0, second, agoMs: startAge() };
  return {
    ...tally,
    last,
    ...(last.role === undefined && { committedAt: asyncScheduler.now() }),
    handled: tally.handled + last.handled,
    recent: [
      { ...begun, count: begun.count + last.handled },
      ...(newest === undefined || newest === begun ? others : [newest, ...others]),
    ],
    behind: last.role !== undefined || last.offset >= (tally.behind?.end ?? 0) ? undefined : tally.behind,
  };
}

function withLedgerEnd(tally: Tally, ledgerEnd: Offset | undefined): Tally {
  if (ledgerEnd === undefined) return { ...tally, isEndUnknown: true };
  const { last } = tally;
  const isBehind = last !== undefined && last.role === undefined && ledgerEnd > last.offset;
  return {
    ...tally,
    ledgerEnd,
    sinceSeenMs: stopwatch(),
    isEndUnknown: false,
    behind: isBehind ? (tally.behind ?? { end: ledgerEnd, forMs: stopwatch() }) : undefined,
  };
}

function toProcessStatus(tally: Tally): ProcessStatus {
  const { last, committedAt, handled, recent, ledgerEnd, sinceSeenMs, isEndUnknown = false, behind, parked } = tally;
  const at = asyncScheduler.now();
  const [recordTime] = Object.values(last?.recordTimes ?? {}).sort((a, b) => (isLater(a, b) ? -1 : 1));
  return {
    role: roleOf(last),
    state: stateOf(last),
    ...(last !== undefined && { offset: last.offset }),
    ...(ledgerEnd !== undefined && { ledgerEnd }),
    ...(sinceSeenMs !== undefined && { seenAt: at - sinceSeenMs() }),
    ...(last !== undefined &&
      last.role === undefined &&
      ledgerEnd !== undefined &&
      !isEndUnknown && { lagOffsets: Math.max(0, ledgerEnd - last.offset) }),
    ...(behind !== undefined && { behindSince: at - behind.forMs() }),
    ...(recordTime !== undefined && { recordTime, recordTimeLagMs: Math.max(0, at - Date.parse(recordTime)) }),
    handled,
    updatesPerSecond: recent.filter(isRecent).reduce((sum, { count }) => sum + count, 0) / rateSeconds,
    ...(parked !== undefined && { parked }),
    ...(committedAt !== undefined && { committedAt }),
    at,
  };
}

const roleOf = (last: Committed | undefined): ProcessorRole =>
  last === undefined ? 'starting' : (last.role ?? 'leader');

function stateOf(last: Committed | undefined): ProcessStatus['state'] {
  if (last === undefined || last.role !== undefined) return 'waiting';
  return last.isCaughtUp ? 'caughtUp' : 'catchingUp';
}
