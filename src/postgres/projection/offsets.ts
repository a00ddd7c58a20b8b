import { ixOfUpdate, type ProjectionSchema } from './tables.js';

/**
 * Returns the functions for offsets: how far the projection has come, and which offsets a session reads. An offset is one
 * of the present epoch, unless the session has chosen another one. An earlier epoch is never taken by itself because it
 * has the offset: whoever waits for an offset of the present participant would get a state of long ago. A session that
 * has set an offset keeps its place (`ix`), also when another epoch begins.
 */
export function offsetFunctions(names: ProjectionSchema): string {
  const { schema, name, state, updates, epochs } = names;
  const setting = (what: string): string => `canton_rx.${what}_of_${name}`;
  const session = (what: string): string => `nullif(current_setting('${setting(what)}', true), '')::bigint`;
  return `
${checkFunctions(names)}
CREATE OR REPLACE FUNCTION ${schema}.projection_offset_of(ix bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT ix - e.first_ix + e.first_offset FROM ${epochs} e WHERE e.epoch = ${schema}.projection_epoch_at(ix)
$body$;
CREATE OR REPLACE FUNCTION ${schema}.latest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE WHEN ${session('latest')} IS NULL THEN (SELECT p.last_ix - p.shift FROM ${schema}.projection_place() p)
    ELSE ${schema}.projection_offset_of(${session('latest')}) END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.pruned_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT greatest(s.oldest_ix, p.first_ix) - p.shift FROM ${state} s, ${schema}.projection_place() p WHERE s.oldest_ix IS NOT NULL
$body$;
CREATE OR REPLACE FUNCTION ${schema}.oldest_offset() RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE WHEN ${session('oldest')} IS NULL THEN ${schema}.pruned_offset() ELSE ${schema}.projection_offset_of(${session('oldest')}) END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_at(at bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE
    WHEN at IS NOT NULL THEN ${schema}.projection_ix_of(at)
    WHEN ${session('latest')} IS NOT NULL THEN ${schema}.projection_check_ix(${session('latest')})
    ELSE 9223372036854775807
  END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_from(from_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE WHEN from_offset IS NULL THEN coalesce(${session('oldest')}, 0) ELSE (
    SELECT least(greatest(least(from_offset, 9223372036854775807 - p.shift) + p.shift, p.first_ix),
      CASE WHEN p.is_past THEN p.last_ix + 1 END)
    FROM ${schema}.projection_place() p) END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_scope_to(to_offset bigint) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT CASE WHEN to_offset IS NULL THEN coalesce(${session('latest')}, 9223372036854775807) ELSE (
    SELECT least(greatest(least(to_offset, 9223372036854775807 - p.shift) + p.shift, p.first_ix - 1),
      CASE WHEN p.is_past THEN p.last_ix END)
    FROM ${schema}.projection_place() p) END
$body$;
CREATE OR REPLACE FUNCTION ${schema}.set_latest(at bigint, is_local boolean DEFAULT false) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('${setting('latest')}',
    CASE WHEN at IS NULL THEN '' ELSE ${schema}.projection_ix_of(at)::text END, coalesce(is_local, false));
  RETURN ${schema}.latest_offset();
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.set_oldest(at bigint, is_local boolean DEFAULT false) RETURNS bigint LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM set_config('${setting('oldest')}',
    CASE WHEN at IS NULL THEN '' ELSE ${schema}.projection_ix_of(at)::text END, coalesce(is_local, false));
  RETURN ${schema}.oldest_offset();
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.nearest_offset("time" timestamptz) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  place record := ${schema}.projection_place();
  found bigint;
BEGIN
  SELECT ${ixOfUpdate('u.')} INTO found FROM ${updates} u
    WHERE u.effective_at <= "time" AND u.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])
      AND (NOT place.is_past OR ${ixOfUpdate('u.')} <= place.last_ix)
    ORDER BY u.effective_at DESC, ${ixOfUpdate('u.')} DESC LIMIT 1;
  IF found < place.first_ix THEN
    RAISE EXCEPTION 'the last update at that time has an offset of another participant' USING
      ERRCODE = 'numeric_value_out_of_range', HINT = 'Choose its offsets: set_epoch(' || ${schema}.projection_epoch_at(found) || ')';
  END IF;
  RETURN found - place.shift;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.nearest_offset(ago interval) RETURNS bigint LANGUAGE sql STABLE AS $body$
  SELECT ${schema}.nearest_offset(now() - ago)
$body$;
CREATE OR REPLACE VIEW ${schema}.transactions AS
  SELECT ${ixOfUpdate('u.')} AS ix, u."offset", u.update_id AS transaction_id, u.effective_at, u.workflow_id, u.trace_context,
    u.external_transaction_hash, u.paid_traffic_cost,
    u.synchronizer_id COLLATE "default" AS synchronizer_id, u.record_time, u.command_id
  FROM ${updates} u WHERE u.generation = ANY ((SELECT s.visible FROM ${state} s)::int[]);
`;
}

