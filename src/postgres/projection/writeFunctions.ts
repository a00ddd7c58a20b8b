import {
  type Columns,
  contractColumns,
  editColumns,
  exerciseColumns,
  namesOf,
  rowsFrom,
  templateColumns,
  updateColumns,
} from './columns.js';
import { isVisibleIn, type ProjectionSchema } from './projectionSchema.js';

/** The cursor of the processor, as its store sets it in its transactions: the table, and the name of the processor. */
export const cursorAt = `nullif(current_setting('canton_rx.cursor', true), '')::json`;

/** Whether the processor of this transaction writes the projection: it must be the one that began the last load. */
export const isOwner = `cursor_at::text IS NOT DISTINCT FROM ${cursorAt}::text`;

/**
 * Returns the functions with which the processor writes. Their statements are planned once, for few rows of input: each
 * contract is found by its ID, whatever the planner assumes about a table that has just been loaded or was empty.
 */
export const writeFunctions = (names: ProjectionSchema): string => `
${templatesFunction(names)}
${changesFunction(names)}
${loadFunction(names)}
`;

/** Why a processor may not continue. */
export const replaced = 'another processor writes it, or it was replaced since the cursor was saved';

const byId = 'SET jit = off SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off';

/** Whether a contract is active. Written so that only the index by ID is useful. */
const isActive = (names: ProjectionSchema): string =>
  `coalesce(c.archived_at_offset, -1) < 0 AND ${isVisibleIn(names)}`;

/** Inserts new templates, renames those whose types now have other names, and returns the keys of all. */
const templatesFunction = ({ schema, templates }: ProjectionSchema): string => {
  const isSame = 't.payload_type = n.payload_type AND t.template_id = n.template_id AND t.choice = n.choice';
  // a known package name is kept if neither the query nor the JSON has one
  const isOther = `(t.type_name IS DISTINCT FROM n.type_name
    OR n.package_name IS NOT NULL AND t.package_name IS DISTINCT FROM n.package_name)`;
  const input = rowsFrom('list', { number: 'int', ...templateColumns });
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_templates_of(list jsonb) RETURNS int[] LANGUAGE plpgsql SET jit = off AS $body$
BEGIN
  IF NOT EXISTS (SELECT FROM ${input} AS n LEFT JOIN ${templates} t ON ${isSame} WHERE t.template_pk IS NULL OR ${isOther}) THEN
    RETURN ARRAY(SELECT t.template_pk FROM ${input} AS n JOIN ${templates} t ON ${isSame} ORDER BY n.number);
  END IF;
  UPDATE ${templates} t SET type_name = n.type_name, package_name = coalesce(n.package_name, t.package_name),
    template_fqn = CASE WHEN n.package_name IS NULL THEN t.template_fqn ELSE n.template_fqn END
    FROM ${input} AS n WHERE ${isSame} AND ${isOther};
  INSERT INTO ${templates} (${namesOf(templateColumns)})
    SELECT ${namesOf(templateColumns)} FROM ${input} AS n WHERE NOT EXISTS (SELECT FROM ${templates} t WHERE ${isSame});
  RETURN ARRAY(SELECT t.template_pk FROM ${input} AS n JOIN ${templates} t ON ${isSame} ORDER BY n.number);
END $body$;`;
};

/** Writes changes, and returns whether there are rows to remove that no reader sees. */
const changesFunction = (names: ProjectionSchema): string => {
  const { schema, name, state, contracts, updates, exercises } = names;
  const insert = (table: string, part: string, columns: Columns): string => {
    const { template_pk, ...others } = columns;
    const keyed = template_pk === undefined ? '' : 'template_pk, ';
    return `
  IF work -> '${part}' <> '[]' THEN
    INSERT INTO ${table} (generation, ${keyed}${namesOf(others)})
      SELECT current_generation, ${template_pk === undefined ? '' : 'keys[r.template_pk + 1], '}${namesOf(others)}
      FROM ${rowsFrom(`work -> '${part}'`, columns)} AS r;
  END IF;`;
  };
  return `
CREATE OR REPLACE FUNCTION ${schema}.projection_write(work jsonb) RETURNS boolean LANGUAGE plpgsql ${byId} AS $body$
DECLARE
  current_generation int;
  has_garbage boolean;
  keys int[];
  missing bigint;
BEGIN
  UPDATE ${state} SET latest_offset = (work ->> 'last')::bigint
    WHERE ${isOwner} AND loading IS NULL AND latest_offset < (work ->> 'first')::bigint
    RETURNING visible[cardinality(visible)], cardinality(garbage) > 0 INTO current_generation, has_garbage;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the projection in the schema ${name} does not end before offset %: ${replaced}', work ->> 'first';
  END IF;
  IF work -> 'templates' <> '[]' THEN
    keys := ${schema}.projection_templates_of(work -> 'templates');
  END IF;
  IF work -> 'edits' <> '[]' THEN
    WITH edited AS (
      UPDATE ${contracts} c SET
        synchronizer_id = e.synchronizer_id, in_flight_to = e.in_flight_to,
        reassignment_counter = e.reassignment_counter, archived_at_offset = e.archived_at_offset,
        archived_node_id = e.archived_node_id, archived_effective_at = e.archived_effective_at
      FROM ${rowsFrom(`work -> 'edits'`, editColumns)} AS e
      WHERE c.contract_id = e.contract_id AND ${isActive(names)}
      RETURNING c.contract_id
    )
    SELECT jsonb_array_length(work -> 'edits') - count(DISTINCT contract_id) INTO missing FROM edited;
    -- a projection that has lost a contract may have lost others
    IF missing <> 0 THEN
      RAISE EXCEPTION '% contracts that were moved or archived are not in the projection', missing;
    END IF;
  END IF;
  ${insert(contracts, 'contracts', contractColumns)}
  ${insert(updates, 'updates', updateColumns)}
  ${insert(exercises, 'exercises', exerciseColumns)}
  RETURN has_garbage;
END $body$;`;
};

/** Inserts contracts of a snapshot that are not in the projection, and records those that are. */
const loadFunction = (names: ProjectionSchema): string => `
CREATE OR REPLACE FUNCTION ${names.schema}.projection_load(loaded jsonb, into_generation int)
RETURNS void LANGUAGE plpgsql ${byId} AS $body$
BEGIN
  WITH r AS MATERIALIZED (SELECT * FROM ${rowsFrom('loaded', contractColumns)} AS r),
  known AS MATERIALIZED (
    SELECT r.contract_id, r.template_pk, r.synchronizer_id, r.in_flight_to, r.reassignment_counter,
      CASE WHEN c.payload IS DISTINCT FROM r.payload THEN r.payload END AS payload
    FROM r JOIN ${names.contracts} c ON c.contract_id = r.contract_id AND c.template_pk = r.template_pk
    WHERE ${isActive(names)}
  ), noted AS (
    INSERT INTO ${names.kept} (contract_id, template_pk, synchronizer_id, in_flight_to, reassignment_counter, payload)
    SELECT * FROM known
  )
  INSERT INTO ${names.contracts} (generation, ${namesOf(contractColumns)})
  SELECT into_generation, ${namesOf(contractColumns)} FROM r
  WHERE NOT EXISTS (SELECT FROM known k WHERE k.contract_id = r.contract_id AND k.template_pk = r.template_pk);
END $body$;`;
