import type { ExercisedEvent } from '../../codecs/Event.js';
import type { Reassignment } from '../../codecs/Reassignment.js';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ContractsDifference, ContractsUpdated, ReconcileReason } from '../../contracts/ContractChange.js';
import {
  type Row,
  toStorableJson,
  type contractColumns,
  type exerciseColumns,
  type updateColumns,
  isVisibleIn,
} from './tables.js';
import type { TemplateList, Writing } from './templates.js';
import type { Observable } from 'rxjs';
import type { ResetBatch } from '../../process/ContractsWork.js';
import { run } from '../connection.js';

/** A contract, or a view of it. Its template is the number in the list of the batch, and then the key. */
export type ContractRow = Row<typeof contractColumns>;

/** An exercise. Its choice is the number in the list of the batch. */
type ExerciseRow = Row<typeof exerciseColumns>;

/** The location of a contract. */
type LocationColumns = Pick<ContractRow, 'synchronizer_id' | 'in_flight_to' | 'reassignment_counter'>;

/** Returns the rows of a contract: one with its arguments, and one for each view. */
export function rowsOf(contract: AnyContract, templates: TemplateList): ContractRow[] {
  const { templateId, packageName, createArgument, interfaceViews } = contract.createdEvent;
  const views = interfaceViews.map(({ interfaceId, viewValue }) =>
    contractRow(contract, templates.numberOf('interface', interfaceId), viewValue),
  );
  // a contract without arguments and views is still a contract
  if (createArgument === undefined && views.length > 0) return views;
  return [contractRow(contract, templates.numberOf('template', templateId, packageName), createArgument), ...views];
}

function contractRow(contract: AnyContract, template: number, value: unknown): ContractRow {
  const { createdEvent: event } = contract;
  const { texts, asSent } = toStorableJson([value, event.contractKey]);
  return {
    template_pk: template,
    contract_id: event.contractId,
    created_at_offset: event.offset,
    created_node_id: event.nodeId,
    created_effective_at: event.createdAt,
    ...locationColumns(contract),
    payload: texts[0],
    contract_key: texts[1],
    as_sent: asSent,
    signatories: event.signatories,
    observers: event.observers,
    witnesses: event.witnessParties,
    metadata: event.createdEventBlob === '' ? undefined : event.createdEventBlob,
  };
}

/** Returns the location of a contract. A contract in flight has the synchronizer that it left. */
export const locationColumns = ({ location, reassignmentCounter }: AnyContract): LocationColumns => ({
  reassignment_counter: reassignmentCounter,
  ...('inFlight' in location
    ? { synchronizer_id: location.inFlight.source, in_flight_to: location.inFlight.target }
    : { synchronizer_id: location.synchronizerId, in_flight_to: undefined }),
});

/** Returns the row of an update. */
export const updateRow = ({ update, ...change }: ContractsUpdated): Row<typeof updateColumns> => ({
  offset: change.offset,
  update_id: change.updateId,
  effective_at: effectiveAt({ ...change, update }),
  record_time: change.recordTime,
  synchronizer_id: change.synchronizerId,
  workflow_id: update.workflowId === '' ? undefined : update.workflowId,
  command_id: update.commandId === '' ? undefined : update.commandId,
  trace_context: toStorableJson([update.traceContext]).texts[0],
  external_transaction_hash: 'externalTransactionHash' in update ? update.externalTransactionHash : undefined,
  paid_traffic_cost: update.paidTrafficCost,
  ...(update._tag === 'Reassignment' && reassignedBy(update, change)),
});

/**
 * The synchronizers of a reassignment, which all of its events have, and how many contracts it unassigned and assigned. A
 * participant may send events of contracts that were not selected together with those that were.
 */
function reassignedBy(
  { events }: Reassignment,
  { added, removed, moved }: ContractsDifference,
): Partial<Row<typeof updateColumns>> {
  const contracts = [...added, ...removed, ...moved.map(({ contract }) => contract)];
  const ids = new Set(contracts.map(({ contractId }) => contractId));
  const own = events
    .filter((event) => event._tag === 'AssignedEvent' || event._tag === 'UnassignedEvent')
    .filter((event) => ids.has(event._tag === 'AssignedEvent' ? event.createdEvent.contractId : event.contractId));
  const assigned = own.filter(({ _tag }) => _tag === 'AssignedEvent').length;
  const [first] = own;
  return first === undefined
    ? {}
    : { reassigned_from: first.source, reassigned_to: first.target, assigned, unassigned: own.length - assigned };
}

/** Returns the ledger time of an update. A reassignment has none; its record time is returned instead. */
export const effectiveAt = ({ update, recordTime }: Pick<ContractsUpdated, 'update' | 'recordTime'>): string =>
  update._tag === 'Transaction' ? update.effectiveAt : recordTime;

/** Returns the row of an exercise. */
export function exerciseRow(event: ExercisedEvent, change: ContractsUpdated, templates: TemplateList): ExerciseRow {
  const { texts, asSent } = toStorableJson([event.choiceArgument, event.exerciseResult]);
  return {
    template_pk: templates.numberOf('choice', event.templateId, event.packageName, event.choice),
    contract_id: event.contractId,
    exercised_at_offset: change.offset,
    node_id: event.nodeId,
    last_descendant_node_id: event.lastDescendantNodeId,
    exercised_effective_at: effectiveAt(change),
    interface_id: event.interfaceId,
    consuming: event.consuming,
    synchronizer_id: change.synchronizerId,
    argument: texts[0],
    result: texts[1],
    as_sent: asSent,
    controllers: event.actingParties,
    witnesses: event.witnessParties,
  };
}

/**
 * The size of the JSON in a statement, in characters. PostgreSQL accepts at most 256 MB, and needs several times as
 * much memory.
 */
export const maxPartSize = 16_000_000;

/** Returns the size of the fields of a row that may be large, in characters. */
export const sizeOf = (row: ContractRow | ExerciseRow): number => {
  const json = lengthOf(row.as_sent);
  return 'node_id' in row
    ? json + lengthOf(row.argument) + lengthOf(row.result)
    : json + lengthOf(row.payload) + lengthOf(row.contract_key) + lengthOf(row.metadata);
};

const lengthOf = (text: string | undefined): number => text?.length ?? 0;

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
