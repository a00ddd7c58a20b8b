import type { Participant } from '../participant/Participant.js';
import { generatedParties } from '../participant/parties.js';
import { makeContractId, makeTraceContext, makeUpdateId, sha256 } from '../wire/values.js';
import {
  archivedEvent,
  createdEvent,
  exercisedEvent,
  stakeholdersOf,
  type WireCreatedEvent,
  type WireEvent,
  type WireEventInput,
  type WireReassignment,
  type WireReassignmentEvent,
  type WireReassignmentEventInput,
  type WireTransaction,
  type WireUpdate,
  type WireUpdateInput,
  type WithEvents,
} from '../wire/WireUpdate.js';
import { contractFields } from './ContractHistory.js';
import type { Ledger, LedgerEntry } from './Ledger.js';

/** An update to append. */
export interface AppendedUpdate {
  readonly update: WireUpdateInput;
  /** The parties that submitted it, if known. */
  readonly submitters?: readonly string[];
}

/** Completes updates with default values, each after the previous one is committed. */
export function* completeUpdates(updates: Iterable<AppendedUpdate>, participant: Participant): Generator<LedgerEntry> {
  for (const { update, ...submitters } of updates) yield { update: completeUpdate(update, participant), ...submitters };
}

function completeUpdate(input: WireUpdateInput, participant: Participant): WireUpdate {
  if ('Transaction' in input) {
    return { Transaction: { value: completeTransaction(input.Transaction.value, participant) } };
  }
  if ('Reassignment' in input) {
    return { Reassignment: { value: completeReassignment(input.Reassignment.value, participant) } };
  }
  const { value } = input.TopologyTransaction;
  const header = completeHeader(value, participant);
  return { TopologyTransaction: { value: { events: [], ...value, ...header } } };
}

/** Completes a transaction with default values. */
export function completeTransaction(
  input: WithEvents<WireTransaction, WireEventInput>,
  participant: Participant,
): WireTransaction {
  const { ledger } = participant;
  const header = completeHeader(input, participant, synchronizerOf(input.events ?? [], ledger));
  const effectiveAt = input.effectiveAt ?? header.recordTime;
  return {
    commandId: '',
    workflowId: '',
    effectiveAt,
    externalTransactionHash: null,
    paidTrafficCost: null,
    transactionHash: null,
    ...input,
    ...header,
    events: completeEvents(input.events ?? [], { offset: header.offset, ledgerTime: effectiveAt }, ledger),
  };
}

/** The synchronizer of the first contract that events archive or exercise, if there is one. */
function synchronizerOf(inputs: readonly WireEventInput[], { contracts }: Ledger): string | undefined {
  for (const input of inputs) {
    if ('CreatedEvent' in input) continue;
    const { contractId = '' } = 'ArchivedEvent' in input ? input.ArchivedEvent : input.ExercisedEvent;
    const contract = contracts.get(contractId);
    if (contract !== undefined) return contract.synchronizerId;
  }
  return undefined;
}

type Header = Pick<WireTransaction, 'offset' | 'updateId' | 'synchronizerId' | 'recordTime' | 'traceContext'>;

/**
 * Completes the fields that all kinds of updates share. Default: the next offset, one second after the latest record
 * time.
 */
function completeHeader(input: Partial<Header>, { ledger, settings }: Participant, synchronizer?: string): Header {
  const offset = input.offset ?? ledger.end + 1;
  const synchronizerId = input.synchronizerId ?? synchronizer ?? settings.synchronizers[0] ?? '';
  const updateId = input.updateId ?? makeUpdateId('appended', offset, ledger.commits, ...ledger.salt);
  const { traceContext = makeTraceContext(sha256('trace', updateId)) } = input;
  const recordTime = input.recordTime ?? ledger.recordTimes.next(synchronizerId);
  return { offset, updateId, synchronizerId, recordTime, traceContext };
}

/** The offset and ledger time of the update that an event belongs to. */
interface UpdateTime {
  readonly offset: number;
  readonly ledgerTime: string;
}

