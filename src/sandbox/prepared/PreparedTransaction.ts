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
import type { Creation, Effect, Exercised, PreparedSubmission } from '../submission/interpret.js';
import { maxMicros, parseMicros } from '../wire/values.js';
import { stakeholdersOf, type TemplateRef, type WireCreatedEvent } from '../wire/WireUpdate.js';
import type { DecodedTransaction, EncodedTransaction, PreparedEncoding } from './PreparedEncoding.js';
import { findChoiceType, findTemplateType, formatIdentifier, parseIdentifier } from './types.js';
import { jsonToValue, recordValue, valueToJson } from './values.js';

/** The encoding and the hash of Canton. They need two packages of the vendor, and time of the machine: they are Promises. */
export const cantonEncoding: PreparedEncoding = {
  encode: (submission, input) => defer(() => encodePrepared(submission, input)),
  decode: (bytes) => defer(() => decodePrepared(bytes)),
};

/**
 * Encodes a prepared transaction: a root node with its consequence, their seeds, and the execution metadata. Computes
 * its hash with the hashing scheme V2.
 *
 * @param input - the contract that the submission uses, if there is one
 */
async function encodePrepared(
  submission: PreparedSubmission,
  input: WireCreatedEvent | undefined,
): Promise<EncodedTransaction> {
  const vendor = await loadVendor();
  const { party, commandId, synchronizerId, preparationTime, minLedgerTime, maxRecordTime, effect } = submission;
  const { creation } = effect.kind === 'create' ? { creation: effect } : effect;
  const exercise = effect.kind === 'create' || input === undefined ? undefined : exerciseNode(effect, input, party);
  const nodes = [
    ...(exercise ? [{ oneofKind: 'exercise' as const, exercise }] : []),
    ...(creation ? [{ oneofKind: 'create' as const, create: createNode(creation) }] : []),
  ];
  const message: PreparedTransaction = {
    transaction: {
      version: lfVersion,
      roots: ['0'],
      nodes: nodes.map((nodeType, index): DamlTransaction_Node => ({
        nodeId: String(index),
        versionedNode: { oneofKind: 'v1', v1: { nodeType } },
      })),
      nodeSeeds: nodes.map((_, nodeId) => ({ nodeId, seed: randomBytes(32) })),
    },
    metadata: {
      submitterInfo: { actAs: [party], commandId },
      synchronizerId,
      mediatorGroup: 0,
      transactionUuid: randomUUID(),
      preparationTime: BigInt(preparationTime),
      inputContracts: input === undefined ? [] : [inputContract(input)],
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

/** Builds a create node, which also describes an input contract. */
function createNode(creation: Omit<Creation, 'kind'>, argument = argumentOf(creation)): Create {
  const { contractId, template, signatories, observers } = creation;
  return {
    lfVersion,
    contractId,
    packageName: template.packageName,
    templateId: parseIdentifier(template.id),
    argument,
    // sets of parties are sorted
    signatories: [...signatories].sort(),
    stakeholders: [...new Set([...signatories, ...observers])].sort(),
  };
}

const argumentOf = ({ template, createArgument }: Pick<Creation, 'template' | 'createArgument'>): Value =>
  recordValue(createArgument, findTemplateType(template).fields, parseIdentifier(template.id));

/** Builds the node of a choice. A contract that the choice creates is its only child. */
function exerciseNode(effect: Exercised, created: WireCreatedEvent, party: string): Exercise {
  const { contractId, choice, choiceArgument, isConsuming, result, creation } = effect;
  const template = templateOf(created);
  const type = findChoiceType(template, choice);
  if (type === undefined) throw new Error(`${choice} has been interpreted`);
  const recordId = choice === 'Archive' ? archiveRecordId : { ...parseIdentifier(template.id), entityName: choice };
  return {
    lfVersion,
    contractId,
    packageName: template.packageName,
    templateId: parseIdentifier(template.id),
    signatories: [...created.signatories].sort(),
    stakeholders: [...stakeholdersOf(created)].sort(),
    actingParties: [party],
    choiceId: choice,
    chosenValue: recordValue(choiceArgument, type.fields, recordId),
    consuming: isConsuming,
    children: creation === undefined ? [] : ['1'],
    exerciseResult: jsonToValue(result, type.result, recordId),
    choiceObservers: [],
  };
}

/** The type of the argument of `Archive`, from a package that all Daml 3 packages depend on. */
const archiveRecordId = parseIdentifier(
  '9e70a8b3510d617f8a136213f33d6a903a10ca0eeec76bb06ba55d1ed9680f69:DA.Internal.Template:Archive',
);

/** Builds the metadata of a contract that a transaction uses. */
function inputContract(created: WireCreatedEvent): Metadata_InputContract {
  const { createArgument, createdAt, createdEventBlob } = created;
  const template = templateOf(created);
  return {
    contract: { oneofKind: 'v1', v1: createNode({ ...created, template }, inputArgument(template, createArgument)) },
    createdAt: BigInt(parseMicros(createdAt)),
    eventBlob: Buffer.from(createdEventBlob, 'base64'),
  };
}

/** Returns the argument of a contract. For an appended contract, it may not have the type of the template. */
function inputArgument(template: TemplateRef, json: unknown): Value {
  try {
    return argumentOf({ template, createArgument: json });
  } catch {
    return recordValue(isRecord(json) ? json : {}, undefined, parseIdentifier(template.id));
  }
}

const templateOf = ({ templateId: id, packageName }: WireCreatedEvent): TemplateRef => ({ id, packageName });

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

/** Reads the effect of a node. */
function readEffect(nodeId: string, nodes: Nodes): Effect {
  const node = nodes.get(nodeId);
  if (node?.oneofKind !== 'v1') throw new TypeError('no such node');
  const { nodeType } = node.v1;
  if (nodeType.oneofKind === 'create') return readCreate(nodeType.create);
  if (nodeType.oneofKind === 'exercise') return readExercise(nodeType.exercise, nodes);
  throw new TypeError('neither a create nor an exercise');
}

function readExercise(exercise: Exercise, nodes: Nodes): Exercised {
  const { contractId, choiceId, chosenValue, consuming, children, exerciseResult, templateId, packageName } = exercise;
  const type = templateId && findChoiceType({ id: formatIdentifier(templateId), packageName }, choiceId);
  if (type?.isConsuming !== consuming) throw new TypeError('no such choice');
  const [child, ...others] = children;
  const consequence = child === undefined ? undefined : readEffect(child, nodes);
  const hasCreation = consequence?.kind === 'create';
  if (others.length > 0 || hasCreation !== (type.result === 'contractId')) throw new TypeError('other consequences');
  return {
    kind: 'exercise',
    contractId,
    choice: choiceId,
    choiceArgument: valueToJson(chosenValue),
    isConsuming: consuming,
    result: valueToJson(exerciseResult),
    creation: hasCreation ? consequence : undefined,
  };
}

function readCreate({ contractId, templateId, packageName, argument, signatories, stakeholders }: Create): Creation {
  if (templateId === undefined || !/^00[0-9a-f]{64}$/.test(contractId)) throw new TypeError('no contract');
  return {
    kind: 'create',
    contractId,
    template: { id: formatIdentifier(templateId), packageName },
    createArgument: valueToJson(argument),
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
