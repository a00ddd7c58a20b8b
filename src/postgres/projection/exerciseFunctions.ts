import type { ProjectionSchema } from './projectionSchema.js';

/**
 * Returns the functions that return exercises. Each except the summary is a single plain query, like those for
 * contracts.
 */
export function exerciseFunctions({ schema, state, exercises, templates }: ProjectionSchema): string {
  const columns = `
  choice_fqn text, template_fqn text, choice text, consuming boolean,
  exercise_event_id ${schema}.event_id, exercised_at_offset bigint, exercised_effective_at timestamptz,
  contract_id text, argument jsonb, result jsonb, controllers text[], witnesses text[],
  last_descendant_node_id int, package_name text, package_id text, interface_id text, synchronizer_id text, as_sent json`;
  const select = `
  SELECT coalesce(t.package_name, t.package_id) || ':' || t.module || ':' || t.choice, t.template_fqn, t.choice, e.consuming,
    ROW(e.exercised_at_offset, e.node_id)::${schema}.event_id, e.exercised_at_offset, e.exercised_effective_at,
    e.contract_id COLLATE "default", e.argument, e.result, e.controllers, e.witnesses,
    e.last_descendant_node_id, t.package_name, t.package_id, e.interface_id, e.synchronizer_id COLLATE "default", e.as_sent
  FROM ${exercises} e JOIN ${templates} t ON t.template_pk = e.template_pk
  WHERE e.generation = ANY ((SELECT s.visible FROM ${state} s)::int[])`;
  return `
CREATE OR REPLACE FUNCTION ${schema}.exercises(choice_name text DEFAULT NULL, from_offset bigint DEFAULT NULL, to_offset bigint DEFAULT NULL)
RETURNS TABLE (${columns}) LANGUAGE sql STABLE AS $body$
  ${select}
  AND (coalesce($1, '') = '' OR e.template_pk = ANY ((SELECT ${schema}.projection_find_choices($1))::int[]))
  AND e.exercised_at_offset BETWEEN (SELECT ${schema}.projection_scope_from($2)) AND (SELECT ${schema}.projection_scope_to($3))
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
