import type { Create, DamlTransaction, Exercise, Fetch, Metadata, Value } from '@canton-network/core-ledger-proto';
import { type NodeType, refusal, type RootNode } from './transaction.js';

/** The library that hashes looks through all seeds for each node. */
const mostNodes = 5_000;

/**
 * Refuses what the vendor's library would hash as something else, or without end: it believes that every node is there
 * once and has one parent, that a seed has 32 bytes, that a contract id is hexadecimal, and that an `Int` is a safe
 * integer. Where that is not so, two transactions can have one hash, and the wrong one would be signed.
 *
 * @returns the root nodes
 */
export function checkWellFormed({ nodes, nodeSeeds, roots }: DamlTransaction, metadata: Metadata): readonly RootNode[] {
  if (nodes.length > mostNodes || nodeSeeds.length > nodes.length) throw unsound('it has too many nodes or seeds');
  const seeds = new Map(nodeSeeds.map(({ nodeId, seed }) => [String(nodeId), seed]));
  if (seeds.size < nodeSeeds.length || [...seeds.values()].some(({ length }) => length !== 32)) {
    throw unsound('its seeds are not sound');
  }
  const types = new Map<string, NodeType>();
  for (const { nodeId, versionedNode } of nodes) {
    if (versionedNode.oneofKind !== 'v1') throw unsound('it has a node of an unknown version');
    types.set(nodeId, versionedNode.v1.nodeType);
  }
  if (types.size < nodes.length) throw unsound('two of its nodes have one id');
  checkTree(roots, types, seeds);
  for (const { contract } of metadata.inputContracts) {
    if (contract.oneofKind !== 'v1') throw unsound('it has a contract of an unknown version');
    checkCreate(contract.v1);
  }
  return roots.map((root) => rootOf(types.get(root)));
}

const unsound = (explanation: string) => refusal('undecodable', explanation);

/** From the roots every node is reached, and each once: otherwise hashing takes a path per way, or has no end. */
function checkTree(
  roots: readonly string[],
  types: ReadonlyMap<string, NodeType>,
  seeds: ReadonlyMap<string, Uint8Array>,
): void {
  const rest = new Map(types);
  const waiting = [...roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const type = rest.get(id);
    if (type === undefined || !rest.delete(id)) throw unsound('its nodes are not a tree');
    const hasSeed = type.oneofKind === 'create' || type.oneofKind === 'exercise';
    if (hasSeed && !seeds.has(id)) throw unsound('a node has no seed');
    for (const child of checkNode(type)) waiting.push(child);
  }
  if (rest.size > 0) throw unsound('its nodes are not a tree');
}

/** Refuses a node that is not whole. @returns the nodes below it */
function checkNode(type: NodeType): readonly string[] {
  switch (type.oneofKind) {
    case 'create':
      checkCreate(type.create);
      return [];
    case 'exercise':
      checkExercise(type.exercise);
      return type.exercise.children;
    case 'fetch':
      checkContract(type.fetch);
      return [];
    case 'rollback':
      return type.rollback.children;
    default:
      throw refusal('undecodable', 'it has a node of an unknown kind');
  }
}

/** Refuses a contract that is not whole. */
function checkCreate(create: Create): void {
  checkContract(create);
  checkValue(create.argument);
}

function checkContract({ contractId, templateId }: Create | Exercise | Fetch): void {
  if (!isContractId(contractId) || templateId === undefined) {
    throw refusal('undecodable', 'it has a contract without id or template');
  }
}

/** Whether a text is bytes in lower-case hexadecimal, as contract ids are written. */
const isContractId = (text: string): boolean => text.length > 0 && text.length % 2 === 0 && !/[^0-9a-f]/.test(text);

/** With many more parts the library that hashes passes a function more arguments than it can take. */
const mostParts = 100_000;

/** The ledger has no deeper values: 100. */
const deepest = 200;

/** Refuses a value that is not whole, or that the vendor's library hashes as another one. */
function checkValue(value: Value | undefined): void {
  // a list of its own: the depth is the participant's choice, and so would be that of the stack
  const waiting: { readonly value: Value | undefined; readonly depth: number }[] = [{ value, depth: 0 }];
  let parts = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { depth } = next;
    if (++parts > mostParts) throw refusal('undecodable', 'it has a value that is too large');
    if (next.value === undefined || depth > deepest) throw refusal('undecodable', 'it has a value that cannot be read');
    for (const inner of partsOf(next.value)) waiting.push({ value: inner, depth: depth + 1 });
  }
}

function partsOf({ sum }: Value): readonly (Value | undefined)[] {
  switch (sum.oneofKind) {
    case undefined:
      return [undefined];
    case 'int64':
      if (!Number.isSafeInteger(Number(sum.int64))) throw refusal('hash', 'it has an Int that cannot be hashed');
      return [];
    case 'contractId':
      if (!isContractId(sum.contractId)) throw refusal('undecodable', 'it has a contract id that cannot be read');
      return [];
    case 'optional':
      return sum.optional.value === undefined ? [] : [sum.optional.value];
    case 'list':
      return sum.list.elements;
    case 'textMap':
      return sum.textMap.entries.map(({ value }) => value);
    case 'genMap':
      return sum.genMap.entries.flatMap(({ key, value }) => [key, value]);
    case 'record':
      return sum.record.fields.map(({ value }) => value);
    case 'variant':
      return [sum.variant.value];
    default:
      return [];
  }
}

function checkExercise(exercise: Exercise): void {
  checkContract(exercise);
  checkValue(exercise.chosenValue);
  if (exercise.exerciseResult !== undefined) checkValue(exercise.exerciseResult);
}

function rootOf(type: NodeType | undefined): RootNode {
  if (type?.oneofKind === 'create') return { kind: 'create', create: type.create };
  if (type?.oneofKind === 'exercise') return { kind: 'exercise', exercise: type.exercise };
  throw refusal('commands', 'it does something that is no command');
}