/** Completes events, and stores each archive and each consuming exercise as both: one for each transaction shape. */
function completeEvents(
  inputs: readonly WireEventInput[],
  { offset, ledgerTime }: UpdateTime,
  ledger: Ledger,
): readonly WireEvent[] {
  const createdHere = new Map<string, WireCreatedEvent>();
  const archived = new Set(inputs.map((input) => 'ArchivedEvent' in input && input.ArchivedEvent.contractId));
  const consumed = new Set(
    inputs.map((input) => 'ExercisedEvent' in input && isConsuming(input) && input.ExercisedEvent.contractId),
  );
  return inputs.flatMap((input, index): readonly WireEvent[] => {
    if ('CreatedEvent' in input) {
      const created = completeCreated({ nodeId: index, ...input.CreatedEvent }, { offset, ledgerTime }, ledger);
      createdHere.set(created.contractId, created);
      return [{ CreatedEvent: created }];
    }
    const isArchive = 'ArchivedEvent' in input;
    const fields = isArchive ? input.ArchivedEvent : input.ExercisedEvent;
    const created = findContract(fields, index);
    const { contractId } = created;
    const templateId = ledger.packages.resolve(fields.templateId ?? created.templateId).id;
    const time = { offset, nodeId: fields.nodeId ?? index };
    if (isArchive) {
      const exercised = { ...exercisedEvent({ ...created, acsDelta: true }, time), templateId };
      const event = { ArchivedEvent: { ...archivedEvent(exercised), ...fields, templateId } };
      return consumed.has(contractId) ? [event] : [event, { ExercisedEvent: exercised }];
    }
    const exercised = { ...exercisedEvent(created, { ...time, ...input.ExercisedEvent }), templateId };
    const isStoredTwice = exercised.acsDelta && exercised.consuming && !archived.has(contractId);
    const event = { ExercisedEvent: exercised };
    const witnessParties = fields.witnessParties ?? stakeholdersOf(created);
    return isStoredTwice ? [{ ArchivedEvent: { ...archivedEvent(exercised), witnessParties } }, event] : [event];
  });

  /** Finds the contract of an archive or exercise. An unknown contract is created from the fields of that event. */
  function findContract(fields: Partial<WireCreatedEvent>, nodeId: number): WireCreatedEvent {
    const id = fields.contractId ?? '';
    const known = createdHere.get(id) ?? ledger.contracts.stateOf(id)?.created;
    if (known !== undefined) return known;
    const { contractId, templateId, packageName, witnessParties: signatories } = fields;
    const present = Object.entries({ contractId, templateId, packageName, signatories }).filter(([, value]) => value);
    return completeCreated({ nodeId, ...Object.fromEntries(present) }, { offset, ledgerTime }, ledger);
  }
}

const isConsuming = ({ ExercisedEvent: { consuming = true } }: Extract<WireEventInput, { ExercisedEvent: unknown }>) =>
  consuming;

/** Completes a created event. Identifiers may have a package name. */
function completeCreated(
  input: Partial<WireCreatedEvent>,
  { offset, ledgerTime }: UpdateTime,
  { packages, commits, salt }: Ledger,
): WireCreatedEvent {
  const nodeId = input.nodeId ?? 0;
  const template = packages.resolve(input.templateId ?? '#sandbox-assets:Main:Asset');
  const interfaceViews = (input.interfaceViews ?? []).map((view) => ({
    ...view,
    interfaceId: packages.resolve(view.interfaceId, 'interface').id,
  }));
  return createdEvent({
    offset,
    contractId: makeContractId('appended', offset, nodeId, commits, ...salt),
    createArgument: {},
    signatories: input.witnessParties ?? generatedParties.slice(0, 1),
    createdAt: ledgerTime,
    ...input,
    nodeId,
    template,
    templateId: template.id,
    interfaceViews,
  });
}

function completeReassignment(
  input: WithEvents<WireReassignment, WireReassignmentEventInput>,
  participant: Participant,
): WireReassignment {
  const { events = [] } = input;
  const [first] = events;
  const { ledger, settings } = participant;
  const route = first && ledger.contracts.completeRoute(first, settings.synchronizers);
  const own = first && 'JsAssignmentEvent' in first ? 'target' : 'source';
  const header = completeHeader(input, participant, route?.[own]);
  const time = { offset: header.offset, ledgerTime: header.recordTime };
  return {
    commandId: '',
    workflowId: '',
    paidTrafficCost: null,
    ...input,
    ...header,
    events: events.map((event, index) => completeReassignmentEvent(event, index, time, participant)),
  };
}

function completeReassignmentEvent(
  input: WireReassignmentEventInput,
  nodeId: number,
  time: UpdateTime,
  participant: Participant,
): WireReassignmentEvent {
  const { ledger, settings } = participant;
  const fields = contractFields(input);
  const contractId =
    fields.contractId ?? makeContractId('appended', time.offset, nodeId, ledger.commits, ...ledger.salt);
  const known = ledger.contracts.stateOf(contractId)?.created;
  const route = ledger.contracts.completeRoute(input, settings.synchronizers);
  if ('JsAssignmentEvent' in input) {
    const given = { ...known, offset: time.offset, nodeId, ...fields, contractId };
    const createdEvent = completeCreated(given, time, ledger);
    const [submitter = ''] = createdEvent.signatories;
    return { JsAssignmentEvent: { submitter, ...input.JsAssignmentEvent, ...route, createdEvent } };
  }
  const created = known ?? completeCreated({ ...fields, contractId }, time, ledger);
  const { templateId, packageName } = created;
  const [submitter = ''] = created.signatories;
  const parties = { submitter, witnessParties: stakeholdersOf(created) };
  const subject = { contractId, templateId, packageName, offset: time.offset, nodeId, assignmentExclusivity: null };
  return {
    JsUnassignedEvent: { value: { ...parties, ...subject, ...input.JsUnassignedEvent.value, ...route, templateId } },
  };
}
