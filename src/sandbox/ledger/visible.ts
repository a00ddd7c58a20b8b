import type { EventFormat, IdentifierFilter, TransactionFormat, UpdateFormat } from '../requests/formats.js';
import type { SandboxProfile } from '../Sandbox.js';
import { stakeholdersOf } from '../wire/events.js';
import type { WireArchivedEvent, WireCreatedEvent, WireEvent, WireExercisedEvent } from '../wire/WireEvent.js';
import type { WireReassignment, WireReassignmentEvent, WireUnassignedEvent } from '../wire/WireReassignment.js';
import type { WireTopologyEvent, WireTopologyTransaction, WireTransaction, WireUpdate } from '../wire/WireUpdate.js';
import type { Ledger } from './Ledger.js';
import type { Packages } from './Packages.js';

/** The ledger to read, and the release that determines the wire format. */
export interface ReadContext {
  readonly ledger: Ledger;
  readonly profile: SandboxProfile;
}

/** Returns the part of an update that a format selects, in its wire envelope; `undefined` if there is none. */
export function visibleUpdate(update: WireUpdate, format: UpdateFormat, context: ReadContext): object | undefined {
  if ('Transaction' in update) {
    if (format.transactions === undefined) return undefined;
    const { events, served } = visibleTransaction(update.Transaction.value, format.transactions, context);
    return events.length === 0 ? undefined : wrapUpdate('Transaction', served);
  }
  if ('Reassignment' in update) {
    if (format.reassignments === undefined) return undefined;
    return wrapUpdate('Reassignment', visibleReassignment(update.Reassignment.value, format.reassignments, context));
  }
  if (format.topology === undefined) return undefined;
  const { value } = update.TopologyTransaction;
  return wrapUpdate('TopologyTransaction', visibleTopology(value, format.topology, context.profile));
}

function wrapUpdate(variant: string, value: object | undefined): object | undefined {
  return value && { update: { [variant]: { value } } };
}

/** The part of a transaction that a format selects, possibly without events. */
export function visibleTransaction(transaction: WireTransaction, format: TransactionFormat, context: ReadContext) {
  const events = transaction.events.flatMap((event) => visibleEvent(event, format, context) ?? []);
  const served = { ...hideCommand(transaction, format.events, context.ledger), events };
  return { events, served: context.profile === '3.6' ? served : omit(served, 'transactionHash') };
}

/** The part of an event that a format selects. Each transaction shape has its own kinds of event. */
function visibleEvent(event: WireEvent, format: TransactionFormat, context: ReadContext): object | undefined {
  if ('CreatedEvent' in event) {
    const created = event.CreatedEvent;
    if (!format.ledgerEffects && !created.acsDelta) return undefined;
    const parties = format.ledgerEffects ? created.witnessParties : stakeholdersOf(created);
    return wrapEvent('CreatedEvent', visibleCreated(created, parties, format.events, context));
  }
  if ('ArchivedEvent' in event) {
    return format.ledgerEffects
      ? undefined
      : wrapEvent('ArchivedEvent', visibleArchiveOrExercise(event.ArchivedEvent, format, context));
  }
  return format.ledgerEffects
    ? wrapEvent('ExercisedEvent', visibleArchiveOrExercise(event.ExercisedEvent, format, context))
    : undefined;
}

function wrapEvent(kind: string, event: object | undefined): object | undefined {
  return event && { [kind]: event };
}

function visibleArchiveOrExercise(
  event: WireArchivedEvent | WireExercisedEvent,
  format: TransactionFormat,
  { ledger }: ReadContext,
) {
  const subject = { ...event, parties: event.witnessParties, interfaces: event.implementedInterfaces };
  const match = matchEvent(subject, format.events, ledger.packages);
  if (match === undefined) return undefined;
  const isArchive = !('consuming' in event) || event.consuming;
  const implementedInterfaces = event.implementedInterfaces.filter((id) => isArchive && match.views.has(id));
  return { ...event, witnessParties: match.witnessParties, implementedInterfaces };
}

/** The part of a reassignment that a format selects, `undefined` if there is none. */
function visibleReassignment(update: WireReassignment, format: EventFormat, context: ReadContext): object | undefined {
  const events = update.events.flatMap((event) => visibleReassignmentEvent(event, format, context) ?? []);
  return events.length === 0 ? undefined : { ...hideCommand(update, format, context.ledger), events };
}

function visibleReassignmentEvent(
  event: WireReassignmentEvent,
  format: EventFormat,
  context: ReadContext,
): object | undefined {
  if ('JsAssignmentEvent' in event) {
    const { createdEvent } = event.JsAssignmentEvent;
    const created = visibleCreated(createdEvent, stakeholdersOf(createdEvent), format, context);
    return created && { JsAssignmentEvent: { ...event.JsAssignmentEvent, createdEvent: created } };
  }
  const value = visibleUnassigned(event.JsUnassignedEvent.value, format, context);
  return value && { JsUnassignedEvent: { value } };
}

