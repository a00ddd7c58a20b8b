import type { Create, DamlTransaction, Exercise, Fetch, Metadata, Value } from '@canton-network/core-ledger-proto';
import { isLargeInt } from './scalars.js';
import { type NodeType, refusal, type RootNode } from './transaction.js';

/** A transaction that has passed the checks. */
interface WellFormed {
  readonly roots: readonly RootNode[];
  /** Whether it contains an `Int` that the library would round. */
  readonly hasLargeInt: boolean;
}

/** The maximum number of nodes: the hashing library searches all seeds for each node. */
const maxNodes = 5_000;

/**
 * Throws if the vendor's library would hash the transaction incorrectly or endlessly. The library assumes that every
 * node is unique and has one parent, that a seed has 32 bytes, and that a contract id is hexadecimal. Otherwise, two
 * transactions can have the same hash, and the party would sign the wrong one. The library also assumes that an `Int` is
 * a safe integer: this reports whether there is a larger one.
 */
export function checkWellFormed({ nodes, nodeSeeds, roots }: DamlTransaction, metadata: Metadata): WellFormed {
  if (nodes.length > maxNodes || nodeSeeds.length > nodes.length) throw malformed('it has too many nodes or seeds');
  const seeds = new Map(nodeSeeds.map(({ nodeId, seed }) => [String(nodeId), seed]));
  if (seeds.size < nodeSeeds.length || [...seeds.values()].some(({ length }) => length !== 32)) {
    throw malformed('its seeds are invalid');
  }
  const types = new Map<string, NodeType>();
  for (const { nodeId, versionedNode } of nodes) {
    if (versionedNode.oneofKind !== 'v1') throw malformed('it has a node of an unknown version');
    types.set(nodeId, versionedNode.v1.nodeType);
  }
  if (types.size < nodes.length) throw malformed('two of its nodes have the same id');
  const values = checkTree(roots, types, seeds);
  for (const { contract } of metadata.inputContracts) {
    if (contract.oneofKind !== 'v1') throw malformed('it has a contract of an unknown version');
    values.push(...checkCreate(contract.v1));
  }
  return { roots: roots.map((root) => rootOf(types.get(root))), hasLargeInt: values.map(checkValue).includes(true) };
}

const malformed = (explanation: string) => refusal('undecodable', explanation);

/**
 * Throws unless exactly one path leads from the roots to each node: the library hashes a node once per path, or
 * endlessly. Returns the values of the nodes.
 */
function checkTree(
  roots: readonly string[],
  types: ReadonlyMap<string, NodeType>,
  seeds: ReadonlyMap<string, Uint8Array>,
): (Value | undefined)[] {
  const rest = new Map(types);
  const values: (Value | undefined)[] = [];
  const stack = [...roots];
  for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
    const type = rest.get(id);
    if (type === undefined || !rest.delete(id)) throw malformed('its nodes do not form a tree');
    const hasSeed = type.oneofKind === 'create' || type.oneofKind === 'exercise';
    if (hasSeed && !seeds.has(id)) throw malformed('a node has no seed');
    const { children = [], values: own = [] } = checkNode(type);
    for (const child of children) stack.push(child);
    values.push(...own);
  }
  if (rest.size > 0) throw malformed('its nodes do not form a tree');
  return values;
}

/** The parts of a node. */
interface NodeParts {
  readonly children?: readonly string[];
  readonly values?: readonly (Value | undefined)[];
}

/** Throws if a node is incomplete. */
function checkNode(type: NodeType): NodeParts {
  switch (type.oneofKind) {
    case 'create':
      return { values: checkCreate(type.create) };
    case 'exercise':
      return { children: type.exercise.children, values: checkExercise(type.exercise) };
    case 'fetch':
      checkContract(type.fetch);
      return {};
    case 'rollback':
      return { children: type.rollback.children };
    default:
      throw malformed('it has a node of an unknown kind');
  }
}

function checkCreate(create: Create): readonly (Value | undefined)[] {
  checkContract(create);
  return [create.argument];
}

function checkContract({ contractId, templateId }: Create | Exercise | Fetch): void {
  if (!isContractId(contractId) || templateId === undefined) {
    throw malformed('it has a contract without id or template');
  }
}

/** Whether a text is lower-case hexadecimal with an even number of digits, like contract ids. */
const isContractId = (text: string): boolean => text.length > 0 && text.length % 2 === 0 && !/[^0-9a-f]/.test(text);

/**
 * The maximum number of parts. With many more, the hashing library exceeds the maximum number of function arguments.
 */
const maxParts = 100_000;

/** The maximum depth. The ledger's values have a depth of at most 100. */
const maxDepth = 200;

/**
 * Throws if a value is incomplete, or if the vendor's library would hash it as another value. Returns whether it contains
 * an `Int` that the library would round.
 */
function checkValue(value: Value | undefined): boolean {
  // not recursive: the participant chooses the depth, and could overflow the call stack
  const stack: { readonly value: Value | undefined; readonly depth: number }[] = [{ value, depth: 0 }];
  let parts = 0;
  let hasLargeInt = false;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { depth } = next;
    if (++parts > maxParts) throw malformed('it has a value that is too large');
    if (next.value === undefined || depth > maxDepth) throw malformed('it has an invalid value');
    hasLargeInt ||= isLargeInt(next.value);
    for (const inner of partsOf(next.value)) stack.push({ value: inner, depth: depth + 1 });
  }
  return hasLargeInt;
}

function partsOf({ sum }: Value): readonly (Value | undefined)[] {
  switch (sum.oneofKind) {
    case undefined:
      return [undefined];
    case 'contractId':
      if (!isContractId(sum.contractId)) throw malformed('it has an invalid contract id');
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

function checkExercise(exercise: Exercise): readonly (Value | undefined)[] {
  checkContract(exercise);
  const { chosenValue, exerciseResult } = exercise;
  return exerciseResult === undefined ? [chosenValue] : [chosenValue, exerciseResult];
}

function rootOf(type: NodeType | undefined): RootNode {
  if (type?.oneofKind === 'create') return { kind: 'create', create: type.create };
  if (type?.oneofKind === 'exercise') return { kind: 'exercise', exercise: type.exercise };
  throw refusal('commands', 'it has a root node that is not a command');
}
