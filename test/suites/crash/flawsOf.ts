import type { Entry } from './world.js';

/** What has taken effect, by which start of the process. */
export interface Taken extends Entry {
  readonly life: number;
}

/** What is wrong with what should be the ledger: each update once and in order. A few of them, if there are many. */
export function flawsOfOnce(entries: readonly Entry[], taken: readonly Entry[]): readonly string[] {
  const flaws = Array.from({ length: Math.max(entries.length, taken.length) }, (_, index) => {
    const [expected, found] = [entries[index], taken[index]].map(shown);
    return expected === found ? [] : [`${index}: ${found ?? 'nothing'} instead of ${expected ?? 'nothing'}`];
  });
  return flaws.flat().slice(0, 5);
}

const shown = (entry: Entry | undefined): string | undefined =>
  entry && `${entry.offset} ${entry.updateId} ${entry.hash}`;

/** What was repeated. */
export interface Repeats {
  readonly total: number;
  /** By one start. */
  readonly most: number;
  /** How many starts repeated something. */
  readonly times: number;
  readonly flaws: readonly string[];
}

/**
 * What is wrong with what should be the ledger at least once: nothing missing, in order within each life, and each life
 * going on at most one commit back.
 */
export function flawsOfRepeated(entries: readonly Entry[], taken: readonly Taken[], commitEvery: number): Repeats {
  const places = new Map(entries.map((entry, index) => [shown(entry), index]));
  const flaws: string[] = [];
  const repeats = new Map<number, number>();
  let furthest = -1;
  let before = { life: 0, place: -1 };
  for (const entry of taken) {
    const place = places.get(shown(entry));
    const { life } = entry;
    if (place === undefined) flaws.push(`${shown(entry) ?? ''} is not on the ledger`);
    else {
      if (place > furthest + 1) flaws.push(`life ${life} skipped ${place - furthest - 1} before ${entry.offset}`);
      if (life === before.life && place !== before.place + 1) flaws.push(`life ${life}: out of order, ${entry.offset}`);
      if (life < before.life) flaws.push(`life ${life} went on after ${before.life}`);
      if (place <= furthest) repeats.set(life, (repeats.get(life) ?? 0) + 1);
      furthest = Math.max(furthest, place);
      before = { life, place };
    }
  }
  if (furthest + 1 !== entries.length) flaws.push(`${entries.length - furthest - 1} are missing at the end`);
  const counts = [...repeats.values()];
  const most = Math.max(0, ...counts);
  if (most > commitEvery) flaws.push(`a life repeated ${most}, a commit is ${commitEvery}`);
  return { total: counts.reduce((sum, count) => sum + count, 0), most, times: counts.length, flaws: flaws.slice(0, 5) };
}
