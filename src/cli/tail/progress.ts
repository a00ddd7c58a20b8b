import {
  catchError,
  EMPTY,
  exhaustMap,
  finalize,
  map,
  type Observable,
  of,
  scan,
  startWith,
  tap,
  timer,
  withLatestFrom,
} from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { Diagnostic } from '../../diagnostics/Diagnostic.js';
import type { LedgerError } from '../../errors/LedgerError.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { grouped, type Paint, type StatusLine } from '../terminal.js';

/** How far a command has come; the one place where it is kept. */
export interface Progress {
  /** The offset of the last update that was read, and printed unless left out; absent before it is known where to begin. */
  cursor: Offset | undefined;
  /** How many were read. */
  count: number;
}

/** How far a tail had come at a time. */
export interface ProgressSample extends Progress {
  readonly at: number;
}

/** How a feed is getting on, as its events tell it. */
export interface Pace {
  readonly hasCaughtUp: boolean;
  /** Whether the ledger pushes what is new. */
  readonly isPushed?: boolean;
  /** What keeps it from going on just now, in a word or two. */
  readonly trouble?: string;
}

/** Where it is to go, and how it gets on. */
interface Going extends Pace {
  /** The ledger end; absent before it is known, and where the service does not tell it. */
  readonly end: Offset | undefined;
  /** The end of the range, if it has one. */
  readonly to: Offset | undefined;
}

/** What the status line says: `12 345 / 67 890  ·  1 200/s  ·  catching up`; with colours, where `paint` gives them. */
export function progressText(recent: readonly ProgressSample[], { end, to, ...pace }: Going, paint: Paint): string {
  const [first, last] = [recent[0], recent.at(-1)];
  const cursor = last?.cursor;
  const rate = first === undefined || last === undefined ? 0 : rateOf(first, last);
  const target = end === undefined ? undefined : Math.max(cursor ?? 0, Math.min(end, to ?? end));
  const place = `${grouped(cursor)} / ${grouped(target)}`;
  const speed = `${grouped(rate)}/s`;
  const state = stateOf(pace, rate, cursor);
  return [place, paint('dim', speed), paint(state.colour, state.name)].join('  ·  ');
}

function rateOf(first: ProgressSample, last: ProgressSample): number {
  const seconds = (last.at - first.at) / 1_000;
  return seconds > 0 ? Math.round((last.count - first.count) / seconds) : 0;
}

function stateOf({ hasCaughtUp, isPushed, trouble }: Pace, rate: number, cursor: Offset | undefined) {
  if (trouble !== undefined) return { name: `trying again: ${trouble}`, colour: 'red' } as const;
  if (cursor === undefined) return { name: 'asking', colour: 'dim' } as const;
  if (hasCaughtUp)
    return { name: isPushed === true ? 'caught up, by WebSocket' : 'caught up', colour: 'green' } as const;
  // nothing that is asked for between here and the end, or a ledger that takes its time
  return rate > 0
    ? ({ name: 'catching up', colour: 'yellow' } as const)
    : ({ name: 'waiting', colour: 'dim' } as const);
}

/** How a feed gets on after an event. For `scan`. */
export function paceOf(pace: Pace, event: Diagnostic): Pace {
  switch (event._tag) {
    case 'FeedStarted':
    case 'FellBehind':
      return { hasCaughtUp: false };
    case 'CaughtUp':
      return { hasCaughtUp: true };
    case 'RetryScheduled':
      return { ...pace, trouble: inAWord(event.cause) };
    case 'PageReceived':
      return { hasCaughtUp: pace.hasCaughtUp, ...(pace.isPushed === true && { isPushed: true }) };
    case 'SocketOpened':
      return { hasCaughtUp: true, isPushed: true };
    case 'SocketClosed':
      return { hasCaughtUp: pace.hasCaughtUp };
    default:
      return pace;
  }
}

function inAWord(error: LedgerError): string {
  if (error._tag === 'ApiError') return error.code ?? String(error.status);
  return error._tag === 'ConnectionError' ? (error.code ?? error.reason) : error.name;
}

interface Shown {
  readonly progress: Progress;
  readonly status: StatusLine;
  /** The end of the range, if it has one. */
  readonly to: Offset | undefined;
}

const askEveryMs = 2_000;

const atFirst: Pace = { hasCaughtUp: false };

const showEveryMs = 250;

/** The rate is that of the last two seconds. */
const samples = 9;

/** Shows how far a tail has come, as long as it is subscribed and there is a terminal. */
export function showProgress(ledger: Ledger, { progress, status, to }: Shown): Observable<unknown> {
  if (!status.isVisible) return EMPTY;
  const end$ = timer(0, askEveryMs).pipe(
    exhaustMap(() => ledger.ledgerEnd().pipe(catchError(() => of(undefined)))),
    startWith(undefined),
  );
  const pace$ = ledger.diagnostics$.pipe(scan(paceOf, atFirst), startWith(atFirst));
  return timer(showEveryMs, showEveryMs).pipe(
    map((): ProgressSample => ({ ...progress, at: Date.now() })),
    scan((recent: readonly ProgressSample[], sample) => [...recent, sample].slice(-samples), []),
    withLatestFrom(end$, pace$),
    tap(([recent, end, pace]) => {
      status.show((paint) => progressText(recent, { ...pace, end, to }, paint));
    }),
    finalize(() => {
      status.clear();
    }),
  );
}
