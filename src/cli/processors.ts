import { concat, concatMap, defer, map, type Observable, of } from 'rxjs';
import type { Offset } from '../index.js';
import { UsageError } from './arguments.js';
import { rowsOf } from './project/database.js';
import {
  cells,
  nameOption,
  readOffset,
  refusal,
  required,
  type Result,
  type Store,
  text,
  withStore,
} from './storeCommand.js';
import { escapeText } from './text.js';
import type { World } from './World.js';

const skipOptions = { after: text, offset: text, update: text };

/** `canton-rx processors list | reset | skip`; emits the exit code, once. */
export function processorsCommand([action, ...args]: readonly string[], world: World): Observable<number> {
  switch (action) {
    case 'list':
      return withStore(args, world, {}, (store) => list(store));
    case 'reset':
      return withStore(args, world, nameOption, (store, { name }) => reset(store, required('name', name)));
    case 'skip':
      return withStore(args, world, { ...nameOption, ...skipOptions }, (store, { name, after, offset, update }) =>
        skip(store, required('name', name), readOffset(after, 'after'), readOffset(offset), update),
      );
    default:
      throw new UsageError('processors requires list, reset or skip first (canton-rx processors --help)');
  }
}

/** Whether a processor holds its name: an expression of SQL, for a text that identifies the lock. */
const isHeld = (lock: string): string => `EXISTS (SELECT FROM pg_locks l
  WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND (l.classid::bigint << 32 | l.objid::bigint) = hashtextextended(${lock}, 0))`;

const list = ({ pool, schema }: Store): Result =>
  rowsOf(
    pool,
    `SELECT c.name, coalesce(c.cursor ->> 'offset', 'none') AS "offset",
      to_char(c.saved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS saved,
      (SELECT count(*) FROM "${schema}".canton_rx_parked p WHERE p.name = c.name) AS parked,
      ${isHeld(`'${schema}.canton_rx_cursors ' || c.name`)} AS "isHeld"
    FROM "${schema}".canton_rx_cursors c ORDER BY c.name`,
    [],
  ).pipe(
    map((rows) =>
      rows.map(({ name, offset, saved, parked, isHeld: held }) =>
        cells(
          name,
          `offset ${String(offset)}`,
          `saved ${String(saved)}`,
          `parked ${String(parked)}`,
          held === true ? 'running' : 'stopped',
        ),
      ),
    ),
  );

/**
 * Changes the row of a processor that does not run, if the row meets a condition at that moment. The lock is that of a
 * processor, and ends with the statement.
 */
const changeStopped = (
  { pool, schema }: Store,
  name: string,
  condition: string,
  change: string,
  values: readonly unknown[],
): Observable<unknown> =>
  rowsOf(
    pool,
    `WITH locked AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended($2, 0)) AS "isLocked"),
    changed AS (
      UPDATE "${schema}".canton_rx_cursors c SET fence = fence + 1, saved_at = now(), ${change}
      FROM locked WHERE c.name = $1 AND locked."isLocked" AND ${condition} RETURNING 1
    )
    SELECT "isLocked", EXISTS (SELECT FROM changed) AS "isChanged" FROM locked`,
    [name, `${schema}.canton_rx_cursors ${name}`, ...values],
  ).pipe(
    map(([row]) => {
      if (row?.['isLocked'] !== true)
        throw refusal(`the processor ${name} is running`, 'stop all its replicas, and wait for their end');
      if (row['isChanged'] !== true)
        throw refusal(
          `the schema ${schema} has no such cursor of the processor ${name}`,
          'see canton-rx processors list',
        );
    }),
  );

/** Removes the cursor, but not the fencing token, and lets another processor replace its projections. */
const reset = (store: Store, name: string): Result =>
  changeStopped(store, name, 'true', 'cursor = NULL', []).pipe(
    concatMap(() =>
      rowsOf(
        store.pool,
        `SELECT format('%I', n.nspname) AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relname = 'projection_state' AND c.relkind = 'r' AND has_table_privilege(c.oid, 'UPDATE')
          AND EXISTS (SELECT FROM pg_class v WHERE v.relnamespace = n.oid AND v.relname = 'projection_versions')`,
        [],
      ),
    ),
    concatMap((schemas) => schemas.map(({ schema }) => String(schema))),
    concatMap((schema) =>
      rowsOf(
        store.pool,
        `UPDATE ${schema}.projection_state SET cursor_at = NULL
        WHERE cursor_at ->> 0 = $1 AND cursor_at ->> 1 = $2 RETURNING 1`,
        [`${store.schema}.canton_rx_cursors`, name],
      ).pipe(
        concatMap((rows) =>
          rows.length === 0 ? [] : [`the next load replaces the rows of the projection in the schema ${schema}`],
        ),
      ),
    ),
    map((line) => [line]),
    (released$) =>
      concat(
        released$,
        defer(() => of([`the processor ${escapeText(name)} has no cursor: it begins where its request says`])),
      ),
  );

/** Moves the cursor from one offset to another, past the updates in between. */
function skip(store: Store, name: string, after: Offset, offset: Offset, update: string | undefined): Result {
  // without its id, nothing proves at the next start that the ledger is the same
  const lastUpdate = update === undefined ? '{}' : JSON.stringify({ lastUpdate: { offset, updateId: update } });
  const change = `cursor = (cursor::jsonb - 'lastUpdate' || jsonb_build_object('offset', $3::bigint) || $4::jsonb)::json`;
  return rowsOf(
    store.pool,
    `SELECT cursor::text AS cursor, cursor ->> 'offset' AS "offset", cursor ->> 'selection' AS selection
    FROM "${store.schema}".canton_rx_cursors WHERE name = $1`,
    [name],
  ).pipe(
    concatMap(([row]) => {
      const selection = String(row?.['selection']);
      if (!selection.startsWith('fnv1a:'))
        throw refusal(
          `the processor ${name} has no cursor of a feed of updates`,
          'only such a processor can leave out an update',
        );
      if (after !== Number(row?.['offset']))
        throw refusal(
          `the cursor is at offset ${String(row?.['offset'])}, not at that of --after`,
          'compare it with canton-rx processors list: all updates between --after and --offset are left out',
        );
      if (offset <= after) throw refusal(`the cursor is already at offset ${after}`, 'use the offset of the error');
      // a replica that started meanwhile must not be moved back
      return changeStopped(store, name, 'c.cursor::text = $5', change, [offset, lastUpdate, row?.['cursor']]);
    }),
    map(() => [`the processor ${escapeText(name)} continues after offset ${offset}`]),
  );
}
