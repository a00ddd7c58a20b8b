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

/** What to print of which ledger. */
export interface TailOptions extends Connection, Selection {
  /** Exclusive; `'end'` for only what is new. */
  readonly from: Offset | 'end';
  /** Inclusive; absent for a feed that does not end. */
  readonly to: Offset | undefined;
  /** Whether the ledger is to push what is new. */
  readonly isPushed: boolean;
  /** Whether people read it, a row each, or programs, one JSON object a line. */
  readonly isPretty: boolean;
}

/** What the arguments and the environment ask for; `'help'`, if that. Throws a {@link UsageError}. */
export function readTailOptions(args: readonly string[], { env, stdout }: World): TailOptions | 'help' {
  const values = parsed(args, {
    ...connectionOptions,
    ...selectionOptions,
    from: { type: 'string' },
    to: { type: 'string' },
    json: { type: 'boolean' },
    pretty: { type: 'boolean' },
    websocket: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  const from = values.from === 'end' ? 'end' : readWhole('from', values.from, 0);
  const to = values.to === undefined ? undefined : readWhole('to', values.to, 0);
  if (to !== undefined && from !== 'end' && to < from) throw new UsageError(`--to ${to} lies before --from ${from}`);
  const { json = false, pretty = false, websocket = false } = values;
  if (json && pretty) throw new UsageError('--json and --pretty are two forms: choose one');
  if (websocket && to !== undefined) throw new UsageError('--websocket is for what is to come: leave out --to');
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
