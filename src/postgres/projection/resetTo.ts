import { isHeld } from '../leaseSql.js';
import { isVisibleIn, ixOfContract, ixOfExercise, ixOfUpdate, type ProjectionSchema } from './tables.js';

/**
 * Returns the functions that take a projection back to an earlier offset, with the names that PQS has for them.
 *
 * The rows of the tables say what was active there, but not on which synchronizer: that is not kept. So the cursor gets a
 * checksum that no contracts have, and the processor compares the rows with what the participant shows at the offset before it
 * continues.
 */
export const resetFunctions = (names: ProjectionSchema): string => {
  const { schema, name, state, contracts, exercises, updates, epochs } = names;
  const visible = `generation = ANY ((SELECT s.visible FROM ${state} s)::int[])`;
  const { created, archived } = ixOfContract('c.');
  return `
${validate(names)}
CREATE OR REPLACE FUNCTION ${schema}.reset_to_offset(at bigint) RETURNS TABLE (new_latest bigint, affected_transactions bigint) LANGUAGE plpgsql AS $body$
DECLARE
  owner json;
  cursors text;
  leases text;
  is_running boolean;
  saved jsonb;
  affected bigint;
  up_to bigint;
BEGIN
  -- first: a transaction of the processor locks the state before its cursor
  SELECT s.cursor_at INTO owner FROM ${state} s FOR UPDATE;
  IF owner IS NULL THEN
    RAISE EXCEPTION 'no processor writes the projection in the schema ${name}' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
  cursors := pg_catalog.format('%I.%I', split_part(owner ->> 0, '.', 1), split_part(owner ->> 0, '.', 2));
  leases := pg_catalog.format('%I.canton_rx_leases', split_part(owner ->> 0, '.', 1));
  EXECUTE pg_catalog.format('SELECT ${isHeld.replaceAll("'", "''")} AND l.paused_at IS NULL FROM %s l WHERE l.name = $1 FOR UPDATE', leases)
    INTO is_running USING owner ->> 1;
  IF is_running THEN
    RAISE EXCEPTION 'the processor % is running', owner ->> 1 USING ERRCODE = 'object_not_in_prerequisite_state',
      HINT = pg_catalog.format('canton-rx processors pause --schema %s --name=%s first, or stop all its replicas',
        split_part(owner ->> 0, '.', 1), ${inShell('owner ->> 1')});
  END IF;
  EXECUTE pg_catalog.format('SELECT cursor::jsonb FROM %s WHERE name = $1 FOR UPDATE', cursors) INTO saved USING owner ->> 1;
  SELECT v.affected_transactions INTO affected FROM ${schema}.validate_reset_offset(at) v;
  up_to := at + (SELECT p.shift FROM ${schema}.projection_place(NULL) p);
  DELETE FROM ${contracts} c WHERE ${created} > up_to AND ${isVisibleIn(names)};
  -- what ended without an archival is not read by the processor, unless the participant shows it at the offset again
  UPDATE ${contracts} c SET archived_at_offset = CASE WHEN end_reason IS NOT NULL THEN at END,
    archived_shift = CASE WHEN end_reason IS NOT NULL THEN nullif(up_to - at, 0) END,
    archived_node_id = NULL, archived_effective_at = NULL
    WHERE c.archived_at_offset IS NOT NULL AND ${archived} > up_to AND ${isVisibleIn(names)};
  DELETE FROM ${exercises} e WHERE ${ixOfExercise('e.')} > up_to AND e.${visible};
  DELETE FROM ${updates} u WHERE ${ixOfUpdate('u.')} > up_to AND u.${visible};
  UPDATE ${state} SET latest_offset = at;
  saved := jsonb_strip_nulls(jsonb_build_object('version', saved -> 'version', 'offset', at, 'selection', saved -> 'selection',
    'selectedSince', saved -> 'selectedSince', 'hasBlobs', saved -> 'hasBlobs', 'participantId', saved -> 'participantId', 'checksum', '-1:0',
    'lastUpdate', (SELECT jsonb_build_object('offset', u."offset", 'updateId', u.update_id) FROM ${updates} u
      WHERE u.${visible} AND ${ixOfUpdate('u.')} >= (SELECT max(l.first_ix) FROM ${epochs} l) ORDER BY ${ixOfUpdate('u.')} DESC LIMIT 1),
    'recordTimes', coalesce((SELECT jsonb_object_agg(r.synchronizer_id, r.point) FROM (
      SELECT DISTINCT ON (u.synchronizer_id) u.synchronizer_id, jsonb_build_object('updateId', u.update_id,
        'recordTime', to_char(u.record_time AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) AS point
      FROM ${updates} u WHERE u.${visible} AND u.synchronizer_id IS NOT NULL
      ORDER BY u.synchronizer_id, u.record_time DESC, ${ixOfUpdate('u.')} DESC) r), '{}')));
  -- the fencing token ends a transaction that a paused processor still has open, and without its lease it begins again
  EXECUTE pg_catalog.format('UPDATE %s SET cursor = $2, fence = fence + 1, saved_at = now() WHERE name = $1', cursors)
    USING owner ->> 1, saved;
  EXECUTE pg_catalog.format('UPDATE %s SET holder = NULL WHERE name = $1', leases) USING owner ->> 1;
  RETURN QUERY SELECT at, affected;
END $body$;
`;
};

