import { styleText } from 'node:util';
import type { Offset } from '../../codecs/Offset.js';
import type { Progress } from './Progress.js';

/** How far a tail had come at a time. */
export interface ProgressSample extends Progress {
  readonly at: number;
}

/** The ledger end: not known yet, or not told by the service. */
export type End = Offset | 'unknown' | undefined;

/** What the status line says: `12 345 / 67 890  ·  1 200/s  ·  catching up`, plain and with colours. */
export function progressText(recent: readonly ProgressSample[], end: End, to: Offset | undefined) {
  const [first, last] = [recent[0], recent.at(-1)];
  const cursor = last?.cursor;
  const rate = first === undefined || last === undefined ? 0 : rateOf(first, last);
  const target = typeof end === 'number' ? Math.max(cursor ?? 0, Math.min(end, to ?? end)) : undefined;
  const place = `${grouped(cursor)} / ${grouped(target)}`;
  const speed = `${grouped(rate)}/s`;
  const state = stateOf(cursor, rate, end, target);
  return {
    text: [place, speed, state.name].join('  ·  '),
    // the caller has made sure of the terminal
    styled: [place, styleText('dim', speed, always), styleText(state.colour, state.name, always)].join('  ·  '),
  };
}

const always = { validateStream: false };

function stateOf(cursor: Offset | undefined, rate: number, end: End, target: Offset | undefined) {
  if (end === undefined || cursor === undefined) return { name: 'asking', colour: 'dim' } as const;
  if (end === 'unknown') return { name: 'the ledger end is not known', colour: 'red' } as const;
  if (target !== undefined && cursor >= target) return { name: 'caught up', colour: 'green' } as const;
  // nothing that is asked for between here and the end, or a ledger that takes its time
  return rate > 0
    ? ({ name: 'catching up', colour: 'yellow' } as const)
    : ({ name: 'waiting', colour: 'dim' } as const);
}

function rateOf(first: ProgressSample, last: ProgressSample): number {
  const seconds = (last.at - first.at) / 1_000;
  return seconds > 0 ? Math.round((last.count - first.count) / seconds) : 0;
}

const grouped = (number: number | undefined): string =>
  number === undefined ? '…' : number.toLocaleString('en').replaceAll(',', ' ');
