import { isVisibleIn, ixOfContract, ixOfExercise, ixOfUpdate, type ProjectionSchema } from './tables.js';

/** Returns the functions with which readers find contracts and exercises. */
export const readFunctions = (names: ProjectionSchema): string =>
  contractFunctions(names) + updateFunctions(names) + exerciseFunctions(names) + indexFunction(names);

/** The columns of a contract, and their types. */
const columnsOf = ({ schema }: ProjectionSchema): string => `
  template_fqn text, payload_type text,
  create_event_id ${schema}.event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id ${schema}.event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, end_reason text, redaction_id text, as_sent json, created_ix bigint, archived_ix bigint`;

/**
 * Selects the same columns from the tables. Collations do not leave the schema, so that readers can join with their own
 * tables.
 */
const selectFrom = ({ schema, contracts, templates }: ProjectionSchema, source = contracts): string => `
  SELECT t.template_fqn, t.payload_type,
    ROW(c.created_at_offset, c.created_node_id)::${schema}.event_id, c.created_at_offset, c.created_effective_at,
    CASE WHEN c.archived_node_id IS NOT NULL THEN ROW(c.archived_at_offset, c.archived_node_id)::${schema}.event_id END,
    c.archived_at_offset, c.archived_effective_at,
    c.contract_id COLLATE "default", c.payload, c.contract_key,
    t.package_name, t.package_id,
    c.signatories, c.observers, c.witnesses, c.metadata,
    c.synchronizer_id COLLATE "default", c.reassignment_counter, c.in_flight_to COLLATE "default",
    t.type_name, coalesce(c.end_reason <> 'selectionChanged', false),
    coalesce(c.end_reason, CASE WHEN c.archived_at_offset IS NOT NULL THEN 'archived' END), c.redaction_id, c.as_sent, ${ixOfContract('c.').created}, ${ixOfContract('c.').archived}
  FROM ${source} c JOIN ${templates} t ON t.template_pk = c.template_pk`;

/**
 * Returns the functions that return contracts. Each is a single plain query, which the planner inlines: conditions on
 * its columns can use indexes. Sub-selects without a reference to the row run once. The planner does not know their
 * values, so a condition that nearly all rows meet is written such that the planner expects this, and does not use an
 * index for it. A condition without any column is checked first, even if there are no rows: names and offsets have one.
 */
function contractFunctions(names: ProjectionSchema): string {
  const { schema, state, contracts } = names;
  const columns = columnsOf(names);
  const isVisible = isVisibleIn(names);
  const find = `${schema}.projection_find_templates`;
  const found = `(SELECT ${find}($1))::int[]`;
  const named = (keys: string): string =>
    `${isKnown(find)} AND (coalesce($1, '') = '' OR c.template_pk = ANY (${keys}))`;
  const isNamed = named(`(${found})`);
  // unless only a few contracts are read in order, the index by template is better than a comparison with each contract
  const isNamedByIndex = named(`coalesce(${found}, ${schema}.projection_no_templates())`);
  // always true. The planner evaluates the call to estimate how many contracts have the name
  const hasEstimate = `((SELECT 1) = 1 OR coalesce($1, '') = '' OR c.template_pk = ANY (${find}($1)))`;
  const at = `(SELECT ${schema}.projection_scope_at($2))`;
  // the contracts that are active now are read in order, which conditions inside would prevent. With two bounds, the
  // planner expects few contracts that have ended since: sorting them costs little. They are not read without an offset
  const stays = `(SELECT *, false AS has_ended FROM ${contracts} UNION ALL SELECT *, true FROM ${contracts} b
    WHERE ${at} < ${maxOffset} AND b.archived_at_offset IS NOT NULL
      AND ${ixOfContract('b.').archived} > ${at} AND ${ixOfContract('b.').archived} < ${maxOffset})`;
  const isActive = `(c.has_ended OR c.archived_at_offset IS NULL)`;
  const from = `(SELECT ${schema}.projection_scope_from($2))`;
  const to = `(SELECT ${schema}.projection_scope_to($3))`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.active(name text DEFAULT NULL, at bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names, stays)}
  WHERE ${at} IS NOT NULL AND ${isVisible} AND ${isNamedByIndex} AND ${hasEstimate} AND ${isActive}
    AND ${ixOfContract('c.').created} + 0 <= ${at}
