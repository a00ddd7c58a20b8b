import { concat, concatMap, EMPTY, map, type Observable } from 'rxjs';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ResetBatch } from '../../process/ContractsWork.js';
import { isVisibleIn } from './projectionSchema.js';
import { rowsOf } from './rows.js';
import { removeGarbage } from './history.js';
import { loadContracts, loadNewContracts, run, withKeys, type Writing, writeTemplates } from './statements.js';
import { TemplateList } from './TemplateList.js';
import { cursorAt } from './writeFunctions.js';

/**
 * Writes a batch of a snapshot, into a generation that nobody sees. The last batch makes it visible, in the same transaction.
 * A snapshot that follows pruning adds to what is there; any other one replaces it.
 */
export const writeReset = (writing: Writing, batch: ResetBatch): Observable<unknown> =>
  concat(
    batch.isFirst ? beginLoad(writing, batch) : EMPTY,
    batch.contracts.length === 0 ? EMPTY : load(writing, batch.contracts),
    batch.isLast ? concat(endLoad(writing, batch), analyze(writing)) : EMPTY,
  );

/** Begins a load. What another one has left is of a generation that never becomes visible. */
const beginLoad = (writing: Writing, { reason, offset }: ResetBatch): Observable<unknown> => {
  const { tx, names } = writing;
  return concat(
    run(tx, `DELETE FROM ${names.kept}`),
    run(
      tx,
      `UPDATE ${names.state} SET generation = generation + 1, loading = generation + 1,
        garbage = array_remove(garbage || loading, NULL),
        replaces = NOT ($1 AND cardinality(visible) > 0 AND coalesce(latest_offset <= $2, false))
      RETURNING cardinality(garbage) > 0 AS "hasGarbage"`,
      [reason === 'pruned' || reason === 'packageFound', offset],
    ).pipe(concatMap(([row]) => (row?.['hasGarbage'] === true ? removeGarbage(writing) : EMPTY))),
  );
};

const load = (writing: Writing, contracts: readonly AnyContract[]): Observable<unknown> => {
  const { tx, names } = writing;
  const templates = new TemplateList(writing.nameTemplate);
  const rows = contracts.flatMap((contract) => rowsOf(contract, templates));
  return writeTemplates(tx, names, templates).pipe(
    concatMap((keys) =>
      run(tx, `SELECT loading, replaces FROM ${names.state} WHERE loading IS NOT NULL`).pipe(
        concatMap(([state]) => {
          if (state === undefined) throw new Error(`no load has begun in the schema ${names.name}`);
          const { loading, replaces } = state as { readonly loading: number; readonly replaces: boolean };
          return replaces
            ? loadContracts(writing, loading, withKeys(rows, keys))
            : loadNewContracts(writing, loading, withKeys(rows, keys));
        }),
      ),
    ),
  );
};

const endLoad = ({ tx, names }: Writing, { reason, offset }: ResetBatch): Observable<unknown> =>
  run(tx, `SELECT replaces FROM ${names.state}`).pipe(
    map(([state]) => state?.['replaces'] !== false),
    concatMap((replaces) => {
      if (replaces)
        return run(
          tx,
          `UPDATE ${names.state} SET garbage = garbage || visible, visible = ARRAY[loading], loading = NULL,
            latest_offset = $1, oldest_offset = $1, cursor_at = ${cursorAt}`,
          [offset],
        );
      const isVisible = `c.archived_at_offset IS NULL AND ${isVisibleIn(names)}`;
      return concat(
        run(
          tx,
          `UPDATE ${names.contracts} c SET archived_at_offset = $1, archived_in_gap = true
          WHERE ${isVisible} AND NOT EXISTS (SELECT FROM ${names.kept} k
            WHERE k.contract_id = c.contract_id AND k.template_pk = c.template_pk)`,
          [offset],
        ),
        run(
          tx,
          `UPDATE ${names.contracts} c SET synchronizer_id = k.synchronizer_id, in_flight_to = k.in_flight_to,
            reassignment_counter = k.reassignment_counter, payload = coalesce(k.payload, c.payload)
          FROM ${names.kept} k WHERE k.contract_id = c.contract_id AND k.template_pk = c.template_pk AND ${isVisible}
            AND (k.payload IS NOT NULL OR (k.synchronizer_id, k.in_flight_to, k.reassignment_counter)
              IS DISTINCT FROM (c.synchronizer_id, c.in_flight_to, c.reassignment_counter))`,
        ),
        run(
          tx,
          `INSERT INTO ${names.gaps} (generation, after_offset, until_offset, reason)
          SELECT loading, latest_offset, $1, $2 FROM ${names.state} WHERE latest_offset < $1`,
          [offset, reason],
        ),
        run(
          tx,
          `UPDATE ${names.state} SET visible = visible || loading, loading = NULL, latest_offset = $1,
            cursor_at = ${cursorAt}`,
          [offset],
        ),
        run(tx, `DELETE FROM ${names.kept}`),
      );
    }),
  );

/** Tells the planner what is in the table, as it would find out by itself within minutes. */
const analyze = ({ tx, names }: Writing): Observable<unknown> => run(tx, `ANALYZE (SKIP_LOCKED) ${names.contracts}`);
