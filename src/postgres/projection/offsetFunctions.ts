import type { ProjectionSchema } from './projectionSchema.js';

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
