import type { ExercisedEvent } from '../../codecs/Event.js';
import type { AnyContract } from '../../contracts/Contract.js';
import type { ContractsChanged } from '../../contracts/ContractChange.js';
import type { TemplateList } from './TemplateList.js';
import { toStorableJson } from './toJson.js';

/** The location of a contract, as columns. */
interface LocationColumns {
  readonly synchronizer_id: string;
  readonly in_flight_to: string | undefined;
  readonly reassignment_counter: number;
}

/** The end of a contract, as columns. */
export interface ArchiveColumns {
  readonly archived_at_offset?: number;
  readonly archived_node_id?: number | undefined;
  readonly archived_effective_at?: string;
}

/** A contract, or a view of it, as a row. */
export interface ContractRow extends LocationColumns, ArchiveColumns {
  /** The number of its template or interface in the list of the batch, and then its key. */
  template_pk: number;
  readonly contract_id: string;
  readonly created_at_offset: number;
  readonly created_node_id: number;
  readonly created_effective_at: string;
  readonly payload: string | undefined;
  readonly contract_key: string | undefined;
  readonly as_sent: string | undefined;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly witnesses: readonly string[];
  readonly metadata: string | undefined;
}

/** A change to a contract in the table: it was moved or archived. */
export interface ContractEdit extends LocationColumns, ArchiveColumns {
  readonly contract_id: string;
}

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

/** An update, as a row. */
export interface UpdateRow {
  readonly offset: number;
  readonly update_id: string;
  readonly effective_at: string;
  readonly record_time: string;
  readonly synchronizer_id: string | undefined;
  readonly workflow_id: string | undefined;
  readonly command_id: string | undefined;
  readonly trace_context: string | undefined;
  readonly external_transaction_hash: string | undefined;
  readonly paid_traffic_cost: number | undefined;
}

/** Returns the row of an update. */
export const updateRow = ({ offset, updateId, synchronizerId, recordTime, update }: ContractsChanged): UpdateRow => ({
  offset,
  update_id: updateId,
  effective_at: effectiveAt({ update, recordTime }),
  record_time: recordTime,
  synchronizer_id: synchronizerId,
  workflow_id: update.workflowId === '' ? undefined : update.workflowId,
  command_id: update.commandId === '' ? undefined : update.commandId,
  trace_context: toStorableJson([update.traceContext]).texts[0],
  external_transaction_hash: 'externalTransactionHash' in update ? update.externalTransactionHash : undefined,
  paid_traffic_cost: update.paidTrafficCost,
});

/** Returns the ledger time of an update. A reassignment has none; its record time is returned instead. */
export const effectiveAt = ({ update, recordTime }: Pick<ContractsChanged, 'update' | 'recordTime'>): string =>
  update._tag === 'Transaction' ? update.effectiveAt : recordTime;

/** An exercise, as a row. */
export interface ExerciseRow {
  /** The number of the choice in the list of the batch, and then its key. */
  template_pk: number;
  readonly contract_id: string;
  readonly exercised_at_offset: number;
  readonly node_id: number;
  readonly last_descendant_node_id: number;
  readonly exercised_effective_at: string;
  readonly interface_id: string | undefined;
  readonly consuming: boolean;
  readonly synchronizer_id: string | undefined;
  readonly argument: string | undefined;
  readonly result: string | undefined;
  readonly as_sent: string | undefined;
  readonly controllers: readonly string[];
  readonly witnesses: readonly string[];
}

/** Returns the row of an exercise. */
export function exerciseRow(event: ExercisedEvent, change: ContractsChanged, templates: TemplateList): ExerciseRow {
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
