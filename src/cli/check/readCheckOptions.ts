import { connectionOptions } from '../arguments/connectionOptions.js';
import { parsed } from '../arguments/parsed.js';
import { readConnection } from '../arguments/readConnection.js';
import { readParties } from '../arguments/readParties.js';
import type { World } from '../World.js';
import type { CheckOptions } from './CheckOptions.js';

/** What the arguments and the environment ask for; `'help'`, if that. Throws a `UsageError`. */
export function readCheckOptions(args: readonly string[], env: World['env']): CheckOptions | 'help' {
  const values = parsed(args, {
    ...connectionOptions,
    party: { type: 'string', multiple: true },
    json: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  return { ...readConnection(values, env), parties: readParties(values.party), isJson: values.json ?? false };
}
