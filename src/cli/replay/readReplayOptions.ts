import { connectionOptions } from '../arguments/connectionOptions.js';
import { parsed } from '../arguments/parsed.js';
import { readConnection } from '../arguments/readConnection.js';
import { readSelection } from '../arguments/readSelection.js';
import { readWhole } from '../arguments/readWhole.js';
import { selectionOptions } from '../arguments/selectionOptions.js';
import { UsageError } from '../arguments/UsageError.js';
import type { World } from '../World.js';
import type { ReplayOptions } from './ReplayOptions.js';

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
