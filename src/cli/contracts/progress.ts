import type { Offset } from '../../codecs/scalars.js';
import type { Pace, Sample } from '../progress.js';
import type { Paint } from '../terminal.js';
import { groupDigits } from '../text.js';
import { shortType } from './rows.js';

/** How far the contracts are printed. Only the functions that print change it. */
export interface ContractsProgress {
  state: 'reading' | 'printing' | 'following' | 'live';
  /** How many entries of the snapshot were received. */
  read: number;
  /** The offset up to which everything is printed; absent before all contracts are, also when they are printed again. */
  offset: Offset | undefined;
  /** How many contracts are active, if they are followed. */
  active: number;
  /** How many contracts of each type the snapshot has. */
  readonly types: Map<string, { readonly count: number; readonly inFlight: number }>;
}

/** The progress at the beginning. */
export const startProgress = (): ContractsProgress => ({
  state: 'reading',
  read: 0,
  offset: undefined,
  active: 0,
  types: new Map(),
});

/** Formats the status line: `reading: 12 500  ·  25 000/s`, and then `1 234 contracts  ·  offset 1471  ·  live`. */
export function formatContractsProgress(
  samples: readonly Sample<ContractsProgress>[],
  { trouble }: Pace,
  paint: Paint,
): string {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return '';
  const retrying = trouble === undefined ? [] : [paint('red', `retrying: ${trouble}`)];
  if (last.offset === undefined) {
    const seconds = (last.at - first.at) / 1_000;
    const rate = seconds > 0 ? Math.round((last.read - first.read) / seconds) : undefined;
    return [`reading: ${groupDigits(last.read)}`, paint('dim', `${groupDigits(rate)}/s`), ...retrying].join('  ·  ');
  }
  const state = last.state === 'live' ? paint('green', 'live') : paint('yellow', 'catching up');
  const position = `${countText(last.active)}  ·  offset ${offsetText(last.offset)}`;
  return [position, ...(retrying.length > 0 ? retrying : [state])].join('  ·  ');
}

/** Without groups of digits: users copy it into `--at` and `--from`. */
const offsetText = (offset: Offset | undefined): string => (offset === undefined ? '–' : String(offset));

const countText = (count: number): string => {
  if (count === 0) return 'no contracts';
  return count === 1 ? '1 contract' : `${groupDigits(count)} contracts`;
};

/** How many types the summary names. */
const maxNamed = 4;

/** The summary of a snapshot: `5 contracts at offset 1471: sandbox-assets:Asset 3, sandbox-tasks:Task 2`. */
export function summaryOf({ types, offset }: ContractsProgress): string {
  const all = [...types].sort(([, a], [, b]) => b.count - a.count);
  const sum = (of: 'count' | 'inFlight'): number => all.reduce((total, [, counts]) => total + counts[of], 0);
  const named = all.slice(0, maxNamed).map(([type, { count }]) => `${shortType(type)} ${groupDigits(count)}`);
  const others = all.length - named.length;
  const parts = [...named, ...(others > 0 ? [`${others} other types`] : [])].join(', ');
  const inFlight = sum('inFlight') > 0 ? `, ${groupDigits(sum('inFlight'))} in flight` : '';
  return `${countText(sum('count'))}${inFlight} at offset ${offsetText(offset)}${parts === '' ? '' : `: ${parts}`}`;
}
/** The summary of contracts that were followed. */
export const followedSummary = ({ active, offset }: ContractsProgress): string =>
  `${countText(active)} at offset ${offsetText(offset)}`;
