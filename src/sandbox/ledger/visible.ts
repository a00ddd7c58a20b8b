import type { Settings } from '../participant/Settings.js';
import type { EventSelection, TransactionSelection, UpdateSelection } from '../requests/selections.js';
import type { SandboxProfile } from '../SandboxChanges.js';
import {
  stakeholdersOf,
  type WireArchivedEvent,
  type WireAssignedEvent,
  type WireAuthorization,
  type WireCreatedEvent,
  type WireEvent,
  type WireExercisedEvent,
  type WireInterfaceView,
  type WireReassignment,
  type WireRevocation,
  type WireTopologyEvent,
  type WireTopologyTransaction,
  type WireTransaction,
  type WireUnassignedEvent,
  type WireUpdate,
} from '../wire/WireUpdate.js';
import type { Ledger } from './Ledger.js';
import { computeView } from './Packages.js';

/** The ledger to read, and the release that determines the wire format. */
export interface ReadContext {
  readonly ledger: Ledger;
  readonly settings: Settings;
}

/** An update in a response, in its wire envelope. */
export interface VisibleUpdate {
  readonly update: Readonly<Record<string, { readonly value: UpdateFields }>>;
}

interface UpdateFields {
  readonly offset: number;
  readonly events: readonly object[];
}

/** Returns the part of an update that a request selects, in its wire envelope; `undefined` if there is none. */
export function visibleUpdate(
  update: WireUpdate,
  { transactions, reassignments, topology }: UpdateSelection,
  context: ReadContext,
): VisibleUpdate | undefined {
  if ('Transaction' in update) {
    return wrapUpdate(
      'Transaction',
      transactions && visibleTransaction(update.Transaction.value, transactions, context),
    );
  }
  if ('Reassignment' in update) {
    const view = reassignments && new EventView(reassignments, context);
    return wrapUpdate('Reassignment', view && visibleReassignment(update.Reassignment.value, view));
  }
  const { value } = update.TopologyTransaction;
  return wrapUpdate('TopologyTransaction', topology && visibleTopology(value, topology, context));
}

function wrapUpdate(variant: string, value: UpdateFields | undefined): VisibleUpdate | undefined {
  return value === undefined || value.events.length === 0 ? undefined : { update: { [variant]: { value } } };
}

/** An event in a response: an object with one key. */
interface VisibleEvent {
  readonly CreatedEvent?: object;
  readonly ArchivedEvent?: object;
  readonly ExercisedEvent?: object;
}

/** The part of a transaction that a request selects, possibly without events. */
export function visibleTransaction(
  transaction: WireTransaction,
  { events: selection, ledgerEffects }: TransactionSelection,
  context: ReadContext,
) {
  const view = new EventView(selection, context);
  const stakeholders = new Map(
    transaction.events.flatMap((event) =>
      'ArchivedEvent' in event ? [[event.ArchivedEvent.nodeId, event.ArchivedEvent.witnessParties] as const] : [],
    ),
  );
  const events = transaction.events.flatMap((event) => visibleEvent(event, ledgerEffects, view, stakeholders));
  return { ...view.hideCommand(transaction), events };
}

/**
 * The part of an event that a request selects. Each transaction shape has its own kinds of event.
 *
 * @param stakeholders - those of the archived contracts, by node id
 */
function visibleEvent(
  event: WireEvent,
  ledgerEffects: boolean,
  view: EventView,
  stakeholders: ReadonlyMap<number, readonly string[]>,
): VisibleEvent | readonly [] {
  if ('CreatedEvent' in event) {
    const { acsDelta, witnessParties } = event.CreatedEvent;
    if (!ledgerEffects && !acsDelta) return [];
    const CreatedEvent = view.contract(event.CreatedEvent, ledgerEffects ? witnessParties : undefined);
    return CreatedEvent ? { CreatedEvent } : [];
  }
  if ('ArchivedEvent' in event) {
    const ArchivedEvent = ledgerEffects ? undefined : view.choice(event.ArchivedEvent);
    return ArchivedEvent ? { ArchivedEvent } : [];
  }
  const { nodeId } = event.ExercisedEvent;
  const ExercisedEvent = ledgerEffects ? view.choice(event.ExercisedEvent, stakeholders.get(nodeId)) : undefined;
  return ExercisedEvent ? { ExercisedEvent } : [];
}

