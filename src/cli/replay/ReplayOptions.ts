import type { Offset } from '../../codecs/scalars.js';
import { parseOptions, readInteger, UsageError } from '../arguments.js';
import { type Connection, connectionOptions, readConnection } from '../Connection.js';
import { readSelection, type Selection, selectionOptions } from '../Selection.js';
import type { World } from '../World.js';

/** The ledger, the updates and the file. */
export interface ReplayOptions extends Connection, Selection {
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive; `'end'` for the ledger end when the file is started. */
  readonly to: Offset | 'end';
  /** The path of the file. */
  readonly out: string;
}

/** The options in the arguments and the environment. Throws a {@link UsageError}. */
export function readReplayOptions(args: readonly string[], env: World['env']): ReplayOptions {
  const values = parseOptions(args, {
    ...connectionOptions,
    ...selectionOptions,
    from: { type: 'string' },
    to: { type: 'string' },
    out: { type: 'string', short: 'o' },
  });
  const from = readInteger('from', values.from, 0);
  const to = values.to === undefined || values.to === 'end' ? 'end' : readInteger('to', values.to, 0);
  if (to !== 'end' && to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  const { out } = values;
  if (out === undefined || out === '') throw new UsageError('no file: use --out FILE');
  const selection = readSelection(values);
  // checkpoints depend on when they are read, so that resuming would not lead to the same file
  if (selection.variants.includes('OffsetCheckpoint'))
    throw new UsageError('--variant OffsetCheckpoint: replay leaves checkpoints out');
  return { ...readConnection(values, env), ...selection, from, to, out };
}

/** A selection as text: equal texts for equal selections, in whatever order the options were given. */
export const selectionText = ({ format, variants, synchronizers }: Selection): string =>
  JSON.stringify({
    format: sortDeep(format),
    variants: [...variants].sort(),
    synchronizers: [...synchronizers].sort(),
  });

/** Sorts keys and lists: all lists of a format are sets. */
function sortDeep(value: unknown): unknown {
  if (Array.isArray(value))
    return value
      .map(sortDeep)
      .map((element) => ({ element, text: JSON.stringify(element) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1))
      .map(({ element }) => element);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, content]) => [key, sortDeep(content)]),
  );
}
