import { types } from 'node:util';
import {
  catchError,
  concat,
  concatMap,
  defer,
  finalize,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  switchMap,
  tap,
  throwError,
} from 'rxjs';
import { isLedgerError } from '../index.js';
import { type DatabaseTrouble, explainDatabaseError } from '../postgres/databaseErrors.js';
import { contractsProjection, type PostgresStoreOptions } from '../postgres/index.js';
import { isHeld } from '../postgres/leaseSql.js';
import { UsageError } from './arguments.js';
import type { databaseOptions, Values } from './options.js';
import { escapeText } from './terminal.js';
import { errorLine, hasCode, type World } from './World.js';

/** A database that cannot be used as it is. The message has no secret. */
export class DatabaseError extends Error {
  /** The class's name. */
  override readonly name = 'DatabaseError' as const;

  constructor(
    /** What it is about. */
    readonly label: 'database' | 'schema' | 'processor' | 'package pg',
    /** What is wrong, and the next step. */
    readonly trouble: DatabaseTrouble,
  ) {
    super(trouble.text);
  }
}

/** What is wrong with the database; `undefined` for an error of the ledger, which may have the same codes. */
export function databaseErrorOf(error: unknown, schema: string): DatabaseError | undefined {
  if (error instanceof DatabaseError) return error;
  if (isLedgerError(error) && !isLedgerError(error, 'StoreError', 'HandlerError')) return undefined;
  const trouble = explainDatabaseError(error, schema);
  return trouble && new DatabaseError('database', trouble);
}

/** The exit code for a database that cannot be used. */
export const databaseCode = 6;

/** Reports what is wrong with the database in one line, and emits the exit code. Any other error is passed on. */
export const reportDatabase = (schema: string, { stderr }: Pick<World, 'stderr'>): MonoTypeOperatorFunction<number> =>
  catchError((error: unknown) => {
    const problem = databaseErrorOf(error, schema);
    if (problem === undefined) throw error;
    const { text, next } = problem.trouble;
    stderr.write(errorLine(escapeText(next === undefined ? text : `${text}; ${next}`)));
    return of(problem.label === 'processor' ? 1 : databaseCode);
  });

/** The SQLSTATEs of a schema, a table and a function that do not exist. */
const missing = ['3F000', '42P01', '42883'];

/** Says what a schema lacks if a statement fails because a table or a function is missing. Any other error is passed on. */
export const explainMissing = <A>(text: string, next: string): MonoTypeOperatorFunction<A> =>
  catchError((error: unknown) => {
    if (!missing.some((code) => hasCode(error, code))) throw error;
    throw new DatabaseError('schema', { text, next: `check --database and --schema; ${next}` });
  });

/** The database and the schema of the arguments. The messages do not repeat the URL: it may have a password. */
export function readDatabase(values: Values<typeof databaseOptions>, env: World['env'], defaultSchema: string) {
  const { database = env['CANTON_RX_DATABASE_URL'] ?? '', schema = defaultSchema } = values;
  if (database === '') throw new UsageError('no database: use --database URL or set CANTON_RX_DATABASE_URL');
  const source = values.database === undefined ? 'CANTON_RX_DATABASE_URL' : '--database';
  const url = URL.canParse(database) ? new URL(database) : undefined;
  if (url?.protocol !== 'postgres:' && url?.protocol !== 'postgresql:')
    throw new UsageError(`${source} must be a URL such as postgres://user@127.0.0.1:5432/database`);
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema))
    throw new UsageError(`--schema must be lower-case letters, digits and underscores, got '${schema}'`);
  // the package pg also takes a password as a parameter
  const hasPassword = url.password !== '' || (url.searchParams.get('password') ?? '') !== '';
  return { database, schema, isPasswordVisible: values.database !== undefined && hasPassword };
}

/** Connections to a database. */
export type Pool = PostgresStoreOptions['pool'];

/** A connection of a pool of the package `pg`. */
interface Client {
  /** Lets the program end while the connection is open. The types of the package lack it. */
  readonly unref: () => void;
}

/** The part of the package `pg` that is used. */
interface PgModule {
  readonly default: { readonly Pool: new (config: object) => Pool };
}

/** How long a connection may take, in milliseconds. */
const connectTimeoutMs = 10_000;

/**
 * Works with a pool of connections, which is closed at the end. The package `pg` is optional, and is loaded here.
 *
 * @param load - imports the package
 */
