import { concat, concatMap, defer, EMPTY, type Observable } from 'rxjs';
import type { ContractsReconciled } from '../../contracts/ContractChange.js';
import { run } from '../connection.js';
import { endRow, resumeRows } from './rows.js';
import { loadContracts, updateKept, updateWitnesses } from './loadContracts.js';
import { isActive, isOwner, replaced } from './tables.js';
import type { Writing } from './templates.js';

/**
 * Writes a change that no update made: the contracts were read again, and differ. The rows and their history remain.
 * Contracts that were not there get rows with the offset of their creation, as if they had always been there; those that
 * are not visible or not selected any more end at the offset of the change, and `end_reason` says why. One that had ended so,
 * and is back, is as if it had never ended. No update is recorded.
 *
 * To write the change again has no effect, so it may have the offset of the last change. With a lower offset, it was read
 * from another participant, at which the feed continues.
 */
export const writeReconciled = (
  writing: Writing,
  { reason, offset, added, removed, moved }: ContractsReconciled,
): Observable<unknown> => {
  const { tx, names } = writing;
  const present = [...added, ...moved.map(({ contract }) => contract)];
  return run(
    tx,
    `UPDATE ${names.state} SET latest_offset = $1, shift = ${names.schema}.projection_reach($1)
    WHERE ${isOwner} AND loading IS NULL AND latest_offset IS NOT NULL
    RETURNING visible[cardinality(visible)] AS generation, nullif(shift, 0) AS shift`,
    [offset],
  ).pipe(
    concatMap(([state]) => {
      const loading: unknown = state?.['generation'];
      if (typeof loading !== 'number')
        throw new Error(`the projection in the schema ${names.name} is not at offset ${offset}: ${replaced}`);
      return concat(
        run(tx, `DELETE FROM ${names.kept}`),
        run(
          tx,
          `UPDATE ${names.contracts} c SET ${endRow(reason, writing, '$1::bigint', '$3::bigint')}
          WHERE c.contract_id = ANY ($2::text[]) AND ${isActive(names)}`,
          [offset, removed.map(({ contractId }) => contractId), state?.['shift']],
        ),
        present.length === 0
          ? EMPTY
          : defer(() => loadContracts(writing, { loading, replaces: false, offset }, present)),
        updateKept(writing),
        added.length === 0
          ? EMPTY
          : resumeRows(writing, 'n.contract_id = ANY ($1::text[])', [added.map(({ contractId }) => contractId)]),
        reason === 'selectionChanged' ? updateWitnesses(writing, present) : EMPTY,
        run(tx, `DELETE FROM ${names.kept}`),
      );
    }),
  );
};
