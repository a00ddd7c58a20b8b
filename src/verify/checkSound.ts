import type { DamlTransaction, Metadata } from '@canton-network/core-ledger-proto';
import { checkCreate, checkNode } from './checkNode.js';
import { refusal } from './refusal.js';
import type { NodeType, RootNode } from './RootNode.js';

/** The library that hashes looks through all seeds for each node. */
const mostNodes = 5_000;

/**
 * Refuses what the vendor's library would hash as something else, or without end: it believes that every node is there
 * once and has one parent, that a seed has 32 bytes, that a contract id is hexadecimal, and that an `Int` is a safe
 * integer. Where that is not so, two transactions can have one hash, and the wrong one would be signed.
 *
 * @returns the root nodes
 */
export function checkSound({ nodes, nodeSeeds, roots }: DamlTransaction, metadata: Metadata): readonly RootNode[] {
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

function rootOf(type: NodeType | undefined): RootNode {
  if (type?.oneofKind === 'create') return { kind: 'create', create: type.create };
  if (type?.oneofKind === 'exercise') return { kind: 'exercise', exercise: type.exercise };
  throw refusal('commands', 'it does something that is no command');
}

const unsound = (explanation: string) => refusal('undecodable', explanation);