export const withPool = <A>(
  url: string,
  work: (pool: Pool) => Observable<A>,
  load: () => Promise<PgModule> = () => import('pg'),
): Observable<A> =>
  defer(() =>
    load().catch((error: unknown) => {
      if (!hasCode(error, 'ERR_MODULE_NOT_FOUND')) throw error;
      throw new DatabaseError('package pg', missingPackage);
    }),
  ).pipe(
    switchMap(({ default: { Pool } }) => {
      const pool = new Pool({
        connectionString: url,
        connectionTimeoutMillis: connectTimeoutMs,
        application_name: 'canton-rx project',
        max: 4,
      });
      // an idle connection that breaks would end the program; the next query reports it
      pool.on('error', () => undefined);
      const clients = new Set<object>();
      pool.on('connect', (client) => {
        clients.add(client);
        // so would one that is in use, between two statements and in the middle of one; its statement reports it, too
        client.on('error', () => undefined);
      });
      pool.on('remove', (client) => clients.delete(client));
      return work(pool).pipe(
        finalize(() => {
          void pool.end();
          // a connection on which the database does not answer would keep the program alive
          for (const client of clients) (client as Client).unref();
        }),
      );
    }),
  );

const missingPackage: DatabaseTrouble = {
  text: 'not installed: it connects to PostgreSQL',
  next: 'npm install pg',
};

/** A pool, or one of its connections. */
export type Queryable = Pick<Pool, 'query'>;

/** Emits the rows of a statement. */
export const rowsOf = (
  db: Queryable,
  sql: string,
  values: readonly unknown[] = [],
): Observable<readonly Readonly<Record<string, unknown>>[]> =>
  defer(() => db.query<Record<string, unknown>>(sql, [...values])).pipe(map(({ rows }) => rows));

/** The versions of PostgreSQL before this one lack what the tables need. */
const minVersion = 120_000;

/** Checks that the database can be used, and creates or upgrades the schema. Completes then. */
export const prepareDatabase = (pool: Pool, schema: string): Observable<never> =>
  concat(
    rowOf(pool, "SELECT current_setting('server_version_num')::int AS version").pipe(
      tap(({ version }) => {
        if (Number(version) >= minVersion) return;
        const text = `PostgreSQL ${Math.floor(Number(version) / 10_000)} is too old`;
        throw new DatabaseError('database', { text, next: 'use PostgreSQL 12 or later' });
      }),
    ),
    // replaces no function: the user need not be their owner
    contractsProjection({ pool, schema, query: { parties: 'any' } })
      .prepare()
      .pipe(catchError((error: unknown) => throwError(() => versionError(error, schema)))),
    // the offset is in the same schema: a projection without it belongs to another program
    defer(() => rowOf(pool, `SELECT "${schema}".latest_offset() IS NOT NULL AS "isWritten"`)).pipe(
      concatMap(({ isWritten }) => (isWritten === true ? hasPlace(pool, schema) : of(true))),
      tap((isMine) => {
        if (!isMine) throw foreignWriter(schema);
      }),
    ),
  ).pipe(ignoreElements());

/** A later version of the tables is an error without a code. */
function versionError(error: unknown, schema: string): unknown {
  const version = types.isNativeError(error) ? /are of version (\d+)/.exec(error.message)?.[1] : undefined;
  if (version === undefined) return error;
  const text = `the schema ${schema} is of a later version of canton-rx (tables of version ${version})`;
  return new DatabaseError('schema', { text, next: 'update canton-rx, or choose another --schema' });
}

const foreignWriter = (schema: string): DatabaseError =>
  new DatabaseError('schema', {
    text: `another program has written the schema ${schema} and saves its offset elsewhere`,
    next: 'choose another schema with --schema',
  });

const hasPlace = (pool: Pool, schema: string): Observable<boolean> =>
  rowOf(pool, 'SELECT to_regclass($1) IS NOT NULL AS exists', [`"${schema}".canton_rx_cursors`]).pipe(
    concatMap(({ exists }) =>
      exists === true
        ? rowOf(pool, `SELECT count(*)::int AS count FROM "${schema}".canton_rx_cursors WHERE name = $1`, [
            processorName,
          ])
        : of({ count: 0 }),
    ),
    map(({ count }) => Number(count) > 0),
  );

/** The name of the processor in its schema. */
export const processorName = 'contracts';

/** SQL: the program of the connection `a` that holds a name. */
export const holderText = `format('%s%s%s', coalesce(nullif(a.application_name, ''), 'a program'),
  to_char(a.backend_start AT TIME ZONE 'UTC', '", connected since" YYYY-MM-DD HH24:MI "UTC"'), ' from ' || host(a.client_addr))`;

/** The process that holds the name of the processor; `undefined` if none does. */
export const holderOf = (pool: Pool, schema: string): Observable<string | undefined> =>
  rowOf(
    pool,
    `SELECT min(${holderText}) AS holder
    FROM "${schema}".canton_rx_leases l LEFT JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE l.name = $1 AND ${isHeld}`,
    [processorName],
  ).pipe(map(({ holder }) => (typeof holder === 'string' ? holder : undefined)));

const rowOf = (pool: Pool, sql: string, values?: readonly unknown[]): Observable<Readonly<Record<string, unknown>>> =>
  rowsOf(pool, sql, values).pipe(map(([row = {}]) => row));
