import { concatMap, defer, EMPTY, type Observable, tap } from 'rxjs';
import { startAge } from '../../http/clock.js';
import { checkNotNegative } from '../../http/retry.js';
import { run } from '../connection.js';
import type { ProjectionSchema } from './tables.js';
import type { Writing } from './templates.js';

/** The maximum number of rows that are removed from a table at once, so that no statement takes long. */
const maxRows = 20_000;

/** Removes rows that are visible to no reader, a limited number at a time. */
export const removeGarbage = ({ tx, names }: Writing): Observable<unknown> => {
  const tables = [names.contracts, names.exercises, names.updates, names.gaps];
  const deleted = tables.map(
    (table, index) => `deleted${index} AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM ${table} WHERE generation = ANY ((SELECT garbage FROM ${names.state})::int[]) LIMIT ${maxRows}))
      RETURNING 1
    )`,
  );
  const isDone = tables.map((_, index) => `(SELECT count(*) FROM deleted${index}) < ${maxRows}`);
  return run(
    tx,
    `WITH ${deleted.join(', ')}
    UPDATE ${names.state} SET garbage = '{}' WHERE ${isDone.join(' AND ')}`,
  );
};

/** Removes history that has exceeded its retention time. */
export type Retain = (writing: Writing, recordTime: string) => Observable<unknown>;

/** The maximum time between two removals, in milliseconds. */
const maxPauseMs = 60_000;

/**
 * Removes history that is older than `keepMs` by record time, from time to time and a limited number of rows at a time.
 *
 * @throws TypeError if the time is negative or not a number
 */
export function retainFor(keepMs: number): Retain {
  checkNotNegative({ keepArchivedMs: keepMs });
  if (keepMs === Infinity) return () => EMPTY;
  const pauseMs = Math.min(maxPauseMs, keepMs / 10);
  let sinceLastMs = (): number => Infinity;
  return ({ tx, names }, recordTime) =>
    defer(() => {
      if (sinceLastMs() < pauseMs) return EMPTY;
      sinceLastMs = startAge();
      const retain = `SELECT ${names.schema}.projection_retain($1::timestamptz - make_interval(secs => $2), ${maxRows}) AS removed`;
      return run(tx, retain, [recordTime, keepMs / 1_000]).pipe(
        tap(([row]) => {
          // there may be more
          if (Number(row?.['removed']) >= maxRows) sinceLastMs = () => Infinity;
        }),
        concatMap(() => EMPTY),
      );
    });
}

