import type { Offset } from '../../codecs/Offset.js';
import type { Pace } from '../tail/paceOf.js';
import { grouped } from '../text/grouped.js';
import type { Paint } from '../text/Paint.js';
import type { ReplayProgress } from './ReplayProgress.js';

/** How far a replay had come at a time. */
export interface ReplaySample extends Readonly<ReplayProgress> {
  readonly at: number;
}

/** The range. */
export interface Span {
  readonly from: Offset;
  readonly to: Offset;
}

const cells = 20;

/** `██████████░░░░░░░░░░  50%  30 517 / 61 034  ·  1 200/s  ·  0:25 left`. */
export function replayText(samples: readonly ReplaySample[], { from, to }: Span, pace: Pace, paint: Paint): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const cursor = last?.cursor ?? from;
  const share = to > from ? Math.min(1, (cursor - from) / (to - from)) : 1;
  // never full before it is
  const full = Math.floor(share * cells);
  const bar = `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(cells - full))}`;
  const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1_000;
  const rateOf = (of: 'cursor' | 'updates'): number =>
    seconds > 0 ? ((last?.[of] ?? 0) - (first?.[of] ?? 0)) / seconds : 0;
  const place = `${String(Math.floor(share * 100)).padStart(3)}%  ${grouped(cursor)} / ${grouped(to)}`;
  const speed = paint('dim', `${grouped(Math.round(rateOf('updates')))}/s`);
  return `${bar} ${[place, speed, stateOf(pace, (to - cursor) / rateOf('cursor'), paint)].join('  ·  ')}`;
}

function stateOf({ trouble, hasCaughtUp }: Pace, secondsLeft: number, paint: Paint): string {
  if (trouble !== undefined) return paint('red', `trying again: ${trouble}`);
  if (hasCaughtUp) return paint('dim', 'waiting for the ledger to come so far');
  return Number.isFinite(secondsLeft) ? `${clockOf(Math.ceil(secondsLeft))} left` : paint('dim', 'asking');
}

/** `0:05`, `12:34`, `1:02:03`. */
function clockOf(seconds: number): string {
  const two = (number: number): string => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}
