import { asyncScheduler, catchError, connect, endWith, exhaustMap, ignoreElements, map, merge, of } from 'rxjs';
import { scan, startWith, takeUntil, timer, type Observable, type OperatorFunction } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import { isLater } from '../operators/internal/isLater.js';
import type { Committed } from './Committed.js';
import type { ProcessStatus } from './ProcessStatus.js';

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

/** Over how many seconds a rate is taken. */
const rateSeconds = 10;

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

const nothing: Tally = { handled: 0, bySecond: new Map() };

const secondOf = (ms: number): number => Math.floor(ms / 1_000);

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
