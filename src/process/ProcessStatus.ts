import {
  asyncScheduler,
  catchError,
  connect,
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
import { isLater } from '../operators/internal/times.js';
import type { Committed } from './ProcessOptions.js';

/** How a processor is doing: plain JSON, for a health endpoint. */
export interface ProcessStatus {
  /**
   * Whether it has begun: a processor is `waiting` while another one of its name works, while it finds its place, and while
   * the store or the ledger cannot be reached for that. Then, whether it has handled everything that the ledger was seen
   * to have.
   */
  readonly state: 'waiting' | 'catchingUp' | 'caughtUp';
  /** Up to where everything is handled; absent while it waits. */
  readonly offset?: Offset;
  /** Where the ledger ended when it was seen last. */
  readonly ledgerEnd?: Offset;
  /** How many offsets lie between the two; not each of them is an update, or one that the request selects. */
  readonly lagOffsets?: number;
  /** Since when the ledger was seen to end beyond that, in milliseconds since the epoch; absent where it was not. */
  readonly behindSince?: number;
  /** When the ledger's end was seen last, in milliseconds since the epoch; absent while it was not. */
  readonly seenAt?: number;
  /** The latest record time of all that was handled. */
  readonly recordTime?: Timestamp;
  /**
   * How long ago that was, in milliseconds, by this machine's clock. On a quiet ledger it grows until the participant's next
   * checkpoint, mostly for a minute at most.
   */
  readonly recordTimeLagMs?: number;
  /** How many updates were handled since it was subscribed. */
  readonly handled: number;
  /** How many of them a second, over the last ten seconds. */
  readonly updatesPerSecond: number;
  /** When it has committed last, in milliseconds since the epoch; absent while it has not. */
  readonly committedAt?: number;
  /** When all this was so, in milliseconds since the epoch. */
  readonly at: number;
}

/** When a processor counts as ready. */
export interface ReadyOptions {
  /**
   * How many offsets it may be behind, where it has not caught up.
   *
   * @defaultValue 0
   */
  readonly maxLagOffsets?: number | undefined;
  /**
   * For how long the ledger may not have been seen, and for how long it may have ended beyond what is handled, in
   * milliseconds. On a quiet ledger the place follows the end within a minute.
   *
   * @defaultValue 60000
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * Whether one that waits for another of its name to end is ready: to take over, that is.
   *
   * @defaultValue true
   */
  readonly isStandbyReady?: boolean | undefined;
}

/** What is known so far. */
interface Tally {
  readonly last?: Committed;
  readonly committedAt?: number;
  readonly handled: number;
  /** How many updates in each of the last seconds. */
  readonly bySecond: ReadonlyMap<number, number>;
  readonly ledgerEnd?: Offset;
  readonly seenAt?: number;
  /** An end of the ledger that is not reached yet, and since when it is known. */
  readonly behind?: { readonly end: Offset; readonly since: number } | undefined;
}

const nothing: Tally = { handled: 0, bySecond: new Map() };

/**
 * Turns a processor's commits into its status, emitted at each commit and every `everyMs`. Ends as the processor does; that
 * the ledger's end cannot be had is no error, the status then does without. A health endpoint serves the
 * latest.
 *
 * @param ledgerEnd$ - `ledger.ledgerEnd()`: subscribed each time that the end is looked at
 * @param options - `everyMs`: how often to look, in milliseconds; 5000 by default
 * @example
 * ```ts
 * import { acsDelta, createLedger, isReady, toStatus } from 'canton-rx';
 * import { take } from 'rxjs';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * ledger
 *   .process({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }, () => undefined)
 *   .pipe(toStatus(ledger.ledgerEnd()), take(5))
 *   .subscribe((status) => {
 *     console.log(isReady(status), status.state, status.lagOffsets ?? '?');
 *   });
 * ```
 */
export const toStatus =
  (
    ledgerEnd$: Observable<Offset>,
    { everyMs = 5_000 }: { readonly everyMs?: number } = {},
  ): OperatorFunction<Committed, ProcessStatus> =>
  (committed$) =>
    committed$.pipe(
      connect((shared$) => {
        const looks$ = timer(0, everyMs).pipe(
          exhaustMap(() => ledgerEnd$.pipe(catchError(() => of(undefined)))),
          takeUntil(shared$.pipe(ignoreElements(), endWith(true))),
        );
        return merge(
          shared$.pipe(map((last) => (tally: Tally) => withCommit(tally, last))),
          looks$.pipe(map((end) => (tally: Tally) => withLook(tally, end))),
        ).pipe(
          scan((tally, change) => change(tally), nothing),
          startWith(nothing),
          map(statusOf),
        );
      }),
    );

/** Over how many seconds a rate is taken. */
const rateSeconds = 10;

function withCommit(tally: Tally, last: Committed): Tally {
  const now = asyncScheduler.now();
  const second = secondOf(now);
  const recent = [...tally.bySecond].filter(([at]) => at > second - rateSeconds);
  const sofar = tally.bySecond.get(second) ?? 0;
  return {
    ...tally,
    last,
    committedAt: now,
    handled: tally.handled + last.handled,
    bySecond: new Map(recent).set(second, sofar + last.handled),
    behind: last.offset >= (tally.behind?.end ?? 0) ? undefined : tally.behind,
  };
}

const secondOf = (ms: number): number => Math.floor(ms / 1_000);

function withLook(tally: Tally, ledgerEnd: Offset | undefined): Tally {
  if (ledgerEnd === undefined) return tally;
  const now = asyncScheduler.now();
  const isBehind = tally.last !== undefined && ledgerEnd > tally.last.offset;
  return {
    ...tally,
    ledgerEnd,
    seenAt: now,
    behind: isBehind ? (tally.behind ?? { end: ledgerEnd, since: now }) : undefined,
  };
}

function statusOf({ last, committedAt, handled, bySecond, ledgerEnd, seenAt, behind }: Tally): ProcessStatus {
  const at = asyncScheduler.now();
  const recent = [...bySecond].filter(([second]) => second > secondOf(at) - rateSeconds);
  const [recordTime] = Object.values(last?.recordTimes ?? {}).sort((a, b) => (isLater(a, b) ? -1 : 1));
  return {
    state: stateOf(last),
    ...(last !== undefined && { offset: last.offset }),
    ...(ledgerEnd !== undefined && { ledgerEnd }),
    ...(seenAt !== undefined && { seenAt }),
    ...(last !== undefined && ledgerEnd !== undefined && { lagOffsets: Math.max(0, ledgerEnd - last.offset) }),
    ...(behind !== undefined && { behindSince: behind.since }),
    ...(recordTime !== undefined && { recordTime, recordTimeLagMs: Math.max(0, at - Date.parse(recordTime)) }),
    handled,
    updatesPerSecond: recent.reduce((sum, [, count]) => sum + count, 0) / rateSeconds,
    ...(committedAt !== undefined && { committedAt }),
    at,
  };
}

function stateOf(last: Committed | undefined): ProcessStatus['state'] {
  if (last === undefined) return 'waiting';
  return last.isCaughtUp ? 'caughtUp' : 'catchingUp';
}

/**
 * Whether a processor is where it should be, for a readiness probe: it sees the ledger, and has caught up, or nearly, or
 * stands by. One that waits may also do so for a store that does not answer: that shows in `events$`, and as an error in
 * the end.
 *
 * @example
 * ```ts
 * import { isReady } from 'canton-rx';
 *
 * const seen = { ledgerEnd: 27, seenAt: Date.now(), handled: 3, updatesPerSecond: 0.3, at: Date.now() };
 * isReady({ state: 'caughtUp', offset: 27, lagOffsets: 0, ...seen }); // true
 * isReady({ state: 'catchingUp', offset: 7, lagOffsets: 20, ...seen }); // false
 * ```
 */
export function isReady(
  { state, lagOffsets = Infinity, seenAt = 0, behindSince = Infinity }: ProcessStatus,
  { maxLagOffsets = 0, maxAgeMs = 60_000, isStandbyReady = true }: ReadyOptions = {},
): boolean {
  const now = asyncScheduler.now();
  if (now - seenAt > maxAgeMs) return false;
  if (state === 'waiting') return isStandbyReady;
  const isNear = lagOffsets <= maxLagOffsets;
  return isNear || (state === 'caughtUp' && now - behindSince <= maxAgeMs);
}