/** Returns the functions that remove history. */
export function retentionFunctions({ schema, state, contracts, exercises, updates, gaps }: ProjectionSchema): string {
  const visible = `generation = ANY ((SELECT s.visible FROM ${state} s)::int[])`;
  const remove = (table: string, offset: string): string => `
  DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM ${table} WHERE ${offset} <= up_to AND ${visible} LIMIT max_rows));
  GET DIAGNOSTICS removed = ROW_COUNT;
  most := greatest(most, removed);`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_prune(up_to bigint, max_rows bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  removed bigint;
  most bigint := 0;
BEGIN
  ${remove(contracts, 'archived_at_offset')}
  ${remove(exercises, 'exercised_at_offset')}
  ${remove(updates, '"offset"')}
  UPDATE ${state} SET oldest_offset = up_to WHERE oldest_offset < up_to;
  RETURN most;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.prune_archived_to_offset(up_to bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  IF up_to IS NULL OR up_to > coalesce(${schema}.projection_reached(), -1) THEN
    RAISE EXCEPTION 'offset % is not reached', up_to USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  PERFORM ${schema}.projection_prune(up_to, NULL);
  RETURN (SELECT s.oldest_offset FROM ${state} s);
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_retain(since timestamptz, max_rows bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  first_kept bigint;
  first_gap bigint;
BEGIN
  SELECT min(first."offset") INTO first_kept
    FROM ${state} s CROSS JOIN unnest(s.visible) AS v(generation) CROSS JOIN LATERAL (
      SELECT u."offset" FROM ${updates} u
      WHERE u.generation = v.generation AND u.record_time >= since ORDER BY u."offset" LIMIT 1
    ) AS first;
  IF first_kept IS NULL THEN
    RETURN 0;
  END IF;
  -- a contract that ended in a gap may have ended just before the reload: it is as old as the first update after that
  SELECT min(g.until_offset) INTO first_gap
    FROM ${state} s JOIN ${gaps} g ON g.generation = ANY (s.visible) AND g.until_offset > s.oldest_offset
    WHERE coalesce((
      SELECT first.record_time FROM unnest(s.visible) AS v(generation) CROSS JOIN LATERAL (
        SELECT u."offset", u.record_time FROM ${updates} u
        WHERE u.generation = v.generation AND u."offset" > g.until_offset ORDER BY u."offset" LIMIT 1
      ) AS first ORDER BY first."offset" LIMIT 1
    ) >= since, true);
  RETURN ${schema}.projection_prune(least(first_kept, first_gap) - 1, max_rows);
END $body$;
`;
}

/** Returns the functions for offsets: how far the projection has come, and which offsets a session reads. */
export function offsetFunctions({ schema, name, state, gaps, updates }: ProjectionSchema): string {
  const setting = (what: string): string => `canton_rx.${what}_of_${name}`;
  const session = (what: string): string => `nullif(current_setting('${setting(what)}', true), '')::bigint`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_reached() RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  s record;
  cursors regclass;
  saved bigint;
BEGIN
  SELECT * INTO s FROM ${state};
  -- not by to_regclass, which fails for a schema that the reader may not use
  SELECT c.oid INTO cursors FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = split_part(s.cursor_at ->> 0, '.', 1) AND c.relname = split_part(s.cursor_at ->> 0, '.', 2)
      AND has_schema_privilege(n.oid, 'USAGE') AND has_table_privilege(c.oid, 'SELECT');
  IF s.latest_offset IS NULL OR s.loading IS NOT NULL OR cursors IS NULL THEN
    RETURN s.latest_offset;
  END IF;
  -- the cursor of the processor is ahead of the last change while nothing changes
  EXECUTE pg_catalog.format('SELECT (cursor ->> ''offset'')::bigint FROM %s WHERE name = $1 AND cursor ->> ''loading'' IS NULL', cursors)
    INTO saved USING s.cursor_at ->> 1;
  RETURN greatest(s.latest_offset, saved);
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.latest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(${session('latest')}, ${schema}.projection_reached())
$body$;
CREATE OR REPLACE FUNCTION ${schema}.oldest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(${session('oldest')}, (SELECT s.oldest_offset FROM ${state} s))
$body$;
CREATE OR REPLACE FUNCTION ${schema}.validate_offset_exists(at bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  reached bigint := ${schema}.projection_reached();
  oldest bigint := (SELECT s.oldest_offset FROM ${state} s);
BEGIN
  IF at IS NULL THEN
    RAISE EXCEPTION 'an offset is required' USING ERRCODE = 'null_value_not_allowed';
  ELSIF reached IS NULL THEN
    RAISE EXCEPTION 'offset % is not reached: the contracts are not loaded yet', at USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF at > reached THEN
    RAISE EXCEPTION 'offset % is not reached: the latest is %', at, reached USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF at < oldest THEN
    RAISE EXCEPTION 'offset % is before the oldest available offset, %', at, oldest USING ERRCODE = 'numeric_value_out_of_range';
  ELSIF EXISTS (SELECT FROM ${gaps} g WHERE g.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])
      AND at > g.after_offset AND at < g.until_offset) THEN
    RAISE EXCEPTION 'offset % is in a gap: the ledger was pruned before it was read', at USING
      ERRCODE = 'numeric_value_out_of_range';
  END IF;
  RETURN at;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_at(at bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE
    WHEN coalesce(at, ${session('latest')}) IS NULL THEN 9223372036854775807
    ELSE ${schema}.validate_offset_exists(coalesce(at, ${session('latest')}))
  END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_from(from_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(from_offset, ${session('oldest')}, 0)
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_to(to_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT coalesce(to_offset, ${session('latest')}, 9223372036854775807)
$body$;
CREATE OR REPLACE FUNCTION ${schema}.set_latest(at bigint, is_local boolean DEFAULT false) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('${setting('latest')}',
    CASE WHEN at IS NULL THEN '' ELSE ${schema}.validate_offset_exists(at)::text END, coalesce(is_local, false));
  RETURN ${schema}.latest_offset();
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.set_oldest(at bigint, is_local boolean DEFAULT false) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('${setting('oldest')}',
    CASE WHEN at IS NULL THEN '' ELSE ${schema}.validate_offset_exists(at)::text END, coalesce(is_local, false));
  RETURN ${schema}.oldest_offset();
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.nearest_offset("time" timestamptz) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT u."offset" FROM ${updates} u
  WHERE u.effective_at <= "time" AND u.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])
  ORDER BY u.effective_at DESC, u."offset" DESC LIMIT 1
$body$;
CREATE OR REPLACE FUNCTION ${schema}.nearest_offset(ago interval) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT ${schema}.nearest_offset(now() - ago)
$body$;
CREATE OR REPLACE VIEW ${schema}.transactions AS
  SELECT u."offset" AS ix, u."offset", u.update_id AS transaction_id, u.effective_at, u.workflow_id, u.trace_context,
    u.external_transaction_hash, u.paid_traffic_cost,
    u.synchronizer_id COLLATE "default" AS synchronizer_id, u.record_time, u.command_id
  FROM ${updates} u WHERE u.generation = ANY ((SELECT s.visible FROM ${state} s)::int[]);
`;
}
