import type { Ledger } from '../ledger/Ledger.js';
import { archivedEvent } from '../wire/archivedEvent.js';
import { consume } from '../wire/consume.js';
import { exercisedEvent } from '../wire/exercisedEvent.js';
import type { WireCreatedEvent } from '../wire/WireCreatedEvent.js';
import type { WireEvent } from '../wire/WireEvent.js';
import type { WireEventInput } from '../wire/WireEventInput.js';
import { completeCreated } from './completeCreated.js';
import type { Moment } from './Moment.js';

/** Fills in what events made by hand leave out, and gives each end of a contract in both shapes. */
export function completeEvents(
  inputs: readonly WireEventInput[],
  moment: Moment,
  ledger: Ledger,
): readonly WireEvent[] {
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

function overridden(event: WireEvent, given: Partial<WireCreatedEvent>, templateId: string): WireEvent {
  if ('CreatedEvent' in event) return event;
  if ('ArchivedEvent' in event) return { ArchivedEvent: { ...event.ArchivedEvent, ...given, templateId } };
  return { ExercisedEvent: { ...event.ExercisedEvent, templateId } };
}