/** The part of a reassignment that a request selects, possibly without events. */
export function visibleReassignment(update: WireReassignment, view: EventView) {
  const events = update.events.flatMap((event): object => {
    if ('JsAssignmentEvent' in event) {
      const JsAssignmentEvent = view.assigned(event.JsAssignmentEvent);
      return JsAssignmentEvent ? { JsAssignmentEvent } : [];
    }
    const value = view.unassigned(event.JsUnassignedEvent.value);
    return value ? { JsUnassignedEvent: { value } } : [];
  });
  return { ...view.hideCommand(update), ...(view.profile < '3.4' && { synchronizerId: undefined }), events };
}

/** The part of a topology transaction that concerns the given parties, or any party if there are none. */
function visibleTopology(
  update: WireTopologyTransaction,
  parties: readonly string[],
  { settings: { profile } }: ReadContext,
) {
  const events = update.events.filter(({ event }) => {
    if (profile < '3.5' && 'ParticipantAuthorizationOnboarding' in event) return false;
    const contents = Object.values<{ readonly value: WireRevocation }>(event);
    return parties.length === 0 || contents.some(({ value }) => parties.includes(value.partyId));
  });
  return { ...update, events: profile < '3.4' ? events.map(formerTopologyEvent) : events };
}

const permissions = ['UNSPECIFIED', 'SUBMISSION', 'CONFIRMATION', 'OBSERVATION'];

/** The form of 3.3: without envelopes, and with the number of the permission. */
function formerTopologyEvent({ event }: WireTopologyEvent): object {
  const contents = Object.entries<{ readonly value: WireRevocation | WireAuthorization }>(event);
  return Object.fromEntries(
    contents.map(([kind, { value }]) => {
      const name = 'participantPermission' in value ? value.participantPermission : undefined;
      const number = permissions.findIndex((permission) => name?.endsWith(`_${permission}`));
      return [kind, { ...value, participantPermission: name && number }];
    }),
  );
}

/** The releases that introduced fields after 3.3. */
const introduced: Readonly<Record<string, SandboxProfile>> = {
  acsDelta: '3.4',
  representativePackageId: '3.4',
  paidTrafficCost: '3.4',
  contractKeyHash: '3.5',
  implementationPackageId: '3.5',
  transactionHash: '3.6',
};

/** Overwrites the fields that a release does not have yet, so that they are not sent. */
export function laterFields(profile: SandboxProfile): object {
  const later = Object.keys(introduced).filter((name) => (introduced[name] ?? profile) > profile);
  return Object.fromEntries(later.map((name) => [name, undefined]));
}

/** What a request shows of contracts. All methods return `undefined` for what it does not select. */
export class EventView {
  readonly #later: object;

  constructor(
    private readonly selection: EventSelection,
    private readonly context: ReadContext,
  ) {
    this.#later = laterFields(this.profile);
  }

  /** The release that determines the wire format. */
  get profile(): SandboxProfile {
    return this.context.settings.profile;
  }

