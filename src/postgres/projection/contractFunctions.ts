import { isVisibleIn, type ProjectionSchema } from './projectionSchema.js';

/** The columns of a contract, and their types. */
const columnsOf = ({ schema }: ProjectionSchema): string => `
  template_fqn text, payload_type text,
  create_event_id ${schema}.event_id, created_at_offset bigint, created_effective_at timestamptz,
  archive_event_id ${schema}.event_id, archived_at_offset bigint, archived_effective_at timestamptz,
  contract_id text, payload jsonb, contract_key jsonb,
  package_name text, package_id text,
  signatories text[], observers text[], witnesses text[], metadata bytea,
  synchronizer_id text, reassignment_counter bigint, in_flight_to text,
  type_name text, archived_in_gap boolean, as_sent json`;

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
    t.type_name, c.archived_in_gap, c.as_sent
  FROM ${source} c JOIN ${templates} t ON t.template_pk = c.template_pk`;

/**
 * Returns the functions that return contracts. Each is a single plain query, which the planner inlines: conditions on
 * its columns can use indexes. Sub-selects without a reference to the row run once. The planner does not know their
 * values, so a condition that nearly all rows meet is written such that the planner expects this, and does not use an
 * index for it.
 */
export function contractFunctions(names: ProjectionSchema): string {
  const { schema, state, contracts } = names;
  const columns = columnsOf(names);
  const isVisible = isVisibleIn(names);
  const isNamed = `(coalesce($1, '') = '' OR c.template_pk = ANY ((SELECT ${schema}.projection_find_templates($1))::int[]))`;
  const at = `(SELECT ${schema}.projection_scope_at($2))`;
  const stays = `(
    SELECT * FROM ${contracts} a WHERE a.archived_at_offset IS NULL
    UNION ALL SELECT * FROM ${contracts} b WHERE b.archived_at_offset > ${at})`;
  const from = `(SELECT ${schema}.projection_scope_from($2))`;
  const to = `(SELECT ${schema}.projection_scope_to($3))`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.active(name text DEFAULT NULL, at bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names, stays)}
  WHERE ${isVisible} AND ${isNamed} AND c.created_at_offset + 0 <= ${at}
$body$;
CREATE OR REPLACE FUNCTION ${schema}.creates(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names)}
  WHERE c.generation = ANY ((SELECT s.visible FROM ${state} s)::int[]) AND ${isNamed} AND c.created_at_offset BETWEEN ${from} AND ${to}
$body$;
CREATE OR REPLACE FUNCTION ${schema}.archives(name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${selectFrom(names)}
  WHERE ${isVisible} AND ${isNamed} AND c.archived_at_offset BETWEEN ${from} AND ${to}
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

const range = 'from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL';

/** Returns a function that counts the rows of another one. */
const summary = (schema: string, of: string, parameters: string, values: string): string => `
CREATE OR REPLACE FUNCTION ${schema}.summary_${of}(${parameters})
RETURNS TABLE (template_fqn text, payload_type text, count bigint) LANGUAGE sql STABLE AS $body$
  SELECT c.template_fqn, c.payload_type, count(*) FROM ${schema}.${of}(${values}) c GROUP BY 1, 2 ORDER BY 1, 2
$body$;`;
