import { catchError, concatMap, endWith, map, type Observable, of, timeout, toArray } from 'rxjs';
import { isHeld } from '../postgres/leaseSql.js';
import { UsageError } from './arguments.js';
import { inTransaction } from './change.js';
import { readConnection } from './Connection.js';
import { pause, resume, rewind } from './control.js';
import { holderText, type Queryable, rowsOf } from './database.js';
import { openLedger } from './Session.js';
import { pasted, refusal, required, requiredOffset, type Result, type Store, storeCommand, tableOf } from './store.js';
import { escapeText } from './terminal.js';
import type { World } from './World.js';

const ledgerNames = ['ledger', 'token-file', 'context', 'verbose'] as const;

const missing = ['no tables of a service', 'a service creates them at its first start'] as const;

/** `canton-rx processors list | pause | resume | rewind | reset | skip`; emits the exit code, once. */
export const processorsCommand = storeCommand('processors', missing, {
  list: [ledgerNames, list],
  pause: [['name'], pause],
  resume: [['name'], resume],
  rewind: [['name', 'to', ...ledgerNames, 'party'], rewind],
  reset: [['name'], reset],
  skip: [['name', 'after', 'offset', 'update'], skip],
});

const changeParked = storeCommand('parked', missing, {
  list: [['name'], listParked],
  drop: [['name', 'offset'], drop],
});

/** `canton-rx parked list | drop`; emits the exit code, once. */
export function parkedCommand(args: readonly string[], world: World): Observable<number> {
  if (args[0] !== 'replay') return changeParked(args, world);
  throw new UsageError(
    'only the service has the handler: call handleParked in it, such as service.mts replay in docs/services.md',
  );
}

/** With a ledger, each line has the lag. A ledger that does not answer must not keep the list from those who look for the reason. */
function list({ pool, schema, values, world }: Store): Result {
  const hasLedger = ['ledger', 'context'].some((name) => name in values) || 'CANTON_RX_LEDGER_URL' in world.env;
  const end$: Observable<number | string | null> = hasLedger
    ? openLedger(readConnection(values, world))
        .ledgerEnd()
        .pipe(
          timeout(endTimeoutMs),
          catchError(() => of('unknown')),
        )
    : of(null);
  return end$.pipe(
    concatMap((end) =>
      tableOf(
        pool,
        `SELECT c.name, format('offset %s', coalesce(c.cursor ->> 'offset', 'none')) AS "offset",
          to_char(c.saved_at AT TIME ZONE 'UTC', '"saved" YYYY-MM-DD"T"HH24:MI:SS"Z"') AS saved,
          format('parked %s', (SELECT count(*) FROM "${schema}".canton_rx_parked p WHERE p.name = c.name)) AS parked,
          CASE WHEN $1 = 'unknown' OR ($1 IS NOT NULL AND c.cursor ->> 'offset' IS NULL) THEN 'lag unknown'
            WHEN $1 IS NOT NULL THEN 'lag ' || greatest(0, $1::text::bigint - (c.cursor ->> 'offset')::bigint) END AS lag,
          CASE WHEN h.held AND l.paused_at IS NOT NULL THEN 'pausing' WHEN l.paused_at IS NOT NULL THEN 'paused'
            WHEN h.held THEN 'running' ELSE 'stopped' END AS state,
          CASE WHEN h.held THEN 'leader ' || ${holderText} END AS leader
        FROM "${schema}".canton_rx_cursors c LEFT JOIN "${schema}".canton_rx_leases l ON l.name = c.name
          LEFT JOIN pg_stat_activity a ON a.pid = l.pid CROSS JOIN LATERAL (SELECT ${isHeld} AS held) h ORDER BY c.name`,
        [end],
      ),
    ),
  );
}

/** How long the list waits for the ledger end, in milliseconds. */
const endTimeoutMs = 5_000;

/**
 * Changes the row of a processor that does not run, if the row meets a condition at that moment. The row of its lease is locked, so
 * that none starts meanwhile.
 */
const changeStopped = (
  db: Queryable,
  schema: string,
  name: string,
  condition: string,
  change: string,
  values: readonly unknown[],
): Observable<unknown> =>
  rowsOf(
    db,
    `WITH lease AS MATERIALIZED (
      SELECT ${isHeld} AS "isHeld" FROM "${schema}".canton_rx_leases l WHERE l.name = $1 FOR UPDATE
    ), changed AS (
      UPDATE "${schema}".canton_rx_cursors c SET fence = fence + 1, saved_at = now(), ${change}
      WHERE c.name = $1 AND NOT EXISTS (SELECT FROM lease WHERE "isHeld") AND ${condition} RETURNING 1
    )
    SELECT EXISTS (SELECT FROM lease WHERE "isHeld") AS "isHeld", EXISTS (SELECT FROM changed) AS "isChanged"`,
    [name, ...values],
  ).pipe(
    map(([row]) => {
      if (row?.['isHeld'] === true)
        throw refusal(`the processor ${name} is running`, 'stop all its replicas, and wait for their end');
      if (row?.['isChanged'] !== true)
        throw refusal(
          `the schema ${schema} has no such cursor of the processor ${name}`,
          `see ${pasted('processors list', schema)}`,
        );
    }),
  );

