import { concat, concatMap, EMPTY, map, type Observable } from 'rxjs';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ResetBatch } from '../../process/ContractsWork.js';
import { isVisibleIn } from './projectionSchema.js';
import { rowsOf } from './rows.js';
import { removeGarbage } from './history.js';
import { loadContracts, loadNewContracts, run, withKeys, type Writing, writeTemplates } from './statements.js';
import { TemplateList } from './TemplateList.js';
import { cursorAt, isOwner, replaced } from './writeFunctions.js';

/**
 * Writes a batch of a snapshot into a generation that no reader sees. The last batch makes it visible, in the same
 * transaction. A snapshot that follows pruning is added to the contracts that are there; any other snapshot replaces
 * them.
 */
export const writeReset = (writing: Writing, batch: ResetBatch): Observable<unknown> =>
  concat(
    batch.isFirst ? beginLoad(writing, batch) : EMPTY,
    readState(writing).pipe(
      concatMap((state) =>
        concat(
          state.hasGarbage ? removeGarbage(writing) : EMPTY,
          batch.contracts.length === 0 ? EMPTY : load(writing, state, batch.contracts),
          batch.isLast ? concat(endLoad(writing, state, batch), analyze(writing)) : EMPTY,
        ),
      ),
    ),
  );

/** The state of a load, after its first batch. */
interface LoadState {
  /** The generation of its rows. */
  readonly loading: number;
  /** Whether its contracts replace the others or are added to them. */
  readonly replaces: boolean;
  /** Whether there are rows to remove that no reader sees. */
  readonly hasGarbage: boolean;
}

/**
 * Reads the state of a load, and locks it until the end of the transaction, so that no other processor takes over in
 * the meantime.
 */
const readState = ({ tx, names }: Writing): Observable<LoadState> =>
  run(
    tx,
    `SELECT loading, replaces, cardinality(garbage) > 0 AS "hasGarbage" FROM ${names.state}
    WHERE loading IS NOT NULL AND ${isOwner} FOR UPDATE`,
  ).pipe(
    map(([state]) => {
      if (state === undefined) throw new Error(`the load into the schema ${names.name} cannot continue: ${replaced}`);
      return state as LoadState;
    }),
  );

/**
 * Begins a load. The rows of an earlier, incomplete load are of a generation that never becomes visible. From now on
 * only the processor of this load can write; rows of another one are replaced.
 */
const beginLoad = ({ tx, names }: Writing, { reason, offset }: ResetBatch): Observable<unknown> =>
  concat(
    run(
      tx,
      `UPDATE ${names.state} SET generation = generation + 1, loading = generation + 1,
        garbage = array_remove(garbage || loading, NULL),
        replaces = NOT ($1 AND cardinality(visible) > 0 AND coalesce(latest_offset <= $2, false) AND ${isOwner}),
        cursor_at = ${cursorAt}`,
      [reason === 'pruned' || reason === 'packageFound', offset],
    ),
    // after locking the state, to remove the records of a concurrent load
    run(tx, `DELETE FROM ${names.kept}`),
  );

const load = (
  writing: Writing,
  { loading, replaces }: LoadState,
  contracts: readonly AnyContract[],
): Observable<unknown> => {
  const { tx, names } = writing;
  const templates = new TemplateList(writing.nameTemplate);
  const rows = contracts.flatMap((contract) => rowsOf(contract, templates));
  const write = replaces ? loadContracts : loadNewContracts;
  return writeTemplates(tx, names, templates).pipe(concatMap((keys) => write(writing, loading, withKeys(rows, keys))));
};

const endLoad = (writing: Writing, { replaces }: LoadState, batch: ResetBatch): Observable<unknown> =>
  replaces ? replace(writing, batch) : extend(writing, batch);

/** Makes the contracts of the load visible in place of all others. */
const replace = ({ tx, names }: Writing, { offset }: ResetBatch): Observable<unknown> =>
  run(
    tx,
    `UPDATE ${names.state} SET garbage = garbage || visible, visible = ARRAY[loading], loading = NULL,
      latest_offset = $1, oldest_offset = $1`,
    [offset],
  );

/**
 * Ends the contracts that are not in the load, updates those whose location has changed, and makes the new ones
 * visible.
 */
const extend = ({ tx, names }: Writing, { reason, offset }: ResetBatch): Observable<unknown> => {
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
    run(tx, `UPDATE ${names.state} SET visible = visible || loading, loading = NULL, latest_offset = $1`, [offset]),
    run(tx, `DELETE FROM ${names.kept}`),
  );
};

/** Updates the planner's statistics of the table at once, instead of within minutes. */
const analyze = ({ tx, names }: Writing): Observable<unknown> => run(tx, `ANALYZE (SKIP_LOCKED) ${names.contracts}`);
