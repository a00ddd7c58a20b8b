import { catchError, exhaustMap, ignoreElements, type Observable, of, tap, timer } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { Ledger } from '../../ledger/Ledger.js';
import type { Pace, Sample } from '../progress.js';
import type { Paint } from '../terminal.js';
import { groupDigits } from '../text.js';

/** How far a tail has read. Only the functions of the tail change it. */
export interface TailProgress {
  /** The offset of the last update that was read, and printed unless left out; absent until the start offset is known. */
  cursor: Offset | undefined;
  /** How many updates were read. */
  count: number;
  /** The ledger end; absent until it is known, and while the service does not report it. */
  end: Offset | undefined;
}

/**
 * Formats the status line: `12 345 / 67 890  ·  1 200/s  ·  catching up`.
 *
 * @param to - the end of the range, if it has one
 */
export function formatTailProgress(
  samples: readonly Sample<TailProgress>[],
  pace: Pace,
  to: Offset | undefined,
  paint: Paint,
): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const { cursor, end } = last ?? {};
  const rate = first === undefined || last === undefined ? undefined : updatesPerSecond(first, last);
  const target = end === undefined ? undefined : Math.max(cursor ?? 0, Math.min(end, to ?? end));
  const position = `${groupDigits(cursor)} / ${groupDigits(target)}`;
  const state = stateOf(pace, rate, cursor);
  return [position, paint('dim', `${groupDigits(rate)}/s`), paint(state.colour, state.name)].join('  ·  ');
}

/** `undefined` before there are two samples. */
function updatesPerSecond(first: Sample<TailProgress>, last: Sample<TailProgress>): number | undefined {
  const seconds = (last.at - first.at) / 1_000;
  return seconds > 0 ? Math.round((last.count - first.count) / seconds) : undefined;
}

function stateOf({ hasCaughtUp, isPushed, trouble }: Pace, rate: number | undefined, cursor: Offset | undefined) {
  if (trouble !== undefined) return { name: `retrying: ${trouble}`, colour: 'red' } as const;
  if (cursor === undefined) return { name: 'connecting', colour: 'dim' } as const;
  if (hasCaughtUp)
    return { name: isPushed === true ? 'caught up, by WebSocket' : 'caught up', colour: 'green' } as const;
  // a rate of 0: no update up to the end matches, or the ledger is slow
  return rate === 0
    ? ({ name: 'waiting', colour: 'dim' } as const)
    : ({ name: 'catching up', colour: 'yellow' } as const);
}

const pollIntervalMs = 2_000;

/** Keeps the ledger end in the progress up to date while subscribed. */
export const trackLedgerEnd = (ledger: Pick<Ledger, 'ledgerEnd'>, progress: TailProgress): Observable<never> =>
  timer(0, pollIntervalMs).pipe(
    exhaustMap(() => ledger.ledgerEnd().pipe(catchError(() => of(undefined)))),
    tap((end) => {
      progress.end = end;
    }),
    ignoreElements(),
  );
