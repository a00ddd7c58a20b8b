import type { EventFormat, IdentifierFilter, TransactionFormat, UpdateFormat } from '../requests/formats.js';
import type { SandboxProfile } from '../Sandbox.js';
import { stakeholdersOf } from '../wire/events.js';
import type { WireArchivedEvent, WireCreatedEvent, WireEvent, WireExercisedEvent } from '../wire/WireEvent.js';
import type { WireReassignment, WireReassignmentEvent } from '../wire/WireReassignment.js';
import type { WireTopologyEvent, WireTopologyTransaction, WireTransaction, WireUpdate } from '../wire/WireUpdate.js';
import type { Ledger } from './Ledger.js';
import type { Packages } from './Packages.js';

/** What is looked at, and in the words of which release. */
export interface View {
  readonly ledger: Ledger;
  readonly profile: SandboxProfile;
}

/** A transaction as its reader gets it, possibly without any event. */
export function visibleTransaction(transaction: WireTransaction, format: TransactionFormat, view: View) {
  const events = transaction.events.flatMap((event) => visibleEvent(event, format, view) ?? []);
  const served = { ...asSeenBy(transaction, format.events, view.ledger), events };
  return { events, served: view.profile === '3.6' ? served : omit(served, 'transactionHash') };
}

/** An event as its reader gets it; each of the two shapes has its own kinds of event. */
function visibleEvent(event: WireEvent, format: TransactionFormat, view: View): object | undefined {
  if ('CreatedEvent' in event) {
    const created = event.CreatedEvent;
    if (!format.ledgerEffects && !created.acsDelta) return undefined;
    const parties = format.ledgerEffects ? created.witnessParties : stakeholdersOf(created);
    return tagged('CreatedEvent', visibleCreated(created, parties, format.events, view));
  }
  if ('ArchivedEvent' in event) {
    return format.ledgerEffects ? undefined : tagged('ArchivedEvent', visibleEnd(event.ArchivedEvent, format, view));
  }
  return format.ledgerEffects ? tagged('ExercisedEvent', visibleEnd(event.ExercisedEvent, format, view)) : undefined;
}

function tagged(kind: string, event: object | undefined): object | undefined {
  return event && { [kind]: event };
}

function visibleEnd(event: WireArchivedEvent | WireExercisedEvent, format: TransactionFormat, { ledger }: View) {
  const subject = { ...event, parties: event.witnessParties, interfaces: event.implementedInterfaces };
  const match = matchEvent(subject, format.events, ledger.packages);
  return match && { ...event, witnessParties: match.witnessParties };
}

/** An update in its envelope as its reader gets it, `undefined` if nothing of it was asked for. */
export function visibleUpdate(update: WireUpdate, format: UpdateFormat, view: View): object | undefined {
  if ('Transaction' in update) {
    if (format.transactions === undefined) return undefined;
    const { events, served } = visibleTransaction(update.Transaction.value, format.transactions, view);
    return events.length === 0 ? undefined : enveloped('Transaction', served);
  }
  if ('Reassignment' in update) {
    if (format.reassignments === undefined) return undefined;
    return enveloped('Reassignment', visibleReassignment(update.Reassignment.value, format.reassignments, view));
  }
  if (format.topology === undefined) return undefined;
  const { value } = update.TopologyTransaction;
  return enveloped('TopologyTransaction', visibleTopology(value, format.topology, view.profile));
}

function enveloped(variant: string, value: object | undefined): object | undefined {
  return value && { update: { [variant]: { value } } };
}

/** A reassignment as its reader gets it, `undefined` if nothing is left of it. */
function visibleReassignment(update: WireReassignment, format: EventFormat, view: View): object | undefined {
  const events = update.events.flatMap((event) => visibleMove(event, format, view) ?? []);
  return events.length === 0 ? undefined : { ...asSeenBy(update, format, view.ledger), events };
}

