import { readFile } from 'node:fs/promises';
import type { Entry } from './world.js';

/** An update that took effect, and the start of the process that handled it. */
export interface Taken extends Entry {
  readonly life: number;
}

/** Where updates differ from the ledger, each of them once and in order. At most five differences. */
export function findFlaws(entries: readonly Entry[], taken: readonly Entry[]): readonly string[] {
  const flaws = Array.from({ length: Math.max(entries.length, taken.length) }, (_, index) => {
    const [expected, found] = [entries[index], taken[index]].map(describe);
    return expected === found ? [] : [`${index}: ${found ?? 'nothing'} instead of ${expected ?? 'nothing'}`];
  });
  return flaws.flat().slice(0, 5);
}

const describe = (entry: Entry | undefined): string | undefined =>
  entry && `${entry.offset} ${entry.updateId} ${entry.hash}`;

/** How much was repeated. */
export interface Repeats {
  readonly total: number;
  /** By a single start. */
  readonly most: number;
  /** How many starts repeated something. */
  readonly times: number;
  readonly flaws: readonly string[];
}

/**
 * Where updates differ from the ledger at least once: none may be missing, each start of the process handles them in order,
 * and resumes at most one commit before its predecessor's end.
 */
export function findFlawsWithRepeats(entries: readonly Entry[], taken: readonly Taken[], commitEvery: number): Repeats {
  const places = new Map(entries.map((entry, index) => [describe(entry), index]));
  const flaws: string[] = [];
  const repeats = new Map<number, number>();
  let furthest = -1;
  let before = { life: 0, place: -1 };
  for (const entry of taken) {
    const place = places.get(describe(entry));
    const { life } = entry;
    if (place === undefined) flaws.push(`${describe(entry) ?? ''} is not on the ledger`);
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

/** The notes of all handlers, in order. A note that a kill cut had no effect. */
export async function readNotes(file: string): Promise<readonly Taken[]> {
  const notes = (await readFile(file, 'utf8')).split('\n').filter((line) => line.endsWith(' .'));
  return notes.map((line) => {
    const [life, offset, updateId = '', hash = ''] = line.split(' ');
    return { life: Number(life), offset: Number(offset), updateId, hash };
  });
}
