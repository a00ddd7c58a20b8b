import { randomBytes, randomUUID } from 'node:crypto';
import type {
  Create,
  DamlTransaction_Node,
  Exercise,
  Metadata_InputContract,
  PreparedTransaction,
  Value,
} from '@canton-network/core-ledger-proto';
import type { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { defer } from 'rxjs';
import { isRecord } from '../../codecs/internal/Codec.js';
import { RequestError, requestError } from '../errors.js';
import type { ContractFacts, Creation, Effect, Exercised } from '../submission/effects.js';
import type { PreparedSubmission } from '../submission/interpret.js';
import type { Models } from '../templates/Models.js';
import { maxMicros, parseMicros } from '../wire/values.js';
import { stakeholdersOf, type WireCreatedEvent } from '../wire/WireUpdate.js';
import type { DecodedTransaction, EncodedTransaction, PreparedEncoding } from './PreparedEncoding.js';
import { formatIdentifier, parseIdentifier } from './types.js';
import { guessValue, recordValue, valueToJson } from './values.js';

/** The encoding and the hash of Canton. They need two packages of the vendor, and time of the machine: they are Promises. */
export const cantonEncoding = (models: Models): PreparedEncoding => ({
  encode: (submission, inputs) => defer(() => encodePrepared(submission, inputs, models)),
  decode: (bytes) => defer(() => decodePrepared(bytes)),
});

/**
 * Encodes a prepared transaction: the nodes with their seeds, and the execution metadata. Computes its hash with the hashing
 * scheme V2.
 *
 * @param inputs - the contracts that the submission uses, and does not create itself
 */
async function encodePrepared(
  submission: PreparedSubmission,
  inputs: readonly WireCreatedEvent[],
  models: Models,
): Promise<EncodedTransaction> {
  const vendor = await loadVendor();
  const { party, commandId, synchronizerId, preparationTime, minLedgerTime, maxRecordTime, effect } = submission;
  const nodes = encodeNodes(effect, models);
  const message: PreparedTransaction = {
    transaction: {
      version: lfVersion,
      roots: ['0'],
      nodes,
      nodeSeeds: nodes.map((_, nodeId) => ({ nodeId, seed: randomBytes(32) })),
    },
    metadata: {
      submitterInfo: { actAs: [party], commandId },
      synchronizerId,
      mediatorGroup: 0,
      transactionUuid: randomUUID(),
      preparationTime: BigInt(preparationTime),
      inputContracts: inputs.map((input) => inputContract(input, models)),
      globalKeyMapping: [],
      ...(minLedgerTime !== undefined && { minLedgerEffectiveTime: BigInt(minLedgerTime) }),
      ...(maxRecordTime !== undefined && { maxRecordTime: BigInt(maxRecordTime) }),
    },
  };
  const hash = Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex');
  return { bytes: vendor.PreparedTransaction.toBinary(message), hash };
}

/** The Daml-LF version of Canton 3. */
const lfVersion = '2.1';

/** Builds the nodes of a transaction, in the order of their execution, with the numbers from 0 on as their ids. */
function encodeNodes(root: Effect, models: Models): DamlTransaction_Node[] {
  const nodes: DamlTransaction_Node[] = [];
  add(root);
  return nodes;

  function add(effect: Effect): string {
    const nodeId = String(nodes.length);
    const node: DamlTransaction_Node = { nodeId, versionedNode: { oneofKind: undefined } };
    nodes.push(node);
    const children = effect.kind === 'exercise' ? effect.children.map(add) : [];
    node.versionedNode = { oneofKind: 'v1', v1: { nodeType: nodeTypeOf(effect, children, models) } };
    return nodeId;
  }
}

function nodeTypeOf(effect: Effect, children: string[], models: Models): NodeType {
  if (effect.kind === 'create') return { oneofKind: 'create', create: createNode(effect, argumentOf(effect, models)) };
  if (effect.kind === 'exercise')
    return { oneofKind: 'exercise', exercise: { ...exerciseNode(effect, models), children } };
  return { oneofKind: 'fetch', fetch: { ...nodeFields(effect), actingParties: [...effect.actingParties].sort() } };
}

type NodeType = Extract<DamlTransaction_Node['versionedNode'], { readonly oneofKind: 'v1' }>['v1']['nodeType'];

/** The fields that all kinds of nodes have. Sets of parties are sorted. */
const nodeFields = (facts: ContractFacts) => ({
  lfVersion,
  contractId: facts.contractId,
  packageName: facts.template.packageName,
  templateId: parseIdentifier(facts.template.id),
  signatories: [...facts.signatories].sort(),
  stakeholders: [...stakeholdersOf(facts)].sort(),
});

/** Builds a create node, which also describes an input contract. */
const createNode = (facts: ContractFacts, argument: Value): Create => ({ ...nodeFields(facts), argument });

const argumentOf = (
  { template, createArgument }: Pick<Creation, 'template' | 'createArgument'>,
  models: Models,
): Value => recordValue(createArgument, models.of(template).fields, parseIdentifier(template.id));

/** Builds the node of a choice, without its children. */
function exerciseNode(effect: Exercised, models: Models): Exercise {
  const { template, interfaceId, choice, choiceArgument, isConsuming, result, actingParties } = effect;
  const model = models.findChoice(template, interfaceId ?? template.id, choice);
  const recordId = choice === 'Archive' ? archiveRecordId : { ...parseIdentifier(template.id), entityName: choice };
  return {
    ...nodeFields(effect),
    ...(interfaceId !== null && { interfaceId: parseIdentifier(interfaceId) }),
    actingParties: [...actingParties].sort(),
    choiceId: choice,
    chosenValue: recordValue(choiceArgument, model?.fields, recordId),
    consuming: isConsuming,
    children: [],
    exerciseResult: guessValue(result),
    choiceObservers: [],
  };
}

/** The type of the argument of `Archive`, from a package that all Daml 3 packages depend on. */
const archiveRecordId = parseIdentifier(
  '9e70a8b3510d617f8a136213f33d6a903a10ca0eeec76bb06ba55d1ed9680f69:DA.Internal.Template:Archive',
);

/** Builds the metadata of a contract that a transaction uses. */
function inputContract(created: WireCreatedEvent, models: Models): Metadata_InputContract {
  const { createArgument, createdAt, createdEventBlob, templateId: id, packageName } = created;
  const template = { id, packageName };
  const v1 = createNode({ ...created, template }, inputArgument({ template, createArgument }, models));
  return {
    contract: { oneofKind: 'v1', v1 },
    createdAt: BigInt(parseMicros(createdAt)),
    eventBlob: Buffer.from(createdEventBlob, 'base64'),
  };
}

/** Returns the argument of a contract. For an appended contract, it may not have the type of the template. */
function inputArgument(creation: Pick<Creation, 'template' | 'createArgument'>, models: Models): Value {
  try {
    return argumentOf(creation, models);
  } catch {
    const { createArgument: json, template } = creation;
    return recordValue(isRecord(json) ? json : {}, undefined, parseIdentifier(template.id));
  }
}

/** Decodes the bytes of a prepared transaction. Computes its hash, because the client does not send it. */
async function decodePrepared(bytes: Uint8Array): Promise<DecodedTransaction> {
  const vendor = await loadVendor();
  try {
    const message = vendor.PreparedTransaction.fromBinary(bytes);
    const prepared = readMessage(message);
    return { prepared, hash: Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex') };
  } catch {
    throw requestError('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}

/**
 * Reads the message of a prepared transaction. Throws if the message does not have the form that the sandbox creates.
 */
function readMessage({ transaction, metadata }: PreparedTransaction): PreparedSubmission {
  const [party, ...others] = metadata?.submitterInfo?.actAs ?? [];
  const [root, ...otherRoots] = transaction?.roots ?? [];
  const nodes = new Map(transaction?.nodes.map(({ nodeId, versionedNode }) => [nodeId, versionedNode]));
  if (metadata === undefined || party === undefined || others.length > 0) throw new TypeError('not one acting party');
  if (root === undefined || otherRoots.length > 0) throw new TypeError('not one root');
  const { synchronizerId, submitterInfo, preparationTime, minLedgerEffectiveTime, maxRecordTime } = metadata;
  return {
    commandId: submitterInfo?.commandId ?? '',
    party,
    synchronizerId,
    preparationTime: toMicros(preparationTime),
    minLedgerTime: minLedgerEffectiveTime === undefined ? undefined : toMicros(minLedgerEffectiveTime),
    maxRecordTime: maxRecordTime === undefined ? undefined : toMicros(maxRecordTime),
    effect: readEffect(root, nodes),
  };
}

function toMicros(time: bigint): number {
  if (time > maxMicros) throw new RangeError('no such time');
  return Number(time);
}

type Nodes = ReadonlyMap<string, DamlTransaction_Node['versionedNode']>;

/** Reads the effect of a node, with those of its children. */
function readEffect(nodeId: string, nodes: Nodes): Effect {
  const node = nodes.get(nodeId);
  if (node?.oneofKind !== 'v1') throw new TypeError('no such node');
  const { nodeType } = node.v1;
  switch (nodeType.oneofKind) {
    case 'create': {
      const { contractId, argument } = nodeType.create;
      if (!/^00[0-9a-f]{64}$/.test(contractId)) throw new TypeError('no contract');
      return { kind: 'create', ...readFacts(nodeType.create), createArgument: valueToJson(argument) };
    }
    case 'exercise':
      return readExercise(nodeType.exercise, nodes);
    case 'fetch':
      return { kind: 'fetch', ...readFacts(nodeType.fetch), actingParties: nodeType.fetch.actingParties };
    default:
      throw new TypeError('another kind of node');
  }
}

function readExercise(exercise: Exercise, nodes: Nodes): Exercised {
  const { choiceId, chosenValue, consuming, children, exerciseResult, interfaceId, actingParties } = exercise;
  return {
    kind: 'exercise',
    ...readFacts(exercise),
    interfaceId: interfaceId === undefined ? null : formatIdentifier(interfaceId),
    choice: choiceId,
    choiceArgument: valueToJson(chosenValue),
    isConsuming: consuming,
    actingParties,
    result: valueToJson(exerciseResult),
    children: children.map((child) => readEffect(child, nodes)),
  };
}

function readFacts(
  node: Pick<Create, 'contractId' | 'templateId' | 'packageName' | 'signatories' | 'stakeholders'>,
): ContractFacts {
  const { contractId, templateId, packageName, signatories, stakeholders } = node;
  if (templateId === undefined) throw new TypeError('no template');
  return {
    contractId,
    template: { id: formatIdentifier(templateId), packageName },
    signatories,
    observers: stakeholders.filter((party) => !signatories.includes(party)),
  };
}

/** The functions of the vendor's packages: the encoding of prepared transactions, and their hash. */
interface Vendor {
  readonly PreparedTransaction: typeof PreparedTransaction;
  readonly hashPreparedTransaction: typeof hashPreparedTransaction;
}

/** Loads the vendor's packages on first use. They are optional; everything else works without them. */
async function loadVendor(): Promise<Vendor> {
  try {
    // one after the other: the second imports the first, and Jest cannot link a module for two importers at the same
    // time
    const { PreparedTransaction } = await import('@canton-network/core-ledger-proto');
    const { hashPreparedTransaction } = await import('@canton-network/core-tx-visualizer');
    return { PreparedTransaction, hashPreparedTransaction };
  } catch {
    throw new RequestError(501, packagesNotInstalled);
  }
}

// short, because errors of the library quote only the first 200 characters, which must include the command
const packagesNotInstalled =
  'The sandbox requires two packages for submissions: ' +
  'npm install --save-dev @canton-network/core-ledger-proto@^1.7.0 @canton-network/core-tx-visualizer@^1.7.0';