$body$;
CREATE OR REPLACE FUNCTION ${schema}.creates(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names)}
  WHERE c.generation = ANY ((SELECT s.visible FROM ${state} s)::int[]) AND ${isNamed} AND ${ixOfContract('c.').created} BETWEEN ${from} AND ${to}
$body$;
CREATE OR REPLACE FUNCTION ${schema}.archives(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names)}
  WHERE ${isVisible} AND ${isNamed} AND c.archived_at_offset IS NOT NULL
    AND ${ixOfContract('c.').archived} BETWEEN ${from} AND ${to}
$body$;
CREATE OR REPLACE FUNCTION ${schema}.lookup_contract(id text)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names)}
  WHERE c.contract_id = $1 AND ${isVisible}
$body$;
${summary(schema, 'active', 'at bigint DEFAULT NULL', 'NULL, $1')}
${summary(schema, 'creates', range, 'NULL, $1, $2')}
${summary(schema, 'archives', range, 'NULL, $1, $2')}
`;
}

/** The place (`ix`) at which a session reads that has not set one: that of the latest state. */
const maxOffset = '9223372036854775807';

/** Raises an error if the name in the first parameter is unknown or ambiguous. Has no column, so it is checked first. */
const isKnown = (find: string): string => `(coalesce($1, '') = '' OR (SELECT ${find}($1)) IS NOT NULL)`;

const range = 'from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL';

/** Returns a function that counts the rows of another one. */
const summary = (schema: string, of: string, parameters: string, values: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.summary_${of}(${parameters})
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM ${schema}.${of}(${values}) c GROUP BY 1, 2 ORDER BY 1, 2
$body$;`;

/** Returns the functions that count what happened in a range of offsets. */
const updateFunctions = ({ schema, state, updates }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.summary_updates(${range})
RETURNS TABLE (template_fqn text, payload_type text, creates bigint, archives bigint) LANGUAGE sql STABLE AS $body$
  SELECT u.template_fqn, u.payload_type, sum(u.creates)::bigint, sum(u.archives)::bigint FROM (
    SELECT c.template_fqn, c.payload_type, c.count AS creates, 0 AS archives FROM ${schema}.summary_creates($1, $2) c
    UNION ALL SELECT a.template_fqn, a.payload_type, 0, a.count FROM ${schema}.summary_archives($1, $2) a
  ) u GROUP BY 1, 2 ORDER BY 1, 2
$body$;
CREATE OR REPLACE FUNCTION ${schema}.summary_transients(${range})
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM ${schema}.creates(NULL, $1, $2) c
  WHERE c.archived_ix <= (SELECT ${schema}.projection_scope_to($2)) GROUP BY 1, 2 ORDER BY 1, 2
$body$;
CREATE OR REPLACE FUNCTION ${schema}.summary_reassignments(${range})
RETURNS TABLE (source text, target text, unassigned bigint, assigned bigint) LANGUAGE sql STABLE AS $body$
  SELECT u.reassigned_from COLLATE "default", u.reassigned_to COLLATE "default", sum(u.unassigned), sum(u.assigned)
  FROM ${updates} u WHERE u.reassigned_from IS NOT NULL AND u.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])
    AND ${ixOfUpdate('u.')} BETWEEN (SELECT ${schema}.projection_scope_from($1)) AND (SELECT ${schema}.projection_scope_to($2))
  GROUP BY 1, 2 ORDER BY 1, 2
