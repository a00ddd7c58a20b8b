import type { Pool, QueryResultRow } from 'pg';
import { type Observable, timeout } from 'rxjs';
import { clampTimer } from '../../http/retry.js';
import { sendTo } from '../connection.js';
import { postgresStoreSql, quoteSchema, tablesIn } from '../storeTables.js';
import type { WorkCounts } from '../../diagnostics/SubmissionDiagnostic.js';
import { noWork } from '../../dispatch/dispatch.js';

/** The names of an outbox's tables, for SQL. */
export interface OutboxTables {
  readonly commands: string;
  /** The table with the fencing tokens. */
  readonly cursors: string;
  /** Identifies the tables in the names of locks: `schema.canton_rx_outbox`, without quotes. */
  readonly id: string;
}

/** Returns the names of the tables in a schema. Throws a TypeError for a schema name that readers would have to quote. */
export const outboxTablesIn = (schema: string): OutboxTables => ({
  commands: `${quoteSchema(schema)}.canton_rx_outbox`,
  cursors: tablesIn(schema).cursors,
  id: `${schema}.canton_rx_outbox`,
});

/**
 * Returns the SQL that creates the tables and the view of {@link commandOutbox}, for schemas that are managed by migrations.
 * It includes {@link postgresStoreSql}. It has no effect if the tables exist.
 *
 * @param schema - the schema of the tables
 * @throws TypeError if the schema name would have to be quoted
 * @example
 * ```ts
 * import { outboxSql } from 'canton-rx/postgres';
 *
 * console.log(outboxSql('ledger').includes('"ledger".canton_rx_outbox')); // true
 * ```
 *
 * @category Outbox
 */
export const outboxSql = (schema = 'public'): string => {
  const { commands } = outboxTablesIn(schema);
  return `${postgresStoreSql(schema)}
CREATE TABLE IF NOT EXISTS ${commands} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  key text,
  command_id text NOT NULL,
  request json NOT NULL,
  decide text,
  decided json,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'committed', 'parked', 'dropped')),
  may_be_committed boolean NOT NULL DEFAULT false,
  since bigint,
  participant text,
  position json,
  failures int NOT NULL DEFAULT 0,
  refusals int NOT NULL DEFAULT 0,
  retry_at timestamptz,
  reason text,
  error text,
  update_id text,
  "offset" bigint,
  enqueued_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (name, command_id)
);
CREATE INDEX IF NOT EXISTS canton_rx_outbox_pending ON ${commands} (name, id) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS canton_rx_outbox_keys ON ${commands} (name, key, id) WHERE state IN ('pending', 'parked');
CREATE INDEX IF NOT EXISTS canton_rx_outbox_ended ON ${commands} (name, changed_at) WHERE state IN ('committed', 'dropped');
CREATE OR REPLACE VIEW ${commands}_status AS SELECT
  name,
  count(*) FILTER (WHERE state = 'pending' AND NOT may_be_committed) AS pending,
  count(*) FILTER (WHERE state = 'pending' AND ${isRunning}) AS sending,
  count(*) FILTER (WHERE state = 'pending' AND may_be_committed AND NOT ${isRunning}) AS unknown,
  count(*) FILTER (WHERE state = 'parked') AS parked,
  count(*) FILTER (WHERE state = 'committed') AS committed,
  count(*) FILTER (WHERE state = 'dropped') AS dropped,
  max(now() - enqueued_at) FILTER (WHERE state = 'pending') AS oldest_pending
  FROM ${commands} GROUP BY name;
`;
};

/**
 * Returns the statement that creates the tables if one is missing, in any transaction. A user that may not create tables can
 * use existing ones.
 */
export const ensureOutboxSql = (schema: string): string => {
  const { commands } = outboxTablesIn(schema);
  const { cursors, leases } = tablesIn(schema);
  // locked, because one of two processes that create the same table at the same time would fail
  return `DO $outbox$ BEGIN
  IF to_regclass('${cursors}') IS NULL OR to_regclass('${leases}') IS NULL OR to_regclass('${commands}_status') IS NULL THEN
    PERFORM pg_advisory_xact_lock(hashtextextended('${tablesIn(schema).id}', 1));
    PERFORM set_config('canton_rx.created', 'yes', true);
    ${outboxSql(schema)}
  END IF;
END $outbox$`;
};

/** SQL: whether the present transaction has created tables. It forgets that with the tables, also at a savepoint. */
export const isCreated = `coalesce(current_setting('canton_rx.created', true) = 'yes', false)`;

/** Creates the tables if one is missing. */
export const ensureOutbox = (pool: Pool, schema: string, timeoutMs: number): Observable<unknown> =>
  sendTo(pool, (client) => client.query(ensureOutboxSql(schema))).pipe(timeout(clampTimer(timeoutMs)));

/** Whether a pending command is being sent, for SQL: it was begun, and no time is set for another attempt. */
const isRunning = `(may_be_committed AND retry_at IS NULL)`;

/** The statement that counts the commands of an outbox, by its name. */
export const countsSql = ({ commands }: { readonly commands: string }): string => `WITH open AS (
    SELECT state, enqueued_at,
      ${isRunning} AS "isRunning",
      retry_at > now() OR (key IS NOT NULL AND EXISTS (SELECT FROM ${commands} AS earlier
        WHERE earlier.name = c.name AND earlier.key = c.key AND earlier.id < c.id
          AND earlier.state IN ('pending', 'parked'))) AS "isWaiting"
    FROM ${commands} AS c WHERE name = $1 AND state IN ('pending', 'parked'))
  SELECT count(*) FILTER (WHERE state = 'parked') AS parked,
    count(*) FILTER (WHERE state = 'pending' AND "isRunning") AS running,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting") AS waiting,
    count(*) FILTER (WHERE state = 'pending' AND NOT "isRunning" AND "isWaiting" IS NOT TRUE) AS due,
    coalesce(round(extract(epoch FROM max(now() - enqueued_at) FILTER (WHERE state = 'pending')) * 1000), 0) AS "oldestMs"
  FROM open`;

/** The counts in the result of {@link countsSql}. */
export const countsOf = ([row = {}]: readonly QueryResultRow[]): WorkCounts =>
  Object.fromEntries(Object.keys(noWork).map((key) => [key, Number(row[key])])) as unknown as WorkCounts;
