import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import * as t from 'io-ts';
import { suggest, UsageError } from './arguments.js';
import { hasCode, systemReason, type World } from './World.js';

/** A ledger that has a name in the file of contexts. Its token is in another file. */
export interface Context {
  readonly ledger: string;
  /** The path of the file with the token; absent if none is sent. */
  readonly tokenFile: string | undefined;
  /** The parties of commands without `--party`. */
  readonly parties: readonly string[] | undefined;
}

/** Codec of the file: `{ "contexts": { "NAME": { "ledger": "https://…", "tokenFile": "…", "parties": ["…"] } } }`. */
const Contexts = t.type({
  contexts: t.record(
    t.string,
    t.exact(
      t.intersection([t.type({ ledger: t.string }), t.partial({ tokenFile: t.string, parties: t.array(t.string) })]),
    ),
  ),
});

/** The file of contexts: that of `CANTON_RX_CONFIG`, or one in the folder for configuration. */
const contextsPath = (env: World['env']): string =>
  env['CANTON_RX_CONFIG'] ??
  join(env['XDG_CONFIG_HOME'] ?? join(env['HOME'] ?? homedir(), '.config'), 'canton-rx', 'config.json');

/** The context of a name. Paths in the file are relative to its folder. Throws a {@link UsageError}. */
export function readContext(name: string, env: World['env']): Context {
  const path = contextsPath(env);
  const { contexts } = readContexts(path);
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (context === undefined) {
    const names = Object.keys(contexts);
    const similar = suggest(name, names);
    const advice = similar === undefined ? `use one of ${names.join(', ')}` : `did you mean ${similar}?`;
    throw new UsageError(`${path} has no context '${name}': ${advice}`);
  }
  const { ledger, tokenFile, parties } = context;
  return { ledger, tokenFile: tokenFile === undefined ? undefined : resolve(dirname(path), tokenFile), parties };
}

function readContexts(path: string): t.TypeOf<typeof Contexts> {
  const form = '{ "contexts": { "NAME": { "ledger": "URL", "tokenFile": "FILE", "parties": ["ID"] } } }';
  try {
    const decoded = Contexts.decode(JSON.parse(readFileSync(path, 'utf8')));
    if (decoded._tag === 'Right') return decoded.right;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) throw new UsageError(`--context requires the file ${path}: ${form}`);
    const reason = systemReason(error);
    if (reason !== undefined) throw new UsageError(`cannot read ${path}: ${reason}`);
  }
  throw new UsageError(`${path} must be JSON: ${form}`);
}
