import type { ProjectionSchema } from './projectionSchema.js';

/** Returns the functions that remove history, which need the tables of all versions, and those that create indexes. */
export function maintenanceFunctions({ schema, state, contracts, exercises, updates, gaps }: ProjectionSchema): string {
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
CREATE OR REPLACE FUNCTION ${schema}.create_index_for_contract(index_name text, name text, expression text, kind text DEFAULT 'btree')
RETURNS void LANGUAGE plpgsql AS $body$
BEGIN
  IF kind IS NULL OR kind NOT IN ('btree', 'hash', 'gin', 'gist', 'spgist', 'brin') THEN
    RAISE EXCEPTION '"%" is not an index method', kind USING
      ERRCODE = 'invalid_parameter_value', HINT = 'Use btree, hash, gin, gist, spgist or brin.';
  END IF;
  -- raises an error for an unknown name
  PERFORM ${schema}.projection_find_templates(name);
  EXECUTE pg_catalog.format('CREATE INDEX IF NOT EXISTS %I ON ${contracts} USING %I (%s%s)', index_name, kind,
    CASE WHEN kind = 'btree' AND coalesce(name, '') <> '' THEN 'template_pk, ' ELSE '' END, expression);
END $body$;
`;
}
