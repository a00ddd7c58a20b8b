import { concatMap, endWith, map, type Observable, toArray } from 'rxjs';
import type { Offset } from '../index.js';
import { parseOptions, readInteger, UsageError } from './arguments.js';
import {
  DatabaseError,
  databaseOptions,
  inTransaction,
  isLockOf,
  type Pool,
  type Queryable,
  readDatabase,
  reportDatabase,
  rowsOf,
  withPool,
} from './database.js';
import { writeAll } from './output.js';
import { escapeText } from './text.js';
import type { World } from './World.js';

/** `canton-rx processors list | reset | skip`; emits the exit code, once. */
export function processorsCommand([action, ...args]: readonly string[], world: World): Observable<number> {
  switch (action) {
    case 'list':
      return withStore(args, world, [], list);
    case 'reset':
      return withStore(args, world, ['name'], (store, values) => reset(store, required(values, 'name')));
    case 'skip':
      return withStore(args, world, ['name', 'after', 'offset', 'update'], skip);
    default:
      throw new UsageError('processors requires list, reset or skip first (canton-rx processors --help)');
  }
}

/** The tables of a `postgresStore`. */
export interface Store {
  readonly pool: Pool;
  readonly schema: string;
}

type Option = 'name' | 'after' | 'offset' | 'update';

export type OptionValues = Readonly<Partial<Record<Option, string>>>;

/** Lines to print. */
export type Result = Observable<readonly string[]>;

/** Works with the store that the options name, prints the result and emits the exit code. */
export function withStore(
  args: readonly string[],
  world: World,
  options: readonly Option[],
  work: (store: Store, values: OptionValues) => Result,
): Observable<number> {
  const own = Object.fromEntries(options.map((name) => [name, { type: 'string' }] as const));
  const values = parseOptions(args, { ...databaseOptions, ...own });
  const { database, schema } = readDatabase(values, world.env, 'public');
  return withPool(database, (pool) => work({ pool, schema }, values as OptionValues)).pipe(
    map((lines) => lines.map((line) => `${line}\n`)),
    concatMap((lines) => writeAll(world.stdout, lines)),
    endWith(0),
    reportDatabase(schema, world),
  );
}

export function required(values: OptionValues, option: Option): string {
  const { [option]: value = '' } = values;
  if (value === '') throw new UsageError(`--${option} is required`);
  return value;
}

export const requiredOffset = (values: OptionValues, option: Option): Offset =>
  readInteger(option, required(values, option), 0);

/** A line of cells. */
export const cells = (...values: readonly unknown[]): string =>
  values.map((value) => escapeText(String(value))).join('\t');

/** Why nothing is done. */
export const refusal = (text: string, next: string): DatabaseError => new DatabaseError('processor', { text, next });

const list = ({ pool, schema }: Store): Result =>
  rowsOf(
    pool,
    `SELECT c.name, coalesce(c.cursor ->> 'offset', 'none') AS "offset",
      to_char(c.saved_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS saved,
      (SELECT count(*) FROM "${schema}".canton_rx_parked p WHERE p.name = c.name) AS parked,
      EXISTS (SELECT FROM pg_locks l WHERE ${isLockOf(`'${schema}.canton_rx_cursors ' || c.name`)}) AS "isHeld"
    FROM "${schema}".canton_rx_cursors c ORDER BY c.name`,
  ).pipe(
    map((rows) =>
      rows.map(({ name, offset, saved, parked, isHeld }) =>
        cells(
          name,
          `offset ${String(offset)}`,
          `saved ${String(saved)}`,
          `parked ${String(parked)}`,
          isHeld === true ? 'running' : 'stopped',
        ),
      ),
    ),
  );

/**
 * Changes the row of a processor that does not run, if the row meets a condition at that moment. The lock is that of a
 * processor, and ends with the transaction.
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

/** Removes the cursor, but not the fencing token, and lets another processor replace its projections: both or neither. */
const reset = ({ pool, schema }: Store, name: string): Result =>
  inTransaction(pool, (db) =>
    changeStopped(db, schema, name, 'true', 'cursor = NULL', []).pipe(
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
        ).pipe(concatMap((rows) => rows.map(() => projection))),
      ),
      toArray(),
      map((projections) => [
        ...projections.map(
          (projection) => `the next load replaces the rows of the projection in the schema ${projection}`,
        ),
        `the processor ${escapeText(name)} has no cursor: it begins where its request says`,
      ]),
    ),
  );

/** Moves the cursor from one offset to another, past the updates in between. */
function skip({ pool, schema }: Store, values: OptionValues): Result {
  const name = required(values, 'name');
  const [after, offset] = [requiredOffset(values, 'after'), requiredOffset(values, 'offset')];
  const { update: updateId } = values;
  // without its id, nothing proves at the next start that the ledger is the same
  const lastUpdate = updateId === undefined ? '{}' : JSON.stringify({ lastUpdate: { offset, updateId } });
  const change = `cursor = (cursor::jsonb - 'lastUpdate' || jsonb_build_object('offset', $3::bigint) || $4::jsonb)::json`;
  return rowsOf(
    pool,
    `SELECT cursor::text AS cursor, cursor ->> 'offset' AS "offset", cursor ->> 'selection' AS selection
    FROM "${schema}".canton_rx_cursors WHERE name = $1`,
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
      return changeStopped(pool, schema, name, 'c.cursor::text = $5', change, [offset, lastUpdate, row?.['cursor']]);
    }),
    map(() => [`the processor ${escapeText(name)} continues after offset ${offset}`]),
  );
}