/** Returns the functions that check whether a state is known at an offset or a place. */
const checkFunctions = ({ schema, state, gaps, epochs }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.projection_epoch_at(ix bigint) RETURNS int LANGUAGE sql STABLE AS $body$
  SELECT max(e.epoch) FROM ${epochs} e WHERE e.first_ix <= ix
$body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_fail_before(at bigint, oldest bigint) RETURNS void LANGUAGE plpgsql STABLE AS $body$
BEGIN
  RAISE EXCEPTION 'offset % is before the oldest available offset, %', at, oldest USING
    ERRCODE = 'numeric_value_out_of_range',
    HINT = CASE WHEN (SELECT count(*) FROM ${epochs}) > 1
      THEN 'Earlier rows have offsets of another participant: see the view epochs, and set_epoch().' ELSE '' END;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_check(ix bigint, epoch int, shift bigint, first_ix bigint, last_ix bigint, is_past boolean)
RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  at bigint := ix - shift;
  oldest bigint := (SELECT greatest(s.oldest_ix, first_ix) FROM ${state} s);
BEGIN
  IF last_ix IS NULL THEN
    RAISE EXCEPTION 'offset % is not reached: the contracts are not loaded yet', at USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF ix > last_ix AND is_past THEN
    RAISE EXCEPTION 'offset % is after the last one of epoch %, %', at, epoch, last_ix - shift USING
      ERRCODE = 'numeric_value_out_of_range';
  ELSIF ix > last_ix THEN
    RAISE EXCEPTION 'offset % is not reached: the latest is %', at, last_ix - shift USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again later.';
  ELSIF ix < oldest THEN
    PERFORM ${schema}.projection_fail_before(at, oldest - shift);
  ELSIF EXISTS (SELECT FROM ${gaps} g WHERE g.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])
      AND ix > g.after_ix AND ix < g.until_ix) THEN
    RAISE EXCEPTION 'offset % is in a gap: the ledger was pruned before it was read', at USING
      ERRCODE = 'numeric_value_out_of_range';
  END IF;
  RETURN ix;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_ix_of(at bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  place record := ${schema}.projection_place();
BEGIN
  RETURN ${schema}.projection_check(least(at, 9223372036854775807 - place.shift) + place.shift,
    place.epoch, place.shift, place.first_ix, place.last_ix, place.is_past);
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_check_ix(ix bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
DECLARE
  place record := ${schema}.projection_place(${schema}.projection_epoch_at(ix));
BEGIN
  RETURN ${schema}.projection_check(ix, place.epoch, place.shift, place.first_ix, place.last_ix, place.is_past);
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.validate_offset_exists(at bigint) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
BEGIN
  IF at IS NULL THEN
    RAISE EXCEPTION 'an offset is required' USING ERRCODE = 'null_value_not_allowed';
  END IF;
  PERFORM ${schema}.projection_ix_of(at);
  RETURN at;
END $body$;`;
