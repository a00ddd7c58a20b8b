import type { ClientBase } from 'pg';
import { concat, concatMap, EMPTY, ignoreElements, map, type Observable, tap } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import { CursorError } from '../../errors/process.js';
import type { ResetBatch } from '../../process/ContractsWork.js';
import { run } from '../connection.js';
import { RepeatError } from '../databaseErrors.js';
import { endRow, resumeRows } from './rows.js';
import { removeGarbage } from './history.js';
import { loadContracts, updateKept, updateWitnesses } from './loadContracts.js';
import { cursorAt, isOwner, isVisibleIn, type ProjectionSchema, replaced } from './tables.js';
import type { Writing } from './templates.js';

/**
 * Writes a batch of a snapshot into a generation that no reader sees. The last batch makes it visible, in the same
 * transaction. A snapshot of the same ledger, after pruning or because it shows other contracts by now, is added to the
 * contracts that are there; any other snapshot replaces them.
 */
export const writeReset = (writing: Writing, batch: ResetBatch): Observable<unknown> =>
  concat(
    batch.isFirst ? concat(checkOwner(writing), checkReplaced(writing, batch), beginLoad(writing, batch)) : EMPTY,
    readState(writing).pipe(
      concatMap((state) =>
        concat(
          state.hasGarbage ? removeGarbage(writing) : EMPTY,
          batch.contracts.length === 0
            ? EMPTY
            : loadContracts(writing, { ...state, offset: batch.offset }, batch.contracts),
          mayBeOfOthers(batch) ? updateWitnesses(writing, batch.contracts) : EMPTY,
          batch.isLast ? concat(endLoad(writing, state, batch), analyze(writing)) : EMPTY,
        ),
      ),
    ),
  );

/** The rows that readers see. */
interface RowCounts {
  readonly contracts: number;
  readonly exercises: number;
  readonly updates: number;
  /** The name of the processor that wrote them, if its store reports it. */
  readonly processor: string | null;
}

/** Emits the number of rows that readers see; nothing if no load was ever complete. */
const countRows = ({ tx, names }: Writing): Observable<RowCounts> => {
  const count = (table: string): string =>
    `(SELECT count(*)::float8 FROM ${table} r WHERE r.generation = ANY (s.visible))`;
  return run(
    tx,
    `SELECT ${count(names.contracts)} AS contracts, ${count(names.exercises)} AS exercises,
      ${count(names.updates)} AS updates, s.cursor_at ->> 1 AS processor
    FROM ${names.state} s WHERE cardinality(s.visible) > 0`,
  ).pipe(concatMap((rows) => rows as readonly RowCounts[]));
};

/** Fails if the rows must not be replaced by those of another ledger. */
const checkReplaced = (writing: Writing, { reason }: ResetBatch): Observable<never> =>
  reason === 'ledgerReset' && writing.onReplaced === 'fail'
    ? countRows(writing).pipe(
        map(({ contracts, processor }) => {
          const text = `the schema ${writing.names.name} has ${contracts} contracts of a ledger that was restored or replaced since, and onReplaced is 'fail'`;
          throw new CursorError('ledger', processor ?? '', text);
        }),
      )
    : EMPTY;

/**
 * Fails if another processor has written the rows: it would end with an error, and its rows would be replaced. A processor
 * of another name may be a second service, or the same one under a new name. Locks the state, also if nothing is written
 * yet: of two processors that begin at the same time, one becomes the owner.
 */
