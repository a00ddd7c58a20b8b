import {
  asyncScheduler,
  catchError,
  count,
  defer,
  exhaustMap,
  type Observable,
  type ObservableInput,
  merge,
  of,
  tap,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { monotonicNow, startAge, stopwatch } from '../http/clock.js';
import { isLater } from '../operators/recordTimes.js';
import type { Committed } from './ProcessOptions.js';
import type { Stopper } from './Stop.js';
import type { Processor, ProcessStatus } from './ProcessStatus.js';
import { withStatus } from './withStatus.js';

/** The times between two readings, in milliseconds. A store may have to read all that is parked, to count it. */
const readEveryMs = { end: 2_000, parked: 10_000 };

/** What the status of a processor is read from, in addition to its commits. */
interface Sources {
  /** The name of the processor. */
  readonly name?: string | undefined;
  /** Emits the ledger end. */
  readonly end$: Observable<Offset>;
  /** Emits what is parked, one value for each update. Absent if the status has no number of them. */
  readonly parked?: (() => ObservableInput<unknown>) | undefined;
}

/** Adds the status to the commits of a processor. */
export function withProcessStatus(
  committed$: Observable<Committed>,
  stopper: Stopper,
  { name, end$, parked }: Sources,
): Processor {
  const state = { tally: noTally };
  const change = (next: (tally: Tally) => Tally): void => {
    state.tally = next(state.tally);
  };
  const read = <A>(
    source$: Observable<A>,
    everyMs: number,
    use: (tally: Tally, value: A | undefined) => Tally,
  ): Observable<unknown> =>
    timer(0, everyMs).pipe(
      exhaustMap(() => source$.pipe(catchError(() => of(undefined)))),
      tap((value) => {
        change((tally) => use(tally, value));
      }),
    );
  const readings = [read(end$, readEveryMs.end, withLedgerEnd)];
  if (parked !== undefined)
    readings.push(
      read(defer(parked).pipe(count()), readEveryMs.parked, (tally, number) => ({ ...tally, parked: number })),
    );
  const run$ = committed$.pipe(
    tap({
      subscribe: () => {
        change(({ ledgerEnd, sinceSeenMs, parked }) => ({ ...noTally, ledgerEnd, sinceSeenMs, parked }));
      },
      next: (committed) => {
        change((tally) => withCommit(tally, committed));
      },
      finalize: () => {
        change(withoutRole);
      },
    }),
  );
  return withStatus(
    run$,
    stopper,
    () => [{ ...(name !== undefined && { processor: name }), ...toProcessStatus(state.tally) }],
    merge(...readings),
  );
}

/** The summary of the commits and ledger ends so far. */
interface Tally {
  readonly last?: Committed;
  readonly committedAt?: number;
  readonly handled: number;
  /** The numbers of updates handled in the last seconds, newest first. */
  readonly recent: readonly Handled[];
  readonly ledgerEnd?: Offset | undefined;
  /** Returns how long ago the ledger end was read, in milliseconds. */
  readonly sinceSeenMs?: (() => number) | undefined;
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

/** Returns the tally of a processor that has ended: it has its last position, and no lag. */
const withoutRole = ({ last, ...tally }: Tally): Tally => ({
  ...tally,
  ...(last !== undefined && { last: { ...last, role: 'starting' } }),
  behind: undefined,
});

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
  if (last?.isPaused === true) return 'paused';
  if (last === undefined || last.role !== undefined) return 'waiting';
  return last.isCaughtUp ? 'caughtUp' : 'catchingUp';
}
