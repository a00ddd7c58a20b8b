import { generatedParties } from '../participant/parties.js';
import { archivedEvent, consume, createdEvent, exercisedEvent, stakeholdersOf } from '../wire/events.js';
import { contractIdOf, updateIdOf } from '../wire/values.js';
import type { WireCreatedEvent, WireEvent, WireEventInput } from '../wire/WireEvent.js';
import type { WireReassignment, WireReassignmentEvent, WireReassignmentEventInput } from '../wire/WireReassignment.js';
import type { WireTopologyTransaction, WireTransaction, WireUpdate, WireUpdateInput } from '../wire/WireUpdate.js';
import type { Ledger, LedgerEntry } from './Ledger.js';

/** What the absent fields of an update made by hand are taken from. */
interface Fallbacks {
  readonly ledger: Ledger;
  readonly synchronizers: readonly string[];
}

/** Updates made by hand, each filled in once the one before it is on the ledger. */
export function* completeUpdates(
  inputs: readonly WireUpdateInput[],
  fallbacks: Fallbacks,
): Generator<LedgerEntry, void> {
  for (const input of inputs) yield { update: completeUpdate(input, fallbacks) };
}

/** Fills in what an update made by hand leaves out. */
function completeUpdate(input: WireUpdateInput, fallbacks: Fallbacks): WireUpdate {
  if ('Transaction' in input) {
    return { Transaction: { value: completeTransaction(input.Transaction.value, fallbacks) } };
  }
  if ('Reassignment' in input) {
    return { Reassignment: { value: completeReassignment(input.Reassignment.value, fallbacks) } };
  }
  return { TopologyTransaction: { value: completeTopology(input.TopologyTransaction.value, fallbacks) } };
}

type InputCompleteTransaction = Partial<Omit<WireTransaction, 'events'>> & {
  readonly events?: readonly WireEventInput[];
};

/** Fills in what a transaction made by hand leaves out. */
function completeTransaction(input: InputCompleteTransaction, fallbacks: Fallbacks): WireTransaction {
  const header = completeHeader(input, fallbacks);
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
    events: completeEvents(input.events ?? [], { offset: header.offset, at: effectiveAt }, fallbacks.ledger),
  };
}

interface Header {
  readonly offset: number;
  readonly updateId: string;
  readonly synchronizerId: string;
  readonly recordTime: string;
}

/** What all kinds of update have: by default the next offset, one second after what was before. */
function completeHeader(input: Partial<Header>, { ledger, synchronizers }: Fallbacks): Header {
  const offset = input.offset ?? ledger.end + 1;
  const synchronizerId = input.synchronizerId ?? synchronizers[0] ?? '';
  return {
    offset,
    updateId: input.updateId ?? updateIdOf('appended', offset, ledger.commits),
    synchronizerId,
    recordTime: input.recordTime ?? ledger.recordTimes.next(synchronizerId),
  };
}

/** The update that an event belongs to. */
interface Moment {
  readonly offset: number;
  /** The ledger time. */
  readonly at: string;
}

/** Fills in what events made by hand leave out, and gives each end of a contract in both shapes. */
function completeEvents(inputs: readonly WireEventInput[], moment: Moment, ledger: Ledger): readonly WireEvent[] {
  const made = new Map<string, WireCreatedEvent>();
  const archived = new Set(inputs.flatMap((input) => ('ArchivedEvent' in input ? input.ArchivedEvent.contractId : [])));
  const consumed = new Set(inputs.flatMap(consumedBy));
  return inputs.flatMap((input, index) => complete(input, index));

  function complete(input: WireEventInput, index: number): readonly WireEvent[] {
    if ('CreatedEvent' in input) {
      const created = completeCreated({ nodeId: index, ...input.CreatedEvent }, moment, ledger);
      made.set(created.contractId, created);
      return [{ CreatedEvent: created }];
    }
    const given = 'ArchivedEvent' in input ? input.ArchivedEvent : input.ExercisedEvent;
    const created = contractOf(given, index);
    const { id: templateId } = ledger.packages.resolve(given.templateId ?? created.templateId);
    const choice = { choice: 'Archive', choiceArgument: {}, exerciseResult: {}, actingParties: created.signatories };
    const taken = { ...choice, offset: moment.offset, nodeId: given.nodeId ?? index };
    if ('ArchivedEvent' in input) {
      const both = consume({ ...created, acsDelta: true }, taken).map((event) => overridden(event, given, templateId));
      return consumed.has(created.contractId) ? both.slice(0, 1) : both;
    }
    const consuming = input.ExercisedEvent.consuming ?? true;
    const event = { ...exercisedEvent(created, taken, consuming), ...input.ExercisedEvent, templateId };
    const both: readonly WireEvent[] = [{ ArchivedEvent: archivedEvent(event) }, { ExercisedEvent: event }];
    return event.acsDelta && consuming && !archived.has(created.contractId) ? both : both.slice(1);
  }

  /** The contract that ends here; if nobody has seen it, one made from what is told. */
  function contractOf(given: Partial<WireCreatedEvent>, index: number): WireCreatedEvent {
    const id = given.contractId ?? '';
    const { contractId, templateId, packageName, witnessParties } = given;
    const told = {
      ...(contractId && { contractId }),
      ...(templateId && { templateId }),
      ...(packageName && { packageName }),
    };
    const stakeholders = witnessParties && { signatories: witnessParties };
    const known = made.get(id) ?? ledger.contracts.get(id)?.created;
    return known ?? completeCreated({ nodeId: index, ...told, ...stakeholders }, moment, ledger);
  }
}

