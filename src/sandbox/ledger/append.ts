import { generatedParties } from '../participant/parties.js';
import { archivedEvent, consume, createdEvent, exercisedEvent, stakeholdersOf } from '../wire/events.js';
import { makeContractId, makeUpdateId } from '../wire/values.js';
import type { WireCreatedEvent, WireEvent, WireEventInput } from '../wire/WireEvent.js';
import type { WireReassignment, WireReassignmentEvent, WireReassignmentEventInput } from '../wire/WireReassignment.js';
import type { WireTopologyTransaction, WireTransaction, WireUpdate, WireUpdateInput } from '../wire/WireUpdate.js';
import type { Ledger, LedgerEntry } from './Ledger.js';
import { completeRoute, contractFields } from './route.js';

/** Completes appended updates with default values, each after the previous one is committed. */
export function* completeUpdates(inputs: readonly WireUpdateInput[], defaults: Defaults): Generator<LedgerEntry, void> {
  for (const input of inputs) yield { update: completeUpdate(input, defaults) };
}

/** The sources of the default values. */
interface Defaults {
  readonly ledger: Ledger;
  readonly synchronizers: readonly string[];
}

function completeUpdate(input: WireUpdateInput, defaults: Defaults): WireUpdate {
  if ('Transaction' in input) {
    return { Transaction: { value: completeTransaction(input.Transaction.value, defaults) } };
  }
  if ('Reassignment' in input) {
    return { Reassignment: { value: completeReassignment(input.Reassignment.value, defaults) } };
  }
  return { TopologyTransaction: { value: completeTopology(input.TopologyTransaction.value, defaults) } };
}

type TransactionInput = Partial<Omit<WireTransaction, 'events'>> & {
  readonly events?: readonly WireEventInput[];
};