  /** The creation of a contract, which the given parties may see. By default, only stakeholders see it. */
  contract(event: WireCreatedEvent, parties = stakeholdersOf(event)): object | undefined {
    const interfaces = this.withAdded(
      event,
      event.interfaceViews.map(({ interfaceId }) => interfaceId),
    );
    const match = this.match(event, parties, interfaces);
    if (match === undefined) return undefined;
    const views = this.viewsOf(event, match);
    const hasArgument = this.profile >= '3.4' || match.hasArgument;
    return {
      ...event,
      createArgument: hasArgument ? event.createArgument : null,
      createdEventBlob: match.blob ? event.createdEventBlob : '',
      interfaceViews: views.map((view) => ({ ...view, ...this.#later })),
      witnessParties: match.witnessParties,
      acsDelta: event.acsDelta && match.concerns(stakeholdersOf(event)),
      ...this.#later,
    };
  }

  /**
   * An archive or an exercise.
   *
   * @param stakeholders - those of the contract, if they are known and not the witnesses
   */
  choice(event: WireArchivedEvent | WireExercisedEvent, stakeholders = event.witnessParties): object | undefined {
    const interfaces = this.withAdded(event, event.implementedInterfaces);
    const match = this.match(event, event.witnessParties, interfaces);
    if (match === undefined) return undefined;
    const isArchive = !('consuming' in event) || event.consuming;
    const implementedInterfaces = interfaces.filter((id) => isArchive && match.views.has(id));
    return {
      ...event,
      witnessParties: match.witnessParties,
      implementedInterfaces,
      ...('acsDelta' in event && { acsDelta: event.acsDelta && match.concerns(stakeholders) }),
      ...this.#later,
    };
  }

  assigned(event: WireAssignedEvent): object | undefined {
    const createdEvent = this.contract(event.createdEvent);
    return createdEvent && { ...event, createdEvent, ...this.formerId(event) };
  }

  unassigned(event: WireUnassignedEvent): object | undefined {
    const interfaces = this.withAdded(event, this.context.ledger.packages.interfacesOf(event.templateId));
    const match = this.match(event, event.witnessParties, interfaces);
    return match && { ...event, witnessParties: match.witnessParties, ...this.formerId(event) };
  }

  /** The selected views of a contract. If there are later versions of its package, the newest one computes them. */
  private viewsOf(event: WireCreatedEvent, { views }: Match): readonly WireInterfaceView[] {
    const later = this.context.ledger.packages.instancesOf(event);
    return [...views].flatMap((interfaceId) => {
      const instance = later.get(interfaceId);
      if (instance === undefined) return event.interfaceViews.filter((view) => view.interfaceId === interfaceId);
      const { packageId: implementationPackageId, view } = instance;
      return { interfaceId, ...computeView(view, event.createArgument), implementationPackageId };
    });
  }

  /** The interfaces of a template, with those that later versions of its package have given to it. */
  private withAdded(template: Template, interfaces: readonly string[]): readonly string[] {
    const added = this.context.ledger.packages.instancesOf(template);
    return added.size === 0 ? interfaces : [...new Set([...interfaces, ...added.keys()])];
  }

  /** 3.3 has another name for the id of a reassignment. */
  private formerId({ reassignmentId }: Pick<WireUnassignedEvent, 'reassignmentId'>): object {
    return this.profile < '3.4' ? { unassignId: reassignmentId, reassignmentId: undefined } : {};
  }

  /** Removes the command id and the cost unless the request is of a submitter. */
  hideCommand<A extends Pick<WireTransaction, 'offset' | 'commandId' | 'paidTrafficCost'>>(update: A): A {
    const { byParty, anyParty } = this.selection;
    const submitters = this.context.ledger.submittersOf(update.offset);
    const isOwn = submitters === undefined || anyParty !== undefined || submitters.some((party) => byParty.has(party));
    return { ...update, ...(!isOwn && { commandId: '', paidTrafficCost: null }), ...this.#later };
  }

  /**
   * Matches an event with the filters. The matching filters of all parties add up.
   *
   * @param parties - the parties that may see the event
   * @param interfaces - the interfaces of its template, by package id
   */
  private match(template: Template, parties: readonly string[], interfaces: readonly string[]): Match | undefined {
    const { byParty, anyParty } = this.selection;
    const { packages } = this.context.ledger;
    const filters = parties.flatMap((party) => byParty.get(party) ?? []).concat(anyParty ?? []);
    const matching = filters.filter(
      ({ kind, id }) =>
        kind === 'wildcard' ||
        (kind === 'template' && isTemplate(id, template)) ||
        (kind === 'interface' && interfaces.some((actual) => packages.matches(id, actual))),
    );
    if (matching.length === 0) return undefined;
    const withView = matching.filter(({ view }) => view);
    const witnessParties = anyParty === undefined ? parties.filter((party) => byParty.has(party)) : parties;
    return {
      witnessParties,
      // a party that only sees an event has no contract by it
      concerns: (stakeholders) => stakeholders.some((party) => witnessParties.includes(party)),
      blob: matching.some(({ blob }) => blob),
      hasArgument: matching.some(({ kind }) => kind !== 'interface'),
      views: new Set(interfaces.filter((actual) => withView.some(({ id }) => packages.matches(id, actual)))),
    };
  }
}

type Template = Pick<WireCreatedEvent, 'templateId' | 'packageName'>;

/** The visible parts of an event. */
interface Match {
  readonly witnessParties: readonly string[];
  /** Whether one of the witnesses is a stakeholder. */
  readonly concerns: (stakeholders: readonly string[]) => boolean;
  readonly blob: boolean;
  /** Whether a filter selects more than interface views. */
  readonly hasArgument: boolean;
  /** The interfaces, by package id, whose views are requested. */
  readonly views: ReadonlySet<string>;
}

const isTemplate = (id: string, { templateId, packageName }: Template): boolean =>
  id === templateId || id === `#${packageName}${templateId.slice(templateId.indexOf(':'))}`;