/** Returns the SQL of a text as a shell reads it. */
const inShell = (text: string): string => String.raw`'''' || replace(${text}, '''', E'''\\''''') || ''''`;

/** Returns the function that checks an offset, and counts the updates after it. */
const validate = ({ schema, state, contracts, exercises, updates, gaps, epochs }: ProjectionSchema): string => {
  const { created, archived } = ixOfContract('c.');
  return `
CREATE OR REPLACE FUNCTION ${schema}.validate_reset_offset(at bigint) RETURNS TABLE (new_latest bigint, affected_transactions bigint) LANGUAGE plpgsql STABLE AS $body$
DECLARE
  place record := ${schema}.projection_place(NULL);
  visible int[] := (SELECT s.visible FROM ${state} s);
  up_to bigint := at + place.shift;
  owner json := (SELECT s.cursor_at FROM ${state} s);
  selected_since bigint;
BEGIN
  IF at IS NULL THEN
    RAISE EXCEPTION 'an offset is required' USING ERRCODE = 'null_value_not_allowed';
  ELSIF ${schema}.projection_saved(false) IS NULL THEN
    RAISE EXCEPTION 'the contracts are being loaded, or the user may not read the cursor of the processor' USING
      ERRCODE = 'object_not_in_prerequisite_state';
  ELSIF place.epoch > (SELECT max(e.epoch) FROM ${epochs} e) THEN
    RAISE EXCEPTION 'the processor continues at other offsets, at which nothing has changed yet' USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Try again after the next change.';
  END IF;
  PERFORM ${schema}.projection_check(up_to, place.epoch, place.shift, place.first_ix, place.last_ix, place.is_past);
  EXECUTE pg_catalog.format('SELECT (cursor ->> ''selectedSince'')::bigint FROM %I.%I WHERE name = $1',
    split_part(owner ->> 0, '.', 1), split_part(owner ->> 0, '.', 2)) INTO selected_since USING owner ->> 1;
  -- the processor would not read again what only the former query has selected, and may not see the last update before.
  -- one that is not reached is of an earlier epoch
  IF selected_since > at AND selected_since <= ${schema}.projection_saved(false) THEN
    RAISE EXCEPTION 'other parties or types were selected until offset %', selected_since USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose this offset or a later one.';
  ELSIF EXISTS (SELECT FROM ${gaps} g WHERE g.generation = ANY (visible) AND g.until_ix > up_to) THEN
    RAISE EXCEPTION 'there is a gap after offset %: the ledger was pruned before it was read', at USING
      ERRCODE = 'numeric_value_out_of_range';
  ELSIF EXISTS (SELECT FROM ${contracts} c WHERE c.redaction_id IS NOT NULL AND c.generation = ANY (visible)
      AND greatest(${created}, ${archived}) > up_to)
    OR EXISTS (SELECT FROM ${exercises} e WHERE e.redaction_id IS NOT NULL AND e.generation = ANY (visible)
      AND ${ixOfExercise('e.')} > up_to) THEN
    RAISE EXCEPTION 'what was erased after offset % would be read again', at USING
      ERRCODE = 'object_not_in_prerequisite_state', HINT = 'Choose an offset after the end of what was erased.';
  END IF;
  RETURN QUERY SELECT at, (SELECT count(*) FROM ${updates} u WHERE u.generation = ANY (visible) AND ${ixOfUpdate('u.')} > up_to);
END $body$;`;
};
