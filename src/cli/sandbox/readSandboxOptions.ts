import { parsed } from '../arguments/parsed.js';
import { readOneOf } from '../arguments/readOneOf.js';
import { readWhole } from '../arguments/readWhole.js';
import type { SandboxCommandOptions } from './SandboxCommandOptions.js';

/** What the arguments ask for; `'help'`, if that. Throws a `UsageError`. */
export function readSandboxOptions(args: readonly string[]): SandboxCommandOptions | 'help' {
  const values = parsed(args, {
    port: { type: 'string' },
    profile: { type: 'string' },
    updates: { type: 'string' },
    rate: { type: 'string' },
    seed: { type: 'string' },
    cors: { type: 'boolean' },
    help: { type: 'boolean', short: 'h' },
  });
  if (values.help === true) return 'help';
  return {
    port: readWhole('port', values.port, 7575, 65_535),
    profile: readOneOf('profile', values.profile ?? '3.5', ['3.4', '3.5', '3.6']),
    // all of it is kept in memory
    updates: readWhole('updates', values.updates, 0, 10_000_000),
    rate: readWhole('rate', values.rate, 0, 100_000),
    seed: readWhole('seed', values.seed, 1),
    cors: values.cors ?? false,
  };
}
