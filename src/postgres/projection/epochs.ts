import type { ProjectionSchema } from './tables.js';

/**
 * Returns the functions for epochs. A feed that continues at another participant, or at one that was restored from a backup,
 * has the same history with other offsets. While they are higher than before, nothing happens: all offsets still
 * ascend. An offset that is not higher begins an epoch, whose places (`ix`) follow the last one.
 *
 * A lower offset alone proves no move: an update that the projection has is refused at any offset. What reads offsets looks
 * at the cursor of the processor, too, which is at the new participant before anything changes there.
 */
export function epochFunctions(names: ProjectionSchema): string {
  const { schema, name, state, epochs } = names;
  const session = `nullif(current_setting('canton_rx.epoch_of_${name}', true), '')::int`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_begin_epoch(at bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  begun bigint;
BEGIN
  INSERT INTO ${epochs} (epoch, first_ix, first_offset)
    SELECT (SELECT max(e.epoch) + 1 FROM ${epochs} e), s.latest_offset + s.shift + 1, at FROM ${state} s
    RETURNING first_ix INTO begun;
  RETURN begun - at;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.projection_reach(at bigint) RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
  s record;
BEGIN
  SELECT latest_offset, shift INTO s FROM ${state};
  RETURN CASE WHEN at < s.latest_offset THEN ${schema}.projection_begin_epoch(at) ELSE s.shift END;
END $body$;
-- of contracts that are read at an offset, before it is reached
CREATE OR REPLACE FUNCTION ${schema}.projection_epoch_of(at bigint, OUT shift bigint, OUT first_ix bigint) LANGUAGE sql STABLE AS $body$
  SELECT CASE WHEN at < s.latest_offset THEN s.latest_offset + s.shift + 1 - at ELSE s.shift END,
    CASE WHEN at < s.latest_offset THEN s.latest_offset + s.shift + 1 ELSE (SELECT max(e.first_ix) FROM ${epochs} e) END
  FROM ${state} s
$body$;
${cursorFunctions(names)}
-- the places of the epoch whose offsets the session uses, or of another one
CREATE OR REPLACE FUNCTION ${schema}.projection_place(
  of_epoch int DEFAULT ${session},
  OUT epoch int, OUT shift bigint, OUT first_ix bigint, OUT last_ix bigint, OUT is_past boolean
) LANGUAGE plpgsql STABLE AS $body$
DECLARE
  s record;
  saved bigint;
BEGIN
  SELECT * INTO s FROM ${state};
  SELECT e.epoch, e.first_ix, e.first_ix - e.first_offset, next.first_ix - 1, next.first_ix IS NOT NULL
    INTO epoch, first_ix, shift, last_ix, is_past
    FROM ${epochs} e LEFT JOIN ${epochs} next ON next.epoch = e.epoch + 1
    WHERE e.epoch = coalesce(of_epoch, (SELECT max(l.epoch) FROM ${epochs} l));
  IF NOT FOUND THEN
    RAISE EXCEPTION 'there is no epoch %', of_epoch USING ERRCODE = 'numeric_value_out_of_range';
  ELSIF is_past THEN
    RETURN;
  END IF;
  last_ix := s.latest_offset + s.shift;
  IF s.latest_offset IS NULL OR s.loading IS NOT NULL THEN
    RETURN;
  END IF;
  saved := ${schema}.projection_saved(false);
  IF saved >= s.latest_offset THEN
    -- the cursor of the processor is ahead of the last change while nothing changes
    last_ix := saved + s.shift;
  ELSIF saved < s.latest_offset AND of_epoch IS NULL THEN
    -- the processor has moved to lower offsets, where nothing has changed yet: it is known what is active at the cursor
    epoch := epoch + 1;
    first_ix := last_ix;
    shift := last_ix - saved;
  END IF;
END $body$;
CREATE OR REPLACE FUNCTION ${schema}.set_epoch(epoch int, is_local boolean DEFAULT false) RETURNS int LANGUAGE plpgsql AS $body$
BEGIN
  PERFORM ${schema}.projection_place(epoch);
  PERFORM set_config('canton_rx.epoch_of_${name}', coalesce(epoch::text, ''), coalesce(is_local, false));
  RETURN (SELECT p.epoch FROM ${schema}.projection_place() p);
END $body$;
CREATE OR REPLACE VIEW ${schema}.epochs AS
  SELECT e.epoch, e.first_offset, lead(e.first_ix) OVER (ORDER BY e.epoch) - 1 - (e.first_ix - e.first_offset) AS last_offset,
    e.first_ix, lead(e.first_ix) OVER (ORDER BY e.epoch) - 1 AS last_ix
  FROM ${epochs} e;
`;
}

/** Returns the functions that read the cursor of the processor, if the user may. */
const cursorFunctions = ({ schema, state }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.projection_saved(is_loading boolean) RETURNS bigint LANGUAGE plpgsql STABLE AS $body$
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
  IF cursors IS NULL THEN
    RETURN NULL;
  END IF;
  EXECUTE pg_catalog.format('SELECT (CASE WHEN cursor ->> ''loading'' IS NULL THEN cursor ->> ''offset''
      WHEN $2 THEN cursor ->> ''notBefore'' END)::bigint FROM %s WHERE name = $1', cursors)
    INTO saved USING s.cursor_at ->> 1, is_loading;
  RETURN saved;
END $body$;
-- whether the feed had continued at lower offsets before it reads all contracts again: else they are of a replica that lags
CREATE OR REPLACE FUNCTION ${schema}.projection_has_moved() RETURNS boolean LANGUAGE sql STABLE AS $body$
  SELECT coalesce(${schema}.projection_saved(true) < s.latest_offset, false) FROM ${state} s
$body$;`;
