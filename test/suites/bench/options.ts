import { parseArgs } from 'node:util';
import type { Effort, Line } from './Line.js';

/** What the command was asked to do. */
export interface Options {
  readonly lines: readonly Line[];
  readonly effort: Effort;
  readonly out: string;
}

/** Reads the command's arguments: the names of lines, `--quick`, `--sets N`, `--out FILE`. */
export function optionsOf(args: readonly string[], known: readonly Line[], out: string): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { quick: { type: 'boolean' }, sets: { type: 'string' }, out: { type: 'string' } },
  });
  const strangers = positionals.filter((name) => !known.some(({ id }) => id === name));
  if (strangers.length > 0)
    throw new Error(`no such line: ${strangers.join(', ')}; there are ${known.map(({ id }) => id).join(', ')}`);
  const isQuick = values.quick === true;
  const lines = known.filter(({ id, isOnDemand = false }) =>
    positionals.length === 0 ? !isOnDemand : positionals.includes(id),
  );
  const sets = Number(values.sets ?? (isQuick ? 2 : 5));
  return { lines, effort: { sets, scale: isQuick ? 0.5 : 1 }, out: values.out ?? out };
}
