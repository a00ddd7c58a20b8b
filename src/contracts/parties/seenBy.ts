import type { CreatedEvent, TransactionEvent } from '../../codecs/Event.js';
import type { Reassignment, ReassignmentEvent } from '../../codecs/Reassignment.js';
import type { Transaction } from '../../codecs/Transaction.js';
import type { AnyContract } from '../Contract.js';

/** An event of an update. */
export type UpdateEvent = TransactionEvent | ReassignmentEvent;

/**
 * Returns the parties that see a contract: its stakeholders, of those for which it was read. A stakeholder for which it was
 * not read would not see the updates of the contract.
 */
export function partiesOfContract({ signatories, observers, createdEvent }: AnyContract): readonly string[] {
  return createdEvent.witnessParties.filter((party) => signatories.includes(party) || observers.includes(party));
}

/** Returns the parties that see an event. */
export function partiesOfEvent(event: UpdateEvent): readonly string[] {
  switch (event._tag) {
    case 'CreatedEvent':
    case 'ArchivedEvent':
    case 'ExercisedEvent':
    case 'UnassignedEvent':
      return event.witnessParties;
    case 'AssignedEvent':
      return event.createdEvent.witnessParties;
    default:
      // its parties are not known
      return [];
  }
}

/** Returns a contract as a participant shows it to some parties. It names no other party as a witness. */
export function contractFor<C extends AnyContract>(contract: C, parties: ReadonlySet<string>): C {
  const { witnessParties } = contract.createdEvent;
  if (witnessParties.every((party) => parties.has(party))) return contract;
  return { ...contract, createdEvent: { ...contract.createdEvent, witnessParties: those(witnessParties, parties) } };
}

/** Returns a contract with the witnesses of another reading, for other parties: the same object if it has all of them. */
export function seenAlso<C extends AnyContract>(contract: C, { createdEvent }: AnyContract): C {
  const { witnessParties } = contract.createdEvent;
  const others = createdEvent.witnessParties.filter((party) => !witnessParties.includes(party));
  if (others.length === 0) return contract;
  return { ...contract, createdEvent: { ...contract.createdEvent, witnessParties: [...witnessParties, ...others] } };
}

/** Whether two readings of a contract name the same witnesses. */
export function haveSameWitnesses(one: AnyContract, other: AnyContract): boolean {
  const { witnessParties } = other.createdEvent;
  const before = one.createdEvent.witnessParties;
  return before.length === witnessParties.length && before.every((party, index) => party === witnessParties[index]);
}

/**
 * Returns an event that some parties see as a participant shows it to them.
 *
 * @param isActive - whether the parties have the contract of the event before its update
 */
export function eventFor<E extends UpdateEvent>(event: E, parties: ReadonlySet<string>, isActive: boolean): E;
export function eventFor(event: UpdateEvent, parties: ReadonlySet<string>, isActive: boolean): UpdateEvent {
  switch (event._tag) {
    case 'CreatedEvent':
      return createdFor(event, parties);
    case 'ArchivedEvent':
      return { ...event, witnessParties: those(event.witnessParties, parties) };
    case 'ExercisedEvent': {
      const acsDelta = event.acsDelta === undefined ? {} : { acsDelta: event.acsDelta && isActive };
      return { ...event, witnessParties: those(event.witnessParties, parties), ...acsDelta };
    }
    case 'AssignedEvent':
      return { ...event, ...submitterFor(event, parties), createdEvent: createdFor(event.createdEvent, parties) };
    case 'UnassignedEvent':
      return {
        ...event,
        ...submitterFor(event, parties),
        witnessParties: those(event.witnessParties, parties),
      };
    default:
      return event;
  }
}

/**
 * Returns an update with the events that some parties see. The command and its cost are for its submitter, who is not known
 * here.
 */
export function updateFor(
  update: Transaction | Reassignment,
  events: readonly UpdateEvent[],
): Transaction | Reassignment {
  const shown = { ...update };
  delete shown.commandId;
  delete shown.paidTrafficCost;
  // the events are of the update
  return { ...shown, events } as Transaction | Reassignment;
}

function createdFor(event: CreatedEvent, parties: ReadonlySet<string>): CreatedEvent {
  const { acsDelta, signatories, observers, witnessParties } = event;
  const isStakeholder = [...signatories, ...observers].some((party) => parties.has(party));
  return {
    ...event,
    witnessParties: those(witnessParties, parties),
    ...(acsDelta !== undefined && { acsDelta: acsDelta && isStakeholder }),
  };
}

const submitterFor = (
  { submitter }: { readonly submitter?: string },
  parties: ReadonlySet<string>,
): { readonly submitter?: string } => (submitter === undefined || parties.has(submitter) ? {} : { submitter: '' });

const those = (witnessParties: readonly string[], parties: ReadonlySet<string>): readonly string[] =>
  witnessParties.filter((party) => parties.has(party));
