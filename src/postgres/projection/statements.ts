import type { ClientBase, Pool, QueryResult, QueryResultRow } from 'pg';
import { defer, EMPTY, map, type Observable } from 'rxjs';
import type { ProjectionSchema } from './projectionSchema.js';
import type { ContractEdit, ContractRow, ExerciseRow, UpdateRow } from './rows.js';
import type { NameTemplate, TemplateList } from './TemplateList.js';
import { toStorableJson } from './toJson.js';

/** Where to write, and how to name templates. */
export interface Writing {
  readonly tx: ClientBase | Pool;
  readonly names: ProjectionSchema;
  readonly nameTemplate: NameTemplate;
}

/** Runs a statement. */
export const run = (tx: ClientBase | Pool, sql: string, values: readonly unknown[] = []): Observable<QueryResult> =>
  defer(() => tx.query<QueryResultRow>(sql, [...values]));

/** Rows as a parameter. */
const toParameter = (rows: readonly object[]): string => toStorableJson(rows).text;

const templateColumns =
  'payload_type, template_id, template_fqn, module_entity, entity, package_name, package_id, type_name';

/** Inserts templates that are new, and renames those whose types have other names in the query now. */
export const insertTemplates = ({ tx, names }: Writing, list: TemplateList): Observable<unknown> =>
  list.rows.length === 0
    ? EMPTY
    : run(
        tx,
        `WITH n AS (
          SELECT * FROM json_to_recordset($1) AS n(payload_type text, template_id text, template_fqn text,
            module_entity text, entity text, package_name text, package_id text, type_name text)
        ), renamed AS (
          UPDATE ${names.templates} t SET type_name = n.type_name FROM n
          WHERE t.payload_type = n.payload_type AND t.template_id = n.template_id AND t.type_name IS DISTINCT FROM n.type_name
        )
        INSERT INTO ${names.templates} (${templateColumns}) SELECT ${templateColumns} FROM n
        WHERE NOT EXISTS (SELECT FROM ${names.templates} t
          WHERE t.payload_type = n.payload_type AND t.template_id = n.template_id)`,
        [toParameter(list.rows)],
      );

/** The keys of templates by the numbers of the batch, from the parameter `$2`. */
const templateKeys = ({ templates }: ProjectionSchema): string => `
  (SELECT n.template, t.template_pk
   FROM json_to_recordset($2) AS n(template int, payload_type text, template_id text)
   JOIN ${templates} t ON t.payload_type = n.payload_type AND t.template_id = n.template_id) AS k`;

/** Columns of contracts that are inserted as they are in the rows. */
const contractColumns = {
  contract_id: 'text',
  created_at_offset: 'bigint',
  created_node_id: 'bigint',
  created_effective_at: 'timestamptz',
  archived_at_offset: 'bigint',
  archived_node_id: 'bigint',
  archived_effective_at: 'timestamptz',
  synchronizer_id: 'text',
  in_flight_to: 'text',
  reassignment_counter: 'bigint',
  payload: 'jsonb',
  contract_key: 'jsonb',
  signatories: 'text[]',
  observers: 'text[]',
  witnesses: 'text[]',
  as_sent: 'json',
};
const contractNames = Object.keys(contractColumns).join(', ');

/** The rows of the parameter `$1` with the keys of their templates. A row without a template fails to be inserted. */
export const contractInput = (names: ProjectionSchema): string => `
  (SELECT k.template_pk, ${contractNames}, decode(r.metadata, 'base64') AS metadata
   FROM json_to_recordset($1) AS r(template int, ${definitions(contractColumns)}, metadata text)
   LEFT JOIN ${templateKeys(names)} USING (template)) AS r`;

const definitions = (columns: Readonly<Record<string, string>>): string =>
  Object.entries(columns)
    .map(([name, type]) => `${name} ${type}`)
    .join(', ');

/** The columns of contracts that are inserted. */
export const insertedColumns = `template_pk, ${contractNames}, metadata`;

