import {
  type Create,
  type DamlTransaction_Node,
  type Exercise,
  PreparedTransaction,
  type Value,
} from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { firstValueFrom, from } from 'rxjs';
import { type PreparedSubmission, type PrepareRequest, isLedgerError } from '../../src/index.js';
import { preparedTransactionVerifier, type VerifierOptions } from '../../src/verify/index.js';

export const alice = `alice::1220${'ab'.repeat(32)}`;
export const packageId = 'cd'.repeat(32);
export const contractId = `00${'ef'.repeat(32)}`;
export const synchronizerId = `global::1220${'01'.repeat(32)}`;

export const id = (entityName: string, moduleName = 'Main', inPackage = packageId) => ({
  packageId: inPackage,
  moduleName,
  entityName,
});

/** Short constructors of values. */
export const v = {
  unit: (): Value => ({ sum: { oneofKind: 'unit', unit: {} } }),
  bool: (bool: boolean): Value => ({ sum: { oneofKind: 'bool', bool } }),
  int: (int64: string): Value => ({ sum: { oneofKind: 'int64', int64 } }),
  numeric: (numeric: string): Value => ({ sum: { oneofKind: 'numeric', numeric } }),
  text: (text: string): Value => ({ sum: { oneofKind: 'text', text } }),
  party: (party: string): Value => ({ sum: { oneofKind: 'party', party } }),
  contract: (cid: string): Value => ({ sum: { oneofKind: 'contractId', contractId: cid } }),
  date: (date: number): Value => ({ sum: { oneofKind: 'date', date } }),
  time: (timestamp: string): Value => ({ sum: { oneofKind: 'timestamp', timestamp } }),
  none: (): Value => ({ sum: { oneofKind: 'optional', optional: {} } }),
  some: (value: Value): Value => ({ sum: { oneofKind: 'optional', optional: { value } } }),
  list: (...elements: Value[]): Value => ({ sum: { oneofKind: 'list', list: { elements } } }),
  textMap: (...entries: (readonly [string, Value])[]): Value => ({
    sum: { oneofKind: 'textMap', textMap: { entries: entries.map(([key, value]) => ({ key, value })) } },
  }),
  genMap: (...entries: (readonly [Value, Value])[]): Value => ({
    sum: { oneofKind: 'genMap', genMap: { entries: entries.map(([key, value]) => ({ key, value })) } },
  }),
  record: (fields: Readonly<Record<string, Value>>): Value => ({
    sum: {
      oneofKind: 'record',
      record: { recordId: id('R'), fields: Object.entries(fields).map(([label, value]) => ({ label, value })) },
    },
  }),
  variant: (constructor: string, value: Value): Value => ({
    sum: { oneofKind: 'variant', variant: { variantId: id('V'), constructor, value } },
  }),
  enum: (constructor: string): Value => ({ sum: { oneofKind: 'enum', enum: { enumId: id('E'), constructor } } }),
};

type NodeType = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1']['nodeType'];

export const nodeOf = (nodeId: string, nodeType: NodeType): DamlTransaction_Node => ({
  nodeId,
  versionedNode: { oneofKind: 'v1', v1: { nodeType } },
});

/** The contract of a node. */
export const contract = {
  ...{ lfVersion: '2.1', contractId, packageName: 'assets', templateId: id('Asset') },
  ...{ signatories: [alice], stakeholders: [alice] },
};

export const createNode = (nodeId: string, argument: Value, change: Partial<Create> = {}): DamlTransaction_Node =>
  nodeOf(nodeId, { oneofKind: 'create', create: { ...contract, argument, ...change } });

export const exerciseWith = (chosenValue: Value, change: Partial<Exercise> = {}): Exercise => ({
  ...contract,
  ...{ choiceId: 'Give', chosenValue, consuming: true, choiceObservers: [], actingParties: [alice] },
  ...{ children: [], exerciseResult: v.unit(), ...change },
});

export const exerciseNode = (nodeId: string, chosenValue: Value, change?: Partial<Exercise>): DamlTransaction_Node =>
  nodeOf(nodeId, { oneofKind: 'exercise', exercise: exerciseWith(chosenValue, change) });

export const inputContract = (v1: Create, createdAt = 1n) => ({
  ...{ contract: { oneofKind: 'v1' as const, v1 }, createdAt, eventBlob: new Uint8Array() },
});

/** In microseconds. The same in all transactions: the hash covers it. */
const preparationTime = BigInt(Date.now()) * 1000n;

/** A transaction of these nodes, with a seed for each. The roots are the nodes without a parent. */
export function transactionOf(...nodes: DamlTransaction_Node[]): Decoded {
  const below = new Set(
    nodes.flatMap(({ versionedNode }) =>
      versionedNode.oneofKind === 'v1' && versionedNode.v1.nodeType.oneofKind === 'exercise'
        ? versionedNode.v1.nodeType.exercise.children
        : [],
    ),
  );
  return {
    transaction: {
      version: '2.1',
      roots: nodes.map(({ nodeId }) => nodeId).filter((nodeId) => !below.has(nodeId)),
      nodes,
      nodeSeeds: nodes.map((_, nodeId) => ({ nodeId, seed: new Uint8Array(32).fill(nodeId + 1) })),
    },
    metadata: {
      submitterInfo: { actAs: [alice], commandId: 'c-1' },
      synchronizerId,
      mediatorGroup: 0,
      transactionUuid: '6a0e2a6e-2f0a-4d8e-9f0a-0a0a0a0a0a0a',
      preparationTime,
      inputContracts: [],
      globalKeyMapping: [],
    },
  };
}

/** A prepared transaction that is complete. */
export type Decoded = Required<PreparedTransaction>;

export const encodeBase64 = (transaction: PreparedTransaction): string =>
  Buffer.from(PreparedTransaction.toBinary(transaction)).toString('base64');

/** The answer of a participant whose hash is that of its transaction. */
export const preparedOf = async (transaction: PreparedTransaction): Promise<PreparedSubmission> => ({
  preparedTransaction: encodeBase64(transaction),
  preparedTransactionHash: await hashPreparedTransaction(transaction, 'base64').catch(() => 'AAAA'),
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
});

export const createOf = (createArguments: unknown, change: Partial<PrepareRequest> = {}): PrepareRequest => ({
  commandId: 'c-1',
  actAs: [alice],
  commands: [{ CreateCommand: { templateId: '#assets:Main:Asset', createArguments } }],
  ...change,
});

export const exerciseOf = (choiceArgument: unknown, change: Partial<PrepareRequest> = {}): PrepareRequest => ({
  commandId: 'c-1',
  actAs: [alice],
  commands: [{ ExerciseCommand: { templateId: '#assets:Main:Asset', contractId, choice: 'Give', choiceArgument } }],
  ...change,
});

/** `accepted`, or the reason and the path of the VerificationError. */
export async function verdict(
  prepared: PreparedSubmission,
  request: PrepareRequest,
  options?: VerifierOptions,
): Promise<string> {
  try {
    await firstValueFrom(from(preparedTransactionVerifier(options)(prepared, request)), { defaultValue: undefined });
    return 'accepted';
  } catch (error) {
    if (!isLedgerError(error, 'VerificationError')) throw error;
    return [error.reason, error.path].filter((part) => part !== undefined).join(' ');
  }
}

/** The verdict on an argument alone. */
export const verdictOn = async (json: unknown, value: Value): Promise<string> =>
  verdict(await preparedOf(transactionOf(createNode('0', v.record({ it: value })))), createOf({ it: json }));
