import { types } from 'node:util';
import { catchError, concat, concatMap, defer, ignoreElements, map, type Observable, of, tap, throwError } from 'rxjs';
import { migrateProjection } from '../../postgres/index.js';
import { DatabaseError, isLockOf, type Pool, rowsOf } from '../database.js';

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
    migrateProjection({ pool, schema }).pipe(
      catchError((error: unknown) => throwError(() => versionError(error, schema))),
    ),
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

/** The process that holds the name of the processor; `undefined` if none does. */
export const holderOf = (pool: Pool, schema: string): Observable<string | undefined> =>
  rowOf(
    pool,
    `SELECT min(format('%s, connected since %s UTC%s', coalesce(nullif(a.application_name, ''), 'a program'),
      to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), ' from ' || host(a.client_addr))) AS holder
    FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
    WHERE ${isLockOf('$1')}`,
    [`${schema}.canton_rx_cursors ${processorName}`],
  ).pipe(map(({ holder }) => (typeof holder === 'string' ? holder : undefined)));

const rowOf = (pool: Pool, sql: string, values?: readonly unknown[]): Observable<Readonly<Record<string, unknown>>> =>
  rowsOf(pool, sql, values).pipe(map(([row = {}]) => row));