/** SQL: whether a row is that of a processor. An outbox has one, too, without a cursor, and does not begin again. */
const isProcessor = `NOT (c.name LIKE 'outbox %' AND c.cursor IS NULL)`;

/** Removes the cursor, but not the fencing token, and lets another processor replace its projections: both or neither. */
function reset({ pool, schema, values }: Store): Result {
  const name = required(values, 'name');
  return inTransaction(pool, pasted('processors list', schema), (db) =>
    changeStopped(db, schema, name, isProcessor, 'cursor = NULL', []).pipe(
      concatMap(() =>
        rowsOf(
          db,
          `SELECT n.nspname AS projection FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
          WHERE c.relname = 'projection_state' AND c.relkind = 'r' AND has_schema_privilege(n.oid, 'USAGE')
            AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'UPDATE')
            AND EXISTS (SELECT FROM pg_class v WHERE v.relnamespace = n.oid AND v.relname = 'projection_versions')`,
        ),
      ),
      concatMap((rows) => rows.map(({ projection }) => String(projection))),
      concatMap((projection) =>
        rowsOf(
          db,
          `UPDATE "${projection.replaceAll('"', '""')}".projection_state SET cursor_at = NULL
          WHERE cursor_at ->> 0 = $1 AND cursor_at ->> 1 = $2 RETURNING 1`,
          [`${schema}.canton_rx_cursors`, name],
        ).pipe(
          concatMap((rows) => rows),
          map(() => `the next load replaces the rows of the projection in the schema ${projection}`),
        ),
      ),
      endWith(`the processor ${escapeText(name)} has no cursor: it begins where its request says`),
      toArray(),
    ),
  );
}

/** Moves the cursor from one offset to another, past the updates in between. */
function skip({ pool, schema, values }: Store): Result {
  const { update: updateId } = values;
  const name = required(values, 'name');
  const [after, offset] = [requiredOffset(values, 'after'), requiredOffset(values, 'offset')];
  // without its id, nothing proves at the next start that the ledger is the same
  const lastUpdate = updateId === undefined ? '{}' : JSON.stringify({ lastUpdate: { offset, updateId } });
  const change = `cursor = (cursor::jsonb - 'lastUpdate' || jsonb_build_object('offset', $2::bigint) || $3::jsonb)::json`;
  return rowsOf(
    pool,
    `SELECT cursor::text AS cursor, cursor ->> 'offset' AS "offset", cursor ->> 'selection' AS selection,
      cursor -> 'seen' -> -1 ->> 'until' IS NOT NULL AS "isInPast"
    FROM "${schema}".canton_rx_cursors WHERE name = $1`,
    [name],
  ).pipe(
    concatMap(([row]) => {
      if (!String(row?.['selection']).startsWith('fnv1a:'))
        throw refusal(
          `the processor ${name} has no cursor of a feed of updates`,
          'only such a processor can leave out an update',
        );
      // the updates in between would come with the rest of the past
      if (row?.['isInPast'] === true)
        throw refusal(
          `the processor ${name} handles the past of a changed request, and no later update yet`,
          "onHandlerFailure: 'skip' or 'park' leaves out an update of the past",
        );
      if (after !== Number(row?.['offset']))
        throw refusal(
          `the cursor is at offset ${String(row?.['offset'])}, not at that of --after`,
          `compare it with ${pasted('processors list', schema)}: all updates between --after and --offset are left out`,
        );
      if (offset <= after) throw refusal(`the cursor is already at offset ${after}`, 'use the offset of the error');
      // a replica that started meanwhile must not be moved back
      return inTransaction(pool, pasted('processors list', schema), (db) =>
        changeStopped(db, schema, name, 'c.cursor::text = $4', change, [offset, lastUpdate, row?.['cursor']]),
      );
    }),
    map(() => [`the processor ${escapeText(name)} continues after offset ${offset}`]),
  );
}

/** SQL: a record in which a NUL, or half of a surrogate pair, is replaced: the operators of JSON refuse all of a record with one. */
const readable = String.raw`regexp_replace(replace(record::text, '\\', '\u005c'), '\\u(0000|d[89a-f]..)', '\\ufffd', 'gi')::json`;

function listParked({ pool, schema, values: { name } }: Store): Result {
  return tableOf(
    pool,
    `SELECT p.name, format('offset %s', "offset") AS at, format('parked %s', record ->> 'parkedAt') AS parked,
      format('attempts %s', record ->> 'attempts') AS attempts, record ->> 'reason' AS reason
    FROM (SELECT name, "offset", ${readable} AS record FROM "${schema}".canton_rx_parked) p
    WHERE $1::text IS NULL OR name = $1 ORDER BY name, "offset"`,
    [name ?? null],
  );
}

function drop({ pool, schema, values }: Store): Result {
  const place = [required(values, 'name'), requiredOffset(values, 'offset')] as const;
  const [name, offset] = place;
  return inTransaction(pool, pasted('parked list', schema), (db) =>
    rowsOf(db, `DELETE FROM "${schema}".canton_rx_parked WHERE name = $1 AND "offset" = $2 RETURNING 1`, place),
  ).pipe(
    map((rows) => {
      if (rows.length === 0)
        throw refusal(`no update of ${name} is parked at offset ${offset}`, `see ${pasted('parked list', schema)}`);
      return [`dropped the parked update of ${escapeText(name)} at offset ${offset}`];
    }),
  );
}
