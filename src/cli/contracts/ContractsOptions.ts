import * as t from 'io-ts';
import { contractType, type ContractType } from '../../codecs/ContractType.js';
import type { Offset } from '../../codecs/scalars.js';
import type { ContractQuery } from '../../contracts/ContractQuery.js';
import { parseOptions, readInteger, UsageError, type Values } from '../arguments.js';
import { type Connection, connectionOptions, readConnection } from '../Connection.js';
import { readParties, readTemplates } from '../Selection.js';
import type { World } from '../World.js';

/** The ledger, the contracts and their form. */
export interface ContractsOptions extends Connection {
  readonly query: ContractQuery;
  /** The offset of the snapshot; absent for the ledger end. */
  readonly at: Offset | undefined;
  /** Whether to print changes after the snapshot, without an end. */
  readonly isFollowed: boolean;
  /** Whether to read over a WebSocket. */
  readonly isPushed: boolean;
  /** Whether to print rows for people rather than JSON for programs. */
  readonly isPretty: boolean;
}

/** The options of every command that reads contracts. */
export const queryOptions = {
  party: { type: 'string', multiple: true },
  template: { type: 'string', multiple: true },
} as const;

/** The options in the arguments and the environment. Throws a {@link UsageError}. */
export function readContractsOptions(args: readonly string[], { env, stdout }: World): ContractsOptions {
  const values = parseOptions(args, {
    ...connectionOptions,
    ...queryOptions,
    at: { type: 'string' },
    follow: { type: 'boolean', short: 'f' },
    json: { type: 'boolean' },
    pretty: { type: 'boolean' },
    websocket: { type: 'boolean' },
  });
  const { follow = false, json = false, pretty = false, websocket = false } = values;
  const at = values.at === undefined ? undefined : readInteger('at', values.at, 0);
  if (at !== undefined && follow)
    throw new UsageError(
      '--follow starts at the ledger end and excludes --at: use tail --from for what happened since',
    );
  if (json && pretty) throw new UsageError('--json and --pretty exclude each other');
  return {
    ...readConnection(values, env),
    query: readQuery(values),
    at,
    isFollowed: follow,
    isPushed: websocket,
    isPretty: pretty || (!json && stdout.isTTY === true),
  };
}

/** The templates of a query of the arguments. */
export const templatesOf = ({ types = {} }: ContractQuery): readonly string[] => Object.keys(types);

/** The contracts that the arguments select. The types of the query have the names of `--template`. Throws a {@link UsageError}. */
export function readQuery(values: Values<typeof queryOptions>): ContractQuery {
  const templates = readTemplates(values.template);
  const types = templates.map((id): readonly [string, ContractType] => [id, contractType(id, t.unknown)]);
  return { parties: readParties(values.party), ...(types.length > 0 && { types: Object.fromEntries(types) }) };
}
