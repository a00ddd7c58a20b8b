import type { Offset } from '../../codecs/scalars.js';
import type { Pace, Sample } from '../progress.js';
import type { Paint } from '../terminal.js';
import { groupDigits } from '../text.js';

/** How far a replay has read. Only the function that writes the file changes it. */
export interface ReplayProgress {
  /** The offset of the last update that was read, and written unless left out. */
  cursor: Offset;
  /** How many updates the file has, including those that wait to be written. */
  updates: number;
}

/** The range of a replay. */
interface Span {
  readonly from: Offset;
  readonly to: Offset;
}

const cells = 20;

/** Formats the status line: `██████████░░░░░░░░░░  50%  30 517 / 61 034  ·  1 200/s  ·  0:25 left`. */
export function formatReplayProgress(
  samples: readonly Sample<Readonly<ReplayProgress>>[],
  { from, to }: Span,
  pace: Pace,
  paint: Paint,
): string {
  const [first, last] = [samples[0], samples.at(-1)];
  const cursor = last?.cursor ?? from;
  const share = to > from ? Math.min(1, (cursor - from) / (to - from)) : 1;
  // rounded down: not full before the end
  const full = Math.floor(share * cells);
  const bar = `${paint('green', '█'.repeat(full))}${paint('dim', '░'.repeat(cells - full))}`;
  const seconds = first === undefined || last === undefined ? 0 : (last.at - first.at) / 1_000;
  const rateOf = (name: 'cursor' | 'updates'): number =>
    seconds > 0 ? ((last?.[name] ?? 0) - (first?.[name] ?? 0)) / seconds : 0;
  const position = `${String(Math.floor(share * 100)).padStart(3)}%  ${groupDigits(cursor)} / ${groupDigits(to)}`;
  const speed = paint('dim', `${groupDigits(Math.round(rateOf('updates')))}/s`);
  return `${bar} ${[position, speed, stateText(pace, (to - cursor) / rateOf('cursor'), paint)].join('  ·  ')}`;
}

function stateText({ trouble, hasCaughtUp }: Pace, secondsLeft: number, paint: Paint): string {
  if (trouble !== undefined) return paint('red', `retrying: ${trouble}`);
  if (hasCaughtUp) return paint('dim', 'waiting for new updates');
  return Number.isFinite(secondsLeft) ? `${toClock(Math.ceil(secondsLeft))} left` : paint('dim', 'connecting');
}

/** `0:05`, `12:34`, `1:02:03`. */
function toClock(seconds: number): string {
  const twoDigits = (number: number): string => String(number).padStart(2, '0');
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return hours > 0
    ? `${hours}:${twoDigits(minutes)}:${twoDigits(seconds % 60)}`
    : `${minutes}:${twoDigits(seconds % 60)}`;
}
