import type { ReassignmentEvent, TopologyEvent, TransactionEvent, Update } from 'canton-rx';
import { factsOf } from '../updates/facts-of';
import type { Effect } from '../updates/row';

type AnyEvent = TransactionEvent | ReassignmentEvent | TopologyEvent;

/** An event, as the panels show it. */
export interface ShownEvent {
  readonly offset: number;
  readonly recordTime: string;
  readonly effect: Effect;
  readonly contractId?: string | undefined;
  readonly templateId?: string | undefined;
  readonly packageName: string;
  /** Its signatories, its observers, and the parties that acted. */
  readonly roles: readonly (readonly [role: string, parties: readonly string[]])[];
  /** Its values, with their names. */
  readonly values: readonly (readonly [name: string, value: unknown])[];
}

export function shownEvents(update: Update): readonly ShownEvent[] {
  if (!('events' in update)) return [];
  return update.events.map((event) => shown(event, update.offset, update.recordTime));
}

function shown(event: AnyEvent, offset: number, recordTime: string): ShownEvent {
  const { kind, label, contractId, packageName = '' } = factsOf(event);
  return {
    offset,
    recordTime,
    effect: { kind, label, count: 1 },
    contractId,
    templateId: templateOf(event),
    packageName,
    roles: rolesOf(event).filter(([, parties]) => parties.length > 0),
    values: valuesOf(event).filter(([, value]) => value !== undefined && !isEmpty(value)),
  };
}

function templateOf(event: AnyEvent): string | undefined {
  if (event._tag === 'AssignedEvent') return event.createdEvent.templateId;
  return 'templateId' in event ? event.templateId : undefined;
}

function rolesOf(event: AnyEvent): ShownEvent['roles'] {
  switch (event._tag) {
    case 'CreatedEvent':
      return [
        ['Signatories', event.signatories],
        ['Observers', event.observers],
      ];
    case 'ExercisedEvent':
      return [['Acting', event.actingParties]];
    case 'ArchivedEvent':
      return [['Witnesses', event.witnessParties]];
    case 'AssignedEvent':
      return [['Signatories', event.createdEvent.signatories]];
    case 'UnassignedEvent':
      return [['Witnesses', event.witnessParties]];
    default:
      return 'partyId' in event ? [['Party', [event.partyId]]] : [];
  }
}

function valuesOf(event: AnyEvent): ShownEvent['values'] {
  switch (event._tag) {
    case 'CreatedEvent':
      return [['Arguments', event.createArgument]];
    case 'ExercisedEvent':
      return [
        ['Arguments of the choice', event.choiceArgument],
        ['Result', event.exerciseResult],
      ];
    case 'AssignedEvent':
      return [['Arguments', event.createdEvent.createArgument]];
    case 'UnassignedEvent':
    case 'ArchivedEvent':
      return [];
    default:
      return [['Event', event]];
  }
}

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;