function visibleMove(event: WireReassignmentEvent, format: EventFormat, view: View): object | undefined {
  if ('JsAssignmentEvent' in event) {
    const { createdEvent } = event.JsAssignmentEvent;
    const created = visibleCreated(createdEvent, stakeholdersOf(createdEvent), format, view);
    return created && { JsAssignmentEvent: { ...event.JsAssignmentEvent, createdEvent: created } };
  }
  const { value } = event.JsUnassignedEvent;
  const { packages } = view.ledger;
  const subject = { ...value, parties: value.witnessParties, interfaces: packages.interfacesOf(value.templateId) };
  const match = matchEvent(subject, format, packages);
  return match && { JsUnassignedEvent: { value: { ...value, witnessParties: match.witnessParties } } };
}

/** A change of topology as its reader gets it, `undefined` if nothing is left of it. */
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

/** What only submitters may know of an update. */
interface Private {
  readonly offset: number;
  readonly commandId: string;
  readonly paidTrafficCost: number | null;
}

/** Hides the command and its cost from those who did not submit it. */
function asSeenBy<A extends Private>(update: A, { byParty, anyParty }: EventFormat, ledger: Ledger): A {
  const submitters = ledger.submittersOf(update.offset);
  const own = submitters === undefined || anyParty !== undefined || submitters.some((party) => byParty.has(party));
  return own ? update : { ...update, commandId: '', paidTrafficCost: null };
}

/** An object without some of its keys. */
function omit(value: object, ...keys: readonly string[]): object {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
}

/** A created event as its reader gets it. `parties` are those who may see it in the shape asked for. */
function visibleCreated(
  event: WireCreatedEvent,
  parties: readonly string[],
  format: EventFormat,
  { ledger, profile }: View,
): object | undefined {
  const interfaces = event.interfaceViews.map(({ interfaceId }) => interfaceId);
  const match = matchEvent({ ...event, parties, interfaces }, format, ledger.packages);
  if (match === undefined) return undefined;
  const views = event.interfaceViews.filter(({ interfaceId }) => match.views.has(interfaceId));
  const served = {
    ...event,
    createArgument: match.argument ? event.createArgument : null,
    createdEventBlob: match.blob ? event.createdEventBlob : '',
    interfaceViews: profile === '3.4' ? views.map((view) => omit(view, 'implementationPackageId')) : views,
    witnessParties: match.witnessParties,
  };
  return profile === '3.4' ? omit(served, 'contractKeyHash') : served;
}

/** What decides whether an event is served. */
interface Subject {
  readonly templateId: string;
  readonly packageName: string;
  /** Those who may see it. */
  readonly parties: readonly string[];
  /** The interfaces of the template, by package id. */
  readonly interfaces: readonly string[];
}

/** Why an event is served, and how much of it. */
interface EventMatch {
  readonly witnessParties: readonly string[];
  /** False if only interfaces were asked for. */
  readonly argument: boolean;
  readonly blob: boolean;
  /** The interfaces, by package id, whose views were asked for. */
  readonly views: ReadonlySet<string>;
}

/** Holds an event against a format; the filters of all its parties count together. */
function matchEvent(subject: Subject, format: EventFormat, packages: Packages): EventMatch | undefined {
  const asked = subject.parties.flatMap((party) => format.byParty.get(party) ?? []).concat(format.anyParty ?? []);
  const matching = asked.filter((filter) => concerns(filter, subject, packages));
  if (matching.length === 0) return undefined;
  const { parties, interfaces } = subject;
  const viewed = matching.filter(({ view }) => view);
  return {
    witnessParties: format.anyParty === undefined ? parties.filter((party) => format.byParty.has(party)) : parties,
    argument: matching.some(({ kind }) => kind !== 'interface'),
    blob: matching.some(({ blob }) => blob),
    views: new Set(interfaces.filter((actual) => viewed.some(({ id }) => packages.matches(id, actual)))),
  };
}

function concerns({ kind, id }: IdentifierFilter, subject: Subject, packages: Packages): boolean {
  const { templateId, packageName, interfaces } = subject;
  if (kind === 'wildcard') return true;
  if (kind === 'template')
    return id === templateId || id === `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;
  return interfaces.some((actual) => packages.matches(id, actual));
}
