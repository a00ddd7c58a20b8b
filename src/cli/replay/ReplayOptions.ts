import type { Offset } from '../../codecs/scalars.js';
import {
  type Connection,
  connectionOptions,
  parsed,
  readConnection,
  readSelection,
  readWhole,
  type Selection,
  selectionOptions,
  UsageError,
} from '../arguments.js';
import type { World } from '../World.js';

/** Which range of which ledger, and into which file. */
export interface ReplayOptions extends Connection, Selection {
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive; `'end'` for where the ledger ends when the file is begun. */
  readonly to: Offset | 'end';
  /** The path of the file. */
  readonly out: string;
}

/** What the arguments and the environment ask for; `'help'`, if that. Throws a {@link UsageError}. */
export function readReplayOptions(args: readonly string[], env: World['env']): ReplayOptions | 'help' {
  const values = parsed(args, {
    ...connectionOptions,
    ...selectionOptions,
    from: { type: 'string' },
    to: { type: 'string' },
    out: { type: 'string', short: 'o' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  const from = readWhole('from', values.from, 0);
  const to = values.to === undefined || values.to === 'end' ? 'end' : readWhole('to', values.to, 0);
  if (to !== 'end' && to < from) throw new UsageError(`--to ${to} lies before --from ${from}`);
  const { out } = values;
  if (out === undefined || out === '') throw new UsageError('no file: give --out FILE');
  const selection = readSelection(values);
  // they tell how a reading went, and another reading has others
  if (selection.variants.includes('OffsetCheckpoint')) throw new UsageError('a file has no OffsetCheckpoint in it');
  return { ...readConnection(values, env), ...selection, from, to, out };
}

/** What a selection asks for, as text: the same for the same, in whatever order it was given. */
export const selectionText = ({ format, variants, synchronizers }: Selection): string =>
  JSON.stringify({ format: sorted(format), variants: [...variants].sort(), synchronizers: [...synchronizers].sort() });

/** Objects with their keys, and lists, in order: all lists of a format are sets. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .map(sorted)
      .map((element) => ({ element, text: JSON.stringify(element) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ element }) => element);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, content]) => [key, sorted(content)]),
  );
}
