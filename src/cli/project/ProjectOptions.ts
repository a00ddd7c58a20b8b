import type { Party } from '../../codecs/scalars.js';
import type { ContractsFeedQuery } from '../../process/contractsFeed.js';
import { parseOptions, readInteger, UsageError } from '../arguments.js';
import { type Connection, connectionOptions, readConnection } from '../Connection.js';
import { queryOptions, readQuery } from '../contracts/ContractsOptions.js';
import type { World } from '../World.js';

/** The ledger, the contracts and the database. */
export interface ProjectOptions extends Connection {
  /** The URL of the database. May have a password: it is never printed. */
  readonly database: string;
  /** Whether other users of this machine can see a password of the URL, because it is an argument. */
  readonly isPasswordVisible: boolean;
  readonly schema: string;
  readonly query: ContractsFeedQuery & { readonly parties: readonly Party[] | 'any' };
  /** How long archived contracts are kept, in milliseconds. */
  readonly keepArchivedMs: number;
  /** The time between two lines of metrics, in milliseconds; 0 for none. */
  readonly logEveryMs: number;
}

/** The options in the arguments and the environment. Throws a {@link UsageError}. */
export function readProjectOptions(args: readonly string[], env: World['env']): ProjectOptions {
  const values = parseOptions(args, {
    ...connectionOptions,
    ...queryOptions,
    database: { type: 'string' },
    schema: { type: 'string' },
    exercises: { type: 'boolean' },
    'keep-archived': { type: 'string' },
    'log-every': { type: 'string' },
  });
  const days = values['keep-archived'];
  return {
    ...readConnection(values, env),
    ...readDatabase(values.database, env['CANTON_RX_DATABASE_URL']),
    schema: readSchema(values.schema),
    query: { ...readQuery(values), includeExercises: values.exercises ?? false },
    keepArchivedMs: days === undefined ? Infinity : readInteger('keep-archived', days, 0, 36_500) * 86_400_000,
    logEveryMs: readInteger('log-every', values['log-every'], 30, 86_400) * 1_000,
  };
}

/** The URL of a database. The messages do not repeat it: it may have a password. */
function readDatabase(
  argument: string | undefined,
  variable: string | undefined,
): Pick<ProjectOptions, 'database' | 'isPasswordVisible'> {
  const database = argument ?? variable;
  if (database === undefined || database === '')
    throw new UsageError('no database: use --database URL or set CANTON_RX_DATABASE_URL');
  const url = URL.canParse(database) ? new URL(database) : undefined;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:')
    throw new UsageError('--database must be a URL such as postgres://user@127.0.0.1:5432/database');
  return { database, isPasswordVisible: argument !== undefined && hasPassword(url) };
}

/** The package `pg` also takes a password as a parameter. */
const hasPassword = ({ password, searchParams }: URL): boolean =>
  password !== '' || (searchParams.get('password') ?? '') !== '';

function readSchema(schema = 'contracts'): string {
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new UsageError(`--schema must be lower-case letters, digits and underscores, got '${schema}'`);
  return schema;
}
