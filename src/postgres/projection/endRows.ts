import type { ReconcileReason } from '../../contracts/ContractChange.js';
import type { Observable } from 'rxjs';
import type { ResetBatch } from '../../process/ContractsWork.js';
import { run } from '../connection.js';
import { isVisibleIn } from './tables.js';
import type { Writing } from './templates.js';

/**
 * Returns the assignments that end a row that no update has archived, and say why: it ended in a gap, is not visible any more,
 * or is no longer selected. Only such a row has a reason in the table.
 *
 * @param offset - the SQL of the offset at which it ends
 * @param shift - the SQL of what is added to it for its place
 */
export function endRow(
  reason: ResetBatch['reason'] | ReconcileReason,
  { onDeselected }: Pick<Writing, 'onDeselected'>,
  offset: string,
  shift: string,
): string {
  if (reason !== 'selectionChanged')
    return `archived_at_offset = ${offset}, archived_shift = ${shift}, end_reason = '${reason === 'pruned' ? 'pruned' : 'notVisible'}'`;
  const ended = (value: string): string => `CASE WHEN ${onDeselected === 'end'} THEN ${value} END`;
  return `archived_at_offset = ${ended(offset)}, archived_shift = ${ended(shift)}, end_reason = '${reason}'`;
}

/**
 * Makes contracts that come back the same as if they had never been away: of a contract that is active again, the row that
 * had ended without an archival goes, and the new one takes the place of its creation.
 *
 * @param isNew - the condition on the new rows `n`
 */
export const resumeRows = (
  { tx, names }: Pick<Writing, 'tx' | 'names'>,
  isNew: string,
  values: readonly unknown[] = [],
): Observable<unknown> =>
  run(
    tx,
    `WITH gone AS (
      DELETE FROM ${names.contracts} c USING ${names.contracts} n
      WHERE n.contract_id = c.contract_id AND n.template_pk = c.template_pk AND ${isNew}
        AND n.archived_at_offset IS NULL AND n.end_reason IS NULL
        AND c.end_reason IS NOT NULL AND ${isVisibleIn(names)}
      RETURNING c.contract_id, c.template_pk, c.created_at_offset, c.created_node_id, c.created_shift, c.metadata
    )
    UPDATE ${names.contracts} n SET created_at_offset = g.created_at_offset, created_node_id = g.created_node_id,
      created_shift = g.created_shift, metadata = coalesce(n.metadata, g.metadata)
    FROM gone g
    WHERE n.contract_id = g.contract_id AND n.template_pk = g.template_pk AND ${isNew}
      AND n.archived_at_offset IS NULL AND n.end_reason IS NULL`,
    values,
  );