$body$;
`;

/**
 * Returns the functions that return exercises. Each except the summary is a single plain query, like those for
 * contracts.
 */
function exerciseFunctions({ schema, state, exercises, templates }: ProjectionSchema): string {
  const columns = `
  choice_fqn text, template_fqn text, choice text, consuming boolean,
  exercise_event_id ${schema}.event_id, exercised_at_offset bigint, exercised_effective_at timestamptz,
  contract_id text, argument jsonb, result jsonb, controllers text[], witnesses text[],
  last_descendant_node_id int, package_name text, package_id text, interface_id text, synchronizer_id text, redaction_id text, as_sent json, exercised_ix bigint`;
  const select = `
  SELECT coalesce(t.package_name, t.package_id) || ':' || t.module || ':' || t.choice, t.template_fqn, t.choice, e.consuming,
    ROW(e.exercised_at_offset, e.node_id)::${schema}.event_id, e.exercised_at_offset, e.exercised_effective_at,
    e.contract_id COLLATE "default", e.argument, e.result, e.controllers, e.witnesses,
    e.last_descendant_node_id, t.package_name, t.package_id, e.interface_id, e.synchronizer_id COLLATE "default", e.redaction_id, e.as_sent,
    ${ixOfExercise('e.')}
  FROM ${exercises} e JOIN ${templates} t ON t.template_pk = e.template_pk
  WHERE e.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.exercises(choice_name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${select}
  AND ${isKnown(`${schema}.projection_find_choices`)}
  AND (coalesce($1, '') = '' OR e.template_pk = ANY ((SELECT ${schema}.projection_find_choices($1))::int[]))
  AND ${ixOfExercise('e.')} BETWEEN (SELECT ${schema}.projection_scope_from($2)) AND (SELECT ${schema}.projection_scope_to($3))
$body$;
CREATE OR REPLACE FUNCTION ${schema}.lookup_exercises(id text)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${select}
  AND e.contract_id = $1
$body$;
CREATE OR REPLACE FUNCTION ${schema}.summary_exercises(from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (template_fqn text, choice_fqn text, consuming boolean, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT e.template_fqn, e.choice_fqn, e.consuming, count(*) FROM ${schema}.exercises(NULL, $1, $2) e
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
$body$;
`;
}

/** Returns the function that creates an index on a field of payloads. */
const indexFunction = ({ schema, contracts }: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${schema}.create_index_for_contract(index_name text, name text, path text[], kind text DEFAULT 'btree')
RETURNS void LANGUAGE plpgsql AS $body$
DECLARE
  depth int := coalesce(cardinality(path), 0);
  expression text;
BEGIN
  IF kind IS NULL OR kind NOT IN ('btree', 'hash', 'gin', 'gist', 'spgist', 'brin') THEN
    RAISE EXCEPTION '"%" is not an index method', kind USING
      ERRCODE = 'invalid_parameter_value', HINT = 'Use btree, hash, gin, gist, spgist or brin.';
  ELSIF depth = 0 AND kind <> 'gin' OR array_position(path, NULL) IS NOT NULL THEN
    RAISE EXCEPTION 'a % index needs a path of field names', kind USING
      ERRCODE = 'invalid_parameter_value', HINT = 'Use a path such as ''{owner}'' or ''{owner,name}''.';
  END IF;
  -- cut off, it may be the name of another index, and then nothing would be created
  IF octet_length(index_name) > 63 THEN
    RAISE EXCEPTION 'the name of the index has more than 63 bytes' USING ERRCODE = 'name_too_long';
  END IF;
  -- raises an error for an unknown name
  PERFORM ${schema}.projection_find_templates(name);
  -- the expressions that queries use; a caller gives values only, because SQL from a caller could do anything
  expression := CASE
    WHEN depth = 0 THEN 'payload'
    WHEN depth = 1 THEN pg_catalog.format(CASE kind WHEN 'gin' THEN '(payload -> %L)' ELSE '(payload ->> %L)' END, path[array_lower(path, 1)])
    ELSE pg_catalog.format(CASE kind WHEN 'gin' THEN '(payload #> %L)' ELSE '(payload #>> %L)' END, path)
  END;
  EXECUTE pg_catalog.format('CREATE INDEX IF NOT EXISTS %I ON ${contracts} USING %I (%s%s%s)', index_name, kind,
    CASE WHEN kind = 'btree' AND coalesce(name, '') <> '' THEN 'template_pk, ' ELSE '' END, expression,
    CASE WHEN kind = 'gin' THEN ' jsonb_path_ops' ELSE '' END);
END $body$;
`;
