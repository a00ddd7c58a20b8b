import type { Offset } from '../../codecs/Offset.js';
import { grouped } from '../text/grouped.js';
import type { Paint } from '../text/Paint.js';
import type { Pace } from './paceOf.js';
import type { Progress } from './Progress.js';

/** How far a tail had come at a time. */
export interface ProgressSample extends Progress {
  readonly at: number;
}

/** Where it is to go, and how it gets on. */
export interface Going extends Pace {
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

function rateOf(first: ProgressSample, last: ProgressSample): number {
  const seconds = (last.at - first.at) / 1_000;
  return seconds > 0 ? Math.round((last.count - first.count) / seconds) : 0;
}