function consumedBy(input: WireEventInput): string | readonly [] {
  if (!('ExercisedEvent' in input) || input.ExercisedEvent.consuming === false) return [];
  return input.ExercisedEvent.contractId ?? [];
}

/** Fills in what a created event made by hand leaves out. Identifiers may go by package name. */
function completeCreated(
  input: Partial<WireCreatedEvent>,
  { offset, at }: Moment,
  { packages, commits }: Ledger,
): WireCreatedEvent {
  const nodeId = input.nodeId ?? 0;
  const template = packages.resolve(input.templateId ?? '#sandbox-assets:Main:Asset');
  const completed = createdEvent({
    offset,
    nodeId,
    contractId: input.contractId ?? contractIdOf('appended', offset, nodeId, commits),
    template: { ...template, packageName: input.packageName ?? template.packageName },
    createArgument: {},
    signatories: input.signatories ?? input.witnessParties ?? generatedParties.slice(0, 1),
    observers: input.observers ?? [],
    createdAt: at,
  });
  const interfaceViews = (input.interfaceViews ?? []).map((view) => ({
    ...view,
    interfaceId: packages.resolve(view.interfaceId).id,
  }));
  return { ...completed, ...input, templateId: template.id, interfaceViews };
}

function overridden(event: WireEvent, given: Partial<WireCreatedEvent>, templateId: string): WireEvent {
  if ('CreatedEvent' in event) return event;
  if ('ArchivedEvent' in event) return { ArchivedEvent: { ...event.ArchivedEvent, ...given, templateId } };
  return { ExercisedEvent: { ...event.ExercisedEvent, templateId } };
}

type Input = Partial<Omit<WireReassignment, 'events'>> & { readonly events?: readonly WireReassignmentEventInput[] };

/** Fills in what a reassignment made by hand leaves out. */
function completeReassignment(input: Input, fallbacks: Fallbacks): WireReassignment {
  const header = completeHeader(input, fallbacks);
  const moment = { offset: header.offset, at: header.recordTime };
  return {
    commandId: '',
    workflowId: '',
    traceContext: null,
    paidTrafficCost: null,
    ...input,
    ...header,
    events: (input.events ?? []).map((event, index) => completeMove(event, index, moment, fallbacks)),
  };
}

function completeMove(
  input: WireReassignmentEventInput,
  nodeId: number,
  moment: Moment,
  { ledger, synchronizers }: Fallbacks,
): WireReassignmentEvent {
  const [source = '', target = source] = synchronizers;
  const given =
    'JsAssignmentEvent' in input ? (input.JsAssignmentEvent.createdEvent ?? {}) : input.JsUnassignedEvent.value;
  const contractId = given.contractId ?? contractIdOf('appended', moment.offset, nodeId, ledger.commits);
  const known = ledger.contracts.get(contractId);
  const reassignmentCounter = (known?.reassignmentCounter ?? 0) + 1;
  const move = { source: known?.synchronizerId ?? source, target, reassignmentId: '0001', reassignmentCounter };
  if ('JsAssignmentEvent' in input) {
    const createdEvent = completeCreated({ nodeId, ...given, contractId }, moment, ledger);
    const [submitter = ''] = createdEvent.signatories;
    return { JsAssignmentEvent: { ...move, submitter, ...input.JsAssignmentEvent, createdEvent } };
  }
  const created = known?.created ?? completeCreated({ ...given, contractId }, moment, ledger);
  const { templateId, packageName } = created;
  const [submitter = ''] = created.signatories;
  const parties = { submitter, witnessParties: stakeholdersOf(created) };
  const place = { contractId, templateId, packageName, offset: moment.offset, nodeId, assignmentExclusivity: null };
  return {
    JsUnassignedEvent: { value: { ...move, ...parties, ...place, ...input.JsUnassignedEvent.value, templateId } },
  };
}

/** Fills in what a topology transaction made by hand leaves out. */
function completeTopology(input: Partial<WireTopologyTransaction>, fallbacks: Fallbacks): WireTopologyTransaction {
  return { events: [], traceContext: null, ...input, ...completeHeader(input, fallbacks) };
}