/** The part of an unassignment that a format selects, `undefined` if there is none. */
export function visibleUnassigned(
  event: WireUnassignedEvent,
  format: EventFormat,
  { ledger: { packages } }: ReadContext,
): object | undefined {
  const subject = { ...event, parties: event.witnessParties, interfaces: packages.interfacesOf(event.templateId) };
  const match = matchEvent(subject, format, packages);
  return match && { ...event, witnessParties: match.witnessParties };
}

/** The part of a topology transaction that a format selects, `undefined` if there is none. */
function visibleTopology(
  update: WireTopologyTransaction,
  parties: readonly string[],
  profile: SandboxProfile,
): object | undefined {
  const events = update.events.filter(
    (event) => (parties.length === 0 || parties.includes(partyOf(event))) && isKnown(event, profile),
  );
  return events.length === 0 ? undefined : { ...update, events };
}

function partyOf({ event }: WireTopologyEvent): string {
  if ('ParticipantAuthorizationAdded' in event) return event.ParticipantAuthorizationAdded.value.partyId;
  if ('ParticipantAuthorizationChanged' in event) return event.ParticipantAuthorizationChanged.value.partyId;
  if ('ParticipantAuthorizationOnboarding' in event) return event.ParticipantAuthorizationOnboarding.value.partyId;
  return event.ParticipantAuthorizationRevoked.value.partyId;
}

function isKnown({ event }: WireTopologyEvent, profile: SandboxProfile): boolean {
  return profile !== '3.4' || !('ParticipantAuthorizationOnboarding' in event);
}

/** The fields of an update that only its submitters see. */
interface SubmitterFields {
  readonly offset: number;
  readonly commandId: string;
  readonly paidTrafficCost: number | null;
}

/** Removes the command id and the cost unless the format is for a submitter. */
function hideCommand<A extends SubmitterFields>(update: A, { byParty, anyParty }: EventFormat, ledger: Ledger): A {
  const submitters = ledger.submittersOf(update.offset);
  const own = submitters === undefined || anyParty !== undefined || submitters.some((party) => byParty.has(party));
  return own ? update : { ...update, commandId: '', paidTrafficCost: null };
}

/** Returns a copy of an object without some of its keys. */
function omit(value: object, ...keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** The part of an active contract that a format selects, `undefined` if there is none. Only stakeholders see it. */
export function visibleContract(
  created: WireCreatedEvent,
  format: EventFormat,
  context: ReadContext,
): object | undefined {
  return visibleCreated(created, stakeholdersOf(created), format, context);
}

/** Returns the part of a created event that a format selects. `parties` may see it in the requested shape. */
function visibleCreated(
  event: WireCreatedEvent,
  parties: readonly string[],
  format: EventFormat,
  { ledger, profile }: ReadContext,
): object | undefined {
  const interfaces = event.interfaceViews.map(({ interfaceId }) => interfaceId);
  const { templateId, packageName } = event;
  const match = matchEvent({ templateId, packageName, parties, interfaces }, format, ledger.packages);
  if (match === undefined) return undefined;
  const views = event.interfaceViews.filter(({ interfaceId }) => match.views.has(interfaceId));
  const served = {
    ...event,
    createdEventBlob: match.blob ? event.createdEventBlob : '',
    interfaceViews: profile === '3.4' ? views.map((view) => omit(view, 'implementationPackageId')) : views,
    witnessParties: match.witnessParties,
  };
  return profile === '3.4' ? omit(served, 'contractKeyHash') : served;
}

/** The data by which filters match an event. */
interface Subject {
  readonly templateId: string;
  readonly packageName: string;
  /** The parties that may see the event. */
  readonly parties: readonly string[];
  /** The interfaces of the template, by package id. */
  readonly interfaces: readonly string[];
}

/** The result of matching an event: its visible parts. */
interface EventMatch {
  readonly witnessParties: readonly string[];
  readonly blob: boolean;
  /** The interfaces, by package id, whose views are requested. */
  readonly views: ReadonlySet<string>;
}

/** Matches an event with a format. The matching filters of all parties add up. */
function matchEvent(subject: Subject, format: EventFormat, packages: Packages): EventMatch | undefined {
  const filters = subject.parties.flatMap((party) => format.byParty.get(party) ?? []).concat(format.anyParty ?? []);
  const matching = filters.filter((filter) => matchesFilter(filter, subject, packages));
  if (matching.length === 0) return undefined;
  const { parties, interfaces } = subject;
  const withView = matching.filter(({ view }) => view);
  return {
    witnessParties: format.anyParty === undefined ? parties.filter((party) => format.byParty.has(party)) : parties,
    blob: matching.some(({ blob }) => blob),
    views: new Set(interfaces.filter((actual) => withView.some(({ id }) => packages.matches(id, actual)))),
  };
}

function matchesFilter({ kind, id }: IdentifierFilter, subject: Subject, packages: Packages): boolean {
  const { templateId, packageName, interfaces } = subject;
  if (kind === 'wildcard') return true;
  if (kind === 'template')
    return id === templateId || id === `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;
  return interfaces.some((actual) => packages.matches(id, actual));
}
