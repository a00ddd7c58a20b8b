import type { ClientBase, Pool, QueryResultRow } from 'pg';
import { concat, defer, map, type Observable, of } from 'rxjs';
import { type Columns, contractColumns, namesOf, rowsFrom } from './columns.js';
import { canCopy, copyRows } from './copyRows.js';
import { partsOf } from './parts.js';
import type { ProjectionSchema } from './projectionSchema.js';
import type { ContractRow } from './rows.js';
import type { KnownTemplate, NameTemplate, TemplateList } from './TemplateList.js';
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

/** Emits the templates, interfaces and choices that the projection has. */
export const readTemplates = (
  db: ClientBase | Pool,
  { templates }: ProjectionSchema,
): Observable<readonly KnownTemplate[]> =>
  run(db, `SELECT payload_type, template_id, choice, package_name FROM ${templates}`).pipe(
    map((rows) => rows as readonly KnownTemplate[]),
  );

/**
 * Inserts new templates, renames others to the names of the list, and emits the keys of all in the order of the list.
 */
export const writeTemplates = (
  db: ClientBase | Pool,
  { schema }: ProjectionSchema,
  list: TemplateList,
): Observable<readonly number[]> =>
  list.rows.length === 0
    ? of([])
    : run(db, `SELECT ${schema}.projection_templates_of($1) AS keys`, [toJsonParameter(list.rows)]).pipe(
        map(([row]) => (row?.['keys'] ?? []) as readonly number[]),
      );

/** Replaces the numbers in the rows, which refer to the list of the batch, with the keys of the templates. */
export function withKeys(rows: readonly ContractRow[], keys: readonly number[]): readonly ContractRow[] {
  for (const row of rows) {
    const key = keys[row.template_pk];
    if (key === undefined) throw new Error('a template has no key');
    row.template_pk = key;
  }
  return rows;
}

/** Inserts contracts of a snapshot into a generation. */
export function loadContracts(
  { tx, names }: Writing,
  generation: number,
  rows: readonly ContractRow[],
): Observable<unknown> {
  if (canCopy(tx)) {
    const columns: Columns = { generation: 'int', ...contractColumns };
    const copied = rows.map((row) => ({ generation, ...row }));
    return copyRows(tx, names.contracts, columns, copied);
  }
  const insert = `INSERT INTO ${names.contracts} (generation, ${namesOf(contractColumns)})
    SELECT $2, ${namesOf(contractColumns)} FROM ${rowsFrom('$1', contractColumns)} AS r`;
  return runInParts(tx, insert, generation, rows);
}

/** Inserts contracts of a snapshot that are not active in the table, and records those that are. */
export const loadNewContracts = (
  { tx, names }: Writing,
  generation: number,
  rows: readonly ContractRow[],
): Observable<unknown> => runInParts(tx, `SELECT ${names.schema}.projection_load($1, $2)`, generation, rows);

const runInParts = (
  tx: ClientBase,
  sql: string,
  generation: number,
  rows: readonly ContractRow[],
): Observable<unknown> =>
  concat(...partsOf(rows).map((part) => defer(() => run(tx, sql, [toJsonParameter(part), generation]))));