const checkOwner = ({ tx, names }: Writing): Observable<never> =>
  run(
    tx,
    `SELECT cursor_at IS NULL OR ${isOwner} AS "isFree", cursor_at ->> 0 AS "table", cursor_at ->> 1 AS owner,
      ${cursorAt} ->> 1 AS own FROM ${names.state} FOR UPDATE`,
  ).pipe(
    map(([state]) => {
      if (state === undefined)
        throw new RepeatError(`the schema ${names.name} was created after the transaction began`);
      const { isFree, table, owner, own } = state as {
        readonly isFree: boolean;
        readonly table: string;
        readonly owner: string;
        readonly own: string | null;
      };
      if (isFree) return;
      throw new CursorError(
        'conflict',
        own ?? '',
        `the schema ${names.name} is written by the processor ${owner}, with its cursor in ${table}`,
        `use another schema. If ${owner} will not run again, remove its cursor with \`canton-rx processors reset\`: the next load then replaces its rows`,
      );
    }),
    ignoreElements(),
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
        replaces = NOT ($1 AND cardinality(visible) > 0 AND latest_offset IS NOT NULL AND ${isOwner}),
        cursor_at = ${cursorAt}
      RETURNING NOT replaces AND latest_offset > $2 AND NOT ${names.schema}.projection_has_moved() AS "isOld", latest_offset`,
      [keepsRows(reason), offset],
    ).pipe(
      tap(([state]) => {
        // of a replica that lags: neither does it replace the contracts, nor can it extend them
        if (state?.['isOld'] === true)
          throw new Error(
            `the contracts at offset ${offset} are older than those in the schema ${names.name}, which are at offset ${String(state['latest_offset'])}`,
          );
      }),
    ),
    // after locking the state, to remove the records of a concurrent load
    run(tx, `DELETE FROM ${names.kept}`),
  );

/** Whether the ledger is the same, so that the rows and their history remain. */
const keepsRows = (reason: ResetBatch['reason']): boolean => reason !== 'start' && reason !== 'ledgerReset';

/** Whether the contracts may be those of other parties than before. They are, too, if the ledger was pruned before these were read. */
const mayBeOfOthers = ({ reason }: ResetBatch): boolean => reason === 'selectionChanged' || reason === 'pruned';

const endLoad = (writing: Writing, { replaces }: LoadState, batch: ResetBatch): Observable<unknown> =>
  replaces ? replace(writing, batch) : extend(writing, batch);

/** Makes the contracts of the load visible in place of all others. */
const replace = (writing: Writing, { reason, offset }: ResetBatch): Observable<unknown> =>
  concat(
    countRows(writing).pipe(
      tap(({ contracts, exercises, updates }) => {
        const schema = writing.names.name;
        writing.report(() => ({ _tag: 'RowsReplaced', reason, schema, offset, contracts, exercises, updates }));
      }),
    ),
    showLoaded(writing, offset),
  );

const showLoaded = ({ tx, names }: Writing, offset: Offset): Observable<unknown> =>
  concat(
    run(
      tx,
      `UPDATE ${names.state} SET garbage = garbage || visible, visible = ARRAY[loading], loading = NULL,
      latest_offset = $1, shift = 0, oldest_ix = $1`,
      [offset],
    ),
    run(tx, `DELETE FROM ${names.epochs} WHERE epoch > 0`),
  );

/**
 * Ends the contracts that are not in the load, updates those whose location or payload has changed, and makes the new
 * ones visible. A payload may be absent now, because its view has failed.
 */
const extend = (writing: Writing, { reason, offset }: ResetBatch): Observable<unknown> => {
  const { tx, names, report } = writing;
  const isFollowed = `c.archived_at_offset IS NULL AND c.end_reason IS NULL AND ${isVisibleIn(names)}`;
  const end = endRow(reason, writing, '$1::bigint', 'nullif($2::bigint, 0)');
  return concat(
    reach(tx, names, offset).pipe(
      concatMap(({ after, afterIx, shift }) =>
        concat(
          run(
            tx,
            `WITH ended AS (
              UPDATE ${names.contracts} c SET ${end}
              WHERE ${isFollowed} AND NOT EXISTS (SELECT FROM ${names.kept} k
                WHERE k.contract_id = c.contract_id AND k.template_pk = c.template_pk)
              RETURNING 1
            )
            SELECT count(*)::int AS contracts FROM ended`,
            [offset, shift],
          ).pipe(
            tap(([row]) => {
              const contracts = Number(row?.['contracts']);
              const schema = names.name;
              // a load at the offset that was reached leaves out no update
              if (reason === 'pruned')
                report(() => ({ _tag: 'ContractsEnded', reason, schema, after, until: offset, contracts }));
            }),
          ),
          run(
            tx,
            `INSERT INTO ${names.gaps} (generation, after_ix, until_ix, reason)
            SELECT loading, $1, $2::bigint + $3::bigint, $4 FROM ${names.state}
            WHERE $1::bigint < $2::bigint + $3::bigint AND $4 = 'pruned'`,
            [afterIx, offset, shift, reason],
          ),
        ),
      ),
    ),
    resumeRows(writing, `n.generation = (SELECT s.loading FROM ${names.state} s)`),
    updateKept({ tx, names }),
    run(tx, `UPDATE ${names.state} SET visible = visible || loading, loading = NULL, latest_offset = $1`, [offset]),
    run(tx, `DELETE FROM ${names.kept}`),
  );
};

/** How far the rows have come before a load, and what is added to the offset of the load for its place. */
interface Reached {
  readonly after: Offset;
  readonly afterIx: number;
  readonly shift: number;
}

const reach = (tx: ClientBase, names: ProjectionSchema, offset: Offset): Observable<Reached> =>
  run(
    tx,
    `WITH before AS MATERIALIZED (SELECT latest_offset AS after, latest_offset + shift AS after_ix FROM ${names.state})
    UPDATE ${names.state} SET shift = ${names.schema}.projection_reach($1) FROM before
    RETURNING after::float8, after_ix::float8 AS "afterIx", shift::float8`,
    [offset],
  ).pipe(concatMap((rows) => rows as readonly unknown[] as readonly Reached[]));

/** Updates the planner's statistics of the table immediately, instead of within minutes. */
const analyze = ({ tx, names }: Writing): Observable<unknown> => run(tx, `ANALYZE (SKIP_LOCKED) ${names.contracts}`);