/** Inserts contracts into a generation. */
export const insertContracts = (
  { tx, names }: Writing,
  generation: number,
  rows: readonly ContractRow[],
  list: TemplateList,
): Observable<unknown> =>
  rows.length === 0
    ? EMPTY
    : run(
        tx,
        `INSERT INTO ${names.contracts} (generation, ${insertedColumns})
        SELECT $3, ${insertedColumns} FROM ${contractInput(names)}`,
        [toParameter(rows), toParameter(list.rows), generation],
      );

/** Moves and archives contracts, each of which must be active in the table. */
export const editContracts = ({ tx, names }: Writing, edits: readonly ContractEdit[]): Observable<unknown> =>
  edits.length === 0
    ? EMPTY
    : run(
        tx,
        `WITH e AS (
          SELECT * FROM json_to_recordset($1) AS e(contract_id text, synchronizer_id text, in_flight_to text,
            reassignment_counter bigint, archived_at_offset bigint, archived_node_id bigint, archived_effective_at timestamptz)
        ), edited AS (
          UPDATE ${names.contracts} c SET
            synchronizer_id = e.synchronizer_id, in_flight_to = e.in_flight_to,
            reassignment_counter = e.reassignment_counter, archived_at_offset = e.archived_at_offset,
            archived_node_id = e.archived_node_id, archived_effective_at = e.archived_effective_at
          FROM e
          WHERE c.contract_id = e.contract_id AND c.archived_at_offset IS NULL
            AND c.generation = ANY ((SELECT visible FROM ${names.state})::int[])
          RETURNING c.contract_id
        )
        SELECT count(DISTINCT contract_id) AS count FROM edited`,
        [toParameter(edits)],
      ).pipe(
        map(({ rows: [row] }) => {
          const missing = edits.length - Number((row as QueryResultRow | undefined)?.['count']);
          // a projection that has lost a contract may have lost others
          if (missing > 0)
            throw new Error(`${missing} contracts that were moved or archived are not in the projection`);
        }),
      );

/** Inserts updates into a generation. */
export const insertUpdates = (
  { tx, names }: Writing,
  generation: number,
  rows: readonly UpdateRow[],
): Observable<unknown> =>
  run(
    tx,
    `INSERT INTO ${names.updates} (generation, "offset", update_id, effective_at, record_time, synchronizer_id,
      workflow_id, command_id, trace_context, external_transaction_hash, paid_traffic_cost)
    SELECT $2, u.* FROM json_to_recordset($1) AS u("offset" bigint, update_id text, effective_at timestamptz,
      record_time timestamptz, synchronizer_id text, workflow_id text, command_id text, trace_context jsonb,
      external_transaction_hash text, paid_traffic_cost bigint)`,
    [toParameter(rows), generation],
  );

const exerciseColumns = {
  contract_id: 'text',
  exercised_at_offset: 'bigint',
  node_id: 'bigint',
  last_descendant_node_id: 'bigint',
  exercised_effective_at: 'timestamptz',
  choice: 'text',
  consuming: 'boolean',
  synchronizer_id: 'text',
  argument: 'jsonb',
  result: 'jsonb',
  controllers: 'text[]',
  witnesses: 'text[]',
  as_sent: 'json',
};

/** Inserts exercises into a generation. */
export const insertExercises = (
  { tx, names }: Writing,
  generation: number,
  rows: readonly ExerciseRow[],
  list: TemplateList,
): Observable<unknown> => {
  const columns = Object.keys(exerciseColumns).join(', ');
  return rows.length === 0
    ? EMPTY
    : run(
        tx,
        `INSERT INTO ${names.exercises} (generation, template_pk, ${columns})
        SELECT $3, k.template_pk, ${columns}
        FROM json_to_recordset($1) AS r(template int, ${definitions(exerciseColumns)})
        LEFT JOIN ${templateKeys(names)} USING (template)`,
        [toParameter(rows), toParameter(list.rows), generation],
      );
};
