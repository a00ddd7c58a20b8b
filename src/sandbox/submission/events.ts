import type { Models } from '../templates/Models.js';
import { sha256 } from '../wire/values.js';
import { stakeholdersOf, type WireEventInput } from '../wire/WireUpdate.js';
import { type Creation, creationsIn, type Effect, type Exercised, nodesOf } from './effects.js';

/**
 * The events of a committed transaction, in the order of their node ids. Every node has an id, also one without an event.
 * A party sees a node if it is an informee of the node, or of an exercise that contains the node.
 */
export function eventsOf(effects: readonly Effect[], offset: number, models: Models): readonly WireEventInput[] {
  const created = new Set(creationsIn(effects).map(({ contractId }) => contractId));
  const consumed = new Set<string>();
  for (const effect of nodesOf(effects))
    if (effect.kind === 'exercise' && effect.isConsuming) consumed.add(effect.contractId);
  const withSuffixes = suffixer(created, offset);
  const events: WireEventInput[] = [];
  let nextId = 0;
  for (const effect of effects) add(effect, []);
  return events;

  function add(effect: Effect, above: readonly string[]): void {
    const nodeId = nextId++;
    if (effect.kind === 'create') addCreation(effect, nodeId, above);
    if (effect.kind === 'exercise') addExercise(effect, nodeId, above);
  }

  function addCreation(creation: Creation, nodeId: number, above: readonly string[]): void {
    const { contractId, template, signatories, observers } = creation;
    const createArgument = withSuffixes(creation.createArgument);
    const CreatedEvent = {
      nodeId,
      contractId: suffixed(contractId, offset),
      templateId: template.id,
      packageName: template.packageName,
      createArgument,
      signatories,
      observers,
      witnessParties: union(above, stakeholdersOf(creation)),
      ...models.derivedFields({ ...creation, createArgument }),
      // a contract that the same transaction archives is never active
      acsDelta: !consumed.has(contractId),
    };
    events.push({ CreatedEvent });
  }

  function addExercise(exercised: Exercised, nodeId: number, above: readonly string[]): void {
    const { contractId: id, choice, interfaceId, isConsuming: consuming, actingParties, children } = exercised;
    // the version of the template that is used, not the one by which the contract was created
    const templateId = exercised.template.id;
    const isTransient = created.has(id);
    const contractId = isTransient ? suffixed(id, offset) : id;
    const witnessParties = union(above, informeesOf(exercised));
    if (consuming && !isTransient) events.push({ ArchivedEvent: { nodeId, contractId, templateId } });
    const index = events.length;
    events.push({ ExercisedEvent: {} });
    for (const child of children) add(child, witnessParties);
    const ExercisedEvent = {
      nodeId,
      contractId,
      templateId,
      choice,
      interfaceId,
      choiceArgument: withSuffixes(exercised.choiceArgument),
      consuming,
      actingParties,
      witnessParties,
      exerciseResult: withSuffixes(exercised.result),
      lastDescendantNodeId: nextId - 1,
    };
    events[index] = { ExercisedEvent };
  }
}

/** Who learns of an exercise: those who exercise it, and the signatories; if it archives the contract, the observers, too. */
const informeesOf = ({ isConsuming, actingParties, signatories, observers }: Exercised): readonly string[] =>
  union(signatories, isConsuming ? observers : [], actingParties);

const union = (...lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];

/** A synchronizer adds the suffix to the contract id of an interpreted transaction. */
const suffixed = (contractId: string, offset: number): string =>
  `${contractId}ca1112${sha256('suffix', contractId, offset)}`;

/** Returns a function that adds the suffixes to the ids of created contracts, wherever they are in a value. */
function suffixer(created: ReadonlySet<string>, offset: number): (json: unknown) => unknown {
  const map = (json: unknown): unknown => {
    if (typeof json === 'string') return created.has(json) ? suffixed(json, offset) : json;
    if (Array.isArray(json)) return json.map(map);
    if (typeof json !== 'object' || json === null) return json;
    return Object.fromEntries(Object.entries(json).map(([key, value]) => [map(key), map(value)]));
  };
  return created.size === 0 ? (json) => json : map;
}
