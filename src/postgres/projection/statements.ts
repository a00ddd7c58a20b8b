import type { ClientBase, Pool, QueryResultRow } from 'pg';
import { concatMap, defer, EMPTY, map, type Observable, of } from 'rxjs';
import { type Columns, contractColumns, editColumns, namesOf, rowsFrom, templateColumns } from './columns.js';
import { canCopy, copyRows } from './copyRows.js';
import { isVisibleIn, type ProjectionSchema } from './projectionSchema.js';
import type { ContractEdit, ContractRow } from './rows.js';
import type { NameTemplate, TemplateList } from './TemplateList.js';
import { toJsonParameter } from './toJson.js';

/** Where to write, and how to name templates. */
export interface Writing {
  readonly tx: ClientBase;
  readonly names: ProjectionSchema;
  readonly nameTemplate: NameTemplate;
}

/** Runs a statement, and emits its rows. */
export const run = (
  db: ClientBase | Pool,
  sql: string,
  values: readonly unknown[] = [],
): Observable<readonly QueryResultRow[]> =>
  defer(() => db.query<QueryResultRow>(sql, [...values])).pipe(map(({ rows }) => rows));

/**
 * Inserts templates that are new, and renames those whose types have other names in the query now. Emits their keys in the
 * order of the list.
 */
export const writeTemplates = (
  db: ClientBase | Pool,
  { templates }: ProjectionSchema,
  list: TemplateList,
): Observable<readonly number[]> => {
  if (list.rows.length === 0) return of([]);
  const columns = namesOf(templateColumns);
  const isSame = 't.payload_type = n.payload_type AND t.template_id = n.template_id AND t.choice = n.choice';
  return run(
    db,
    `WITH n AS (SELECT * FROM ${rowsFrom('$1', { number: 'int', ...templateColumns })} AS n),
    renamed AS (
      UPDATE ${templates} t SET type_name = n.type_name FROM n WHERE ${isSame} AND t.type_name IS DISTINCT FROM n.type_name
    ), t AS (
      INSERT INTO ${templates} (${columns}) SELECT ${columns} FROM n
      WHERE NOT EXISTS (SELECT FROM ${templates} t WHERE ${isSame})
      RETURNING template_pk, payload_type, template_id, choice
    )
    SELECT k.template_pk FROM n JOIN (
      SELECT template_pk, payload_type, template_id, choice FROM t
      UNION ALL SELECT template_pk, payload_type, template_id, choice FROM ${templates}
    ) AS k USING (payload_type, template_id, choice) ORDER BY n.number`,
    [toJsonParameter(list.rows)],
  ).pipe(map((rows) => rows.map((row) => Number(row['template_pk']))));
};

/** Gives rows the keys of their templates in place of the numbers in the list of the batch. */
export function withKeys<R extends { template_pk: number }>(rows: readonly R[], keys: readonly number[]): readonly R[] {
  for (const row of rows) {
    const key = keys[row.template_pk];
    if (key === undefined) throw new Error('a template has no key');
    row.template_pk = key;
  }
  return rows;
}

/** Inserts rows into a generation. */
export const insertRows = (
  { tx }: Writing,
  table: string,
  columns: Columns,
  generation: number,
  rows: readonly object[],
): Observable<unknown> =>
  rows.length === 0
    ? EMPTY
    : run(
        tx,
        `INSERT INTO ${table} (generation, ${namesOf(columns)})
        SELECT $2, ${namesOf(columns)} FROM ${rowsFrom('$1', columns)} AS r`,
        [toJsonParameter(rows), generation],
      );

/** Inserts many contracts into a generation. */
export const loadContracts = (
  writing: Writing,
  generation: number,
  rows: readonly ContractRow[],
): Observable<unknown> => {
  const { tx, names } = writing;
  if (!canCopy(tx)) return insertRows(writing, names.contracts, contractColumns, generation, rows);
  const columns: Columns = { generation: 'int', ...contractColumns };
  return copyRows(
    tx,
    names.contracts,
    columns,
    rows.map((row) => ({ generation, ...row })),
  );
};

/** Moves and archives contracts, each of which must be active in the table. */
export const editContracts = ({ tx, names }: Writing, edits: readonly ContractEdit[]): Observable<unknown> =>
  edits.length === 0
    ? EMPTY
    : run(
        tx,
        `WITH edited AS (
          UPDATE ${names.contracts} c SET
            synchronizer_id = e.synchronizer_id, in_flight_to = e.in_flight_to,
            reassignment_counter = e.reassignment_counter, archived_at_offset = e.archived_at_offset,
            archived_node_id = e.archived_node_id, archived_effective_at = e.archived_effective_at
          FROM ${rowsFrom('$1', editColumns)} AS e
          WHERE c.contract_id = e.contract_id AND c.archived_at_offset IS NULL
            AND ${isVisibleIn(names)}
          RETURNING c.contract_id
        )
        SELECT count(DISTINCT contract_id) AS count FROM edited`,
        [toJsonParameter(edits)],
      ).pipe(
        concatMap(([row]) => {
          const missing = edits.length - Number(row?.['count']);
          // a projection that has lost a contract may have lost others
          if (missing > 0)
            throw new Error(`${missing} contracts that were moved or archived are not in the projection`);
          return EMPTY;
        }),
      );
