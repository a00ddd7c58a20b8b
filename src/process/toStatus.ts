import { asyncScheduler, catchError, combineLatest, connect, endWith, exhaustMap, ignoreElements, map, of } from 'rxjs';
import { scan, startWith, takeUntil, timer, type Observable, type OperatorFunction } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import { isLater } from '../operators/internal/isLater.js';
import type { Committed } from './Committed.js';
import type { ProcessStatus } from './ProcessStatus.js';

/** What is counted of the commits. */
interface Tally {
  readonly last?: Committed;
  readonly handled: number;
  /** How many updates in each of the last seconds. */
  readonly bySecond: ReadonlyMap<number, number>;
  readonly committedAt?: number;
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
        const ledgerEndOrNot$ = ledgerEnd$.pipe(catchError(() => of(undefined)));
        const looks$ = timer(0, everyMs).pipe(
          exhaustMap(() => ledgerEndOrNot$),
          takeUntil(shared$.pipe(ignoreElements(), endWith(true))),
        );
        const tally$ = shared$.pipe(scan(counted, nothing), startWith(nothing));
        return combineLatest([tally$, looks$.pipe(startWith(undefined))]).pipe(
          map(([tally, ledgerEnd]) => statusOf(tally, ledgerEnd)),
        );
      }),
    );

const nothing: Tally = { handled: 0, bySecond: new Map() };

function counted({ handled, bySecond }: Tally, last: Committed): Tally {
  const now = asyncScheduler.now();
  const second = Math.floor(now / 1_000);
  const recent = [...bySecond].filter(([at]) => at > second - rateSeconds);
  const sofar = bySecond.get(second) ?? 0;
  return {
    last,
    handled: handled + last.handled,
    bySecond: new Map(recent).set(second, sofar + last.handled),
    committedAt: now,
  };
}

function statusOf({ last, handled, bySecond, committedAt }: Tally, ledgerEnd: Offset | undefined): ProcessStatus {
  const at = asyncScheduler.now();
  const second = Math.floor(at / 1_000);
  const recent = [...bySecond].filter(([when]) => when > second - rateSeconds);
  const [recordTime] = Object.values(last?.recordTimes ?? {}).sort((a, b) => (isLater(a, b) ? -1 : 1));
  return {
    state: stateOf(last),
    ...(last !== undefined && { offset: last.offset }),
    ...(ledgerEnd !== undefined && { ledgerEnd }),
    ...(last !== undefined && ledgerEnd !== undefined && { lagOffsets: Math.max(0, ledgerEnd - last.offset) }),
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
