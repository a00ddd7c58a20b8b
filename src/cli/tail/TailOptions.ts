import type { Offset } from '../../codecs/scalars.js';
import { parseOptions, readInteger, UsageError } from '../arguments.js';
import { type Connection, connectionOptions, readConnection } from '../Connection.js';
import { readSelection, type Selection, selectionOptions } from '../Selection.js';
import type { World } from '../World.js';

/** The ledger, the updates and their form. */
export interface TailOptions extends Connection, Selection {
  /** Exclusive; `'end'` for new updates only. */
  readonly from: Offset | 'end';
  /** Inclusive; absent for a feed without an end. */
  readonly to: Offset | undefined;
  /** Whether the ledger pushes new updates. */
  readonly isPushed: boolean;
  /** Whether to print rows for people rather than JSON for programs. */
  readonly isPretty: boolean;
}

/** The options in the arguments and the environment. Throws a {@link UsageError}. */
export function readTailOptions(args: readonly string[], { env, stdout }: World): TailOptions {
  const values = parseOptions(args, {
    ...connectionOptions,
    ...selectionOptions,
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
    pretty: { type: 'boolean' },
    websocket: { type: 'boolean' },
  });
  const from = values.from === 'end' ? 'end' : readInteger('from', values.from, 0);
  const to = values.to === undefined ? undefined : readInteger('to', values.to, 0);
  if (to !== undefined && from !== 'end' && to < from) throw new UsageError(`--to ${to} is before --from ${from}`);
  const { json = false, pretty = false, websocket = false } = values;
  if (json && pretty) throw new UsageError('--json and --pretty exclude each other');
  if (websocket && to !== undefined) throw new UsageError('--websocket excludes --to');
  const selection = readSelection(values);
  return {
    ...readConnection(values, env),
    ...selection,
    from,
    to,
    isPushed: websocket,
    isPretty: pretty || (!json && stdout.isTTY === true),
  };
}
