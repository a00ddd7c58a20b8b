import type { PoolClient } from 'pg';
import { concat, concatMap, EMPTY, endWith, ignoreElements, type Observable } from 'rxjs';
import { mapError } from '../http/retry.js';
import { randomUuid } from '../submission/Run.js';
import { query } from './connection.js';
import { DatabaseError } from './databaseErrors.js';

/**
 * Proves that a transaction is kept on one connection, and emits whether the session is the connection's own: a pooler gives its
 * clients another process ID than that of the server process.
 */
export const checkSession = (client: PoolClient, timeoutMs: number): Observable<boolean> => {
  const probe = randomUuid();
  const run = (sql: string, values: readonly unknown[] = []) => query(client, timeoutMs, sql, values);
  const check = `SELECT current_setting('canton_rx.probe', true) = $1 AS "isKept", pg_backend_pid() = $2 AS "isDirect",
    current_setting('transaction_read_only')::boolean AND NOT pg_is_in_recovery() AS "isReadOnly"`;
  return run('BEGIN').pipe(
    concatMap(() => run(`SELECT set_config('canton_rx.probe', $1, true)`, [probe])),
    concatMap(() => run(check, [probe, processIdOf(client)])),
    concatMap(([row]) => {
      if (row?.['isKept'] !== true) throw splitTransactions();
      if (row['isReadOnly'] === true)
        throw new DatabaseError(
          'the transactions of the user are read-only',
          'check default_transaction_read_only of the user and the database (ALTER ROLE … RESET default_transaction_read_only)',
        );
      const isDirect = row['isDirect'] === true;
      return concat(run('ROLLBACK'), isDirect ? run(keepAliveSettings) : EMPTY).pipe(
        ignoreElements(),
        endWith(isDirect),
      );
    }),
    mapError((error) => (isStatementPooling(error) ? splitTransactions() : error)),
  );
};

/** The process ID that the server, or a pooler, has announced. The types of the package lack it. */
export const processIdOf = (client: PoolClient & { readonly processID?: unknown }): number =>
  typeof client.processID === 'number' ? client.processID : -1;

const isStatementPooling = (error: unknown): boolean =>
  error instanceof Error && /statement pooling/i.test(error.message);

const splitTransactions = (): DatabaseError =>
  new DatabaseError(
    'the connection pooler does not keep a transaction on one connection',
    'let it pool by session or by transaction (PgBouncer: pool_mode = transaction), or connect to the database itself',
  );

/**
 * A machine that fails does not close its connections. With these settings the database notices that within half a minute instead
 * of hours, also while it sends a result or waits (since version 14), and releases the locks of its transaction. The values are
 * in seconds, the last two in milliseconds.
 */
const keepAliveSettings = `SELECT set_config(wanted.name, wanted.value, false)
  FROM (VALUES ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
    ('tcp_user_timeout', '20000'), ('client_connection_check_interval', '5000')) AS wanted (name, value)
  JOIN pg_settings USING (name)`;