function completeTransaction(input: TransactionInput, defaults: Defaults): WireTransaction {
  const header = completeHeader(input, defaults, synchronizerOf(input.events ?? [], defaults.ledger));
  const effectiveAt = input.effectiveAt ?? header.recordTime;
  return {
    commandId: '',
    workflowId: '',
    effectiveAt,
    traceContext: null,
    externalTransactionHash: null,
    paidTrafficCost: null,
    transactionHash: null,
    ...input,
    ...header,
    events: completeEvents(input.events ?? [], { offset: header.offset, ledgerTime: effectiveAt }, defaults.ledger),
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

interface Header {
  readonly offset: number;
  readonly updateId: string;
  readonly synchronizerId: string;
  readonly recordTime: string;
}

/**
 * Completes the fields that all kinds of updates share. Default: the next offset, one second after the latest record
 * time.
 */
function completeHeader(input: Partial<Header>, { ledger, synchronizers }: Defaults, synchronizer?: string): Header {
  const offset = input.offset ?? ledger.end + 1;
  const synchronizerId = input.synchronizerId ?? synchronizer ?? synchronizers[0] ?? '';
  return {
    offset,
    updateId: input.updateId ?? makeUpdateId('appended', offset, ledger.commits),
    synchronizerId,
    recordTime: input.recordTime ?? ledger.recordTimes.next(synchronizerId),
  };
}

/** The offset and ledger time of the update that an event belongs to. */
interface UpdateTime {
  readonly offset: number;
  readonly ledgerTime: string;
}

/** Completes events, and stores each archive and each consuming exercise as both: one for each transaction shape. */
function completeEvents(inputs: readonly WireEventInput[], time: UpdateTime, ledger: Ledger): readonly WireEvent[] {
  const createdHere = new Map<string, WireCreatedEvent>();
  const archived = new Set(inputs.flatMap((input) => ('ArchivedEvent' in input ? input.ArchivedEvent.contractId : [])));
  const consumed = new Set(inputs.flatMap(consumedContract));
  return inputs.flatMap((input, index) => complete(input, index));

  function complete(input: WireEventInput, index: number): readonly WireEvent[] {
    if ('CreatedEvent' in input) {
      const created = completeCreated({ nodeId: index, ...input.CreatedEvent }, time, ledger);
      createdHere.set(created.contractId, created);
      return [{ CreatedEvent: created }];
    }
    const fields = 'ArchivedEvent' in input ? input.ArchivedEvent : input.ExercisedEvent;
    const created = findContract(fields, index);
    const { id: templateId } = ledger.packages.resolve(fields.templateId ?? created.templateId);
    const archive = { choice: 'Archive', choiceArgument: {}, exerciseResult: {}, actingParties: created.signatories };
    const choice = { ...archive, offset: time.offset, nodeId: fields.nodeId ?? index };
    if ('ArchivedEvent' in input) {
      const both = consume({ ...created, acsDelta: true }, choice).map((event) =>
        applyOverrides(event, fields, templateId),
      );
      return consumed.has(created.contractId) ? both.slice(0, 1) : both;
    }
    const consuming = input.ExercisedEvent.consuming ?? true;
    const event = { ...exercisedEvent(created, choice, consuming), ...input.ExercisedEvent, templateId };
    const both: readonly WireEvent[] = [{ ArchivedEvent: archivedEvent(event) }, { ExercisedEvent: event }];
    return event.acsDelta && consuming && !archived.has(created.contractId) ? both : both.slice(1);
  }

  /** Finds the contract of an archive or exercise. An unknown contract is created from the fields of that event. */
  function findContract(fields: Partial<WireCreatedEvent>, index: number): WireCreatedEvent {
    const id = fields.contractId ?? '';
    const { contractId, templateId, packageName, witnessParties } = fields;
    const present = {
      ...(contractId && { contractId }),
      ...(templateId && { templateId }),
      ...(packageName && { packageName }),
    };
    const stakeholders = witnessParties && { signatories: witnessParties };
    const known = createdHere.get(id) ?? ledger.contracts.stateOf(id)?.created;
    return known ?? completeCreated({ nodeId: index, ...present, ...stakeholders }, time, ledger);
  }
}

function consumedContract(input: WireEventInput): string | readonly [] {
  if (!('ExercisedEvent' in input) || input.ExercisedEvent.consuming === false) return [];
  return input.ExercisedEvent.contractId ?? [];
}

/** Completes a created event. Identifiers may have a package name. */
function completeCreated(
  input: Partial<WireCreatedEvent>,
  { offset, ledgerTime }: UpdateTime,
  { packages, commits }: Ledger,
): WireCreatedEvent {
  const nodeId = input.nodeId ?? 0;
  const template = packages.resolve(input.templateId ?? '#sandbox-assets:Main:Asset');
  const completed = createdEvent({
    offset,
    nodeId,
    contractId: input.contractId ?? makeContractId('appended', offset, nodeId, commits),
    template: { ...template, packageName: input.packageName ?? template.packageName },
    createArgument: {},
    signatories: input.signatories ?? input.witnessParties ?? generatedParties.slice(0, 1),
    observers: input.observers ?? [],
    createdAt: ledgerTime,
  });
  const interfaceViews = (input.interfaceViews ?? []).map((view) => ({
    ...view,
    interfaceId: packages.resolve(view.interfaceId, 'interface').id,
  }));
  return { ...completed, ...input, templateId: template.id, interfaceViews };
}

function applyOverrides(event: WireEvent, fields: Partial<WireCreatedEvent>, templateId: string): WireEvent {
  if ('CreatedEvent' in event) return event;
  if ('ArchivedEvent' in event) return { ArchivedEvent: { ...event.ArchivedEvent, ...fields, templateId } };
  return { ExercisedEvent: { ...event.ExercisedEvent, templateId } };
}

type ReassignmentInput = Partial<Omit<WireReassignment, 'events'>> & {
  readonly events?: readonly WireReassignmentEventInput[];
};

function completeReassignment(input: ReassignmentInput, defaults: Defaults): WireReassignment {
  const { events = [] } = input;
  const [first] = events;
  const route = first && completeRoute(first, defaults.ledger.contracts, defaults.synchronizers);
  const header = completeHeader(input, defaults, first && 'JsAssignmentEvent' in first ? route?.target : route?.source);
  const time = { offset: header.offset, ledgerTime: header.recordTime };
  return {
    commandId: '',
    workflowId: '',
    traceContext: null,
    paidTrafficCost: null,
    ...input,
    ...header,
    events: events.map((event, index) => completeReassignmentEvent(event, index, time, defaults)),
  };
}

function completeReassignmentEvent(
  input: WireReassignmentEventInput,
  nodeId: number,
  time: UpdateTime,
  { ledger, synchronizers }: Defaults,
): WireReassignmentEvent {
  const fields = contractFields(input);
  const contractId = fields.contractId ?? makeContractId('appended', time.offset, nodeId, ledger.commits);
  const known = ledger.contracts.stateOf(contractId)?.created;
  const route = completeRoute(input, ledger.contracts, synchronizers);
  if ('JsAssignmentEvent' in input) {
    const createdEvent = completeCreated(
      { ...known, offset: time.offset, nodeId, ...fields, contractId },
      time,
      ledger,
    );
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

function completeTopology(input: Partial<WireTopologyTransaction>, defaults: Defaults): WireTopologyTransaction {
  return { events: [], traceContext: null, ...input, ...completeHeader(input, defaults) };
}
