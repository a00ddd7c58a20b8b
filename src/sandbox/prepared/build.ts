import type {
  Create,
  DamlTransaction_Node,
  Exercise,
  Metadata_InputContract,
  PreparedTransaction,
  Value,
} from '@canton-network/core-ledger-proto';
import { randomBytes, randomUUID } from 'node:crypto';
import { isRecord } from '../../codecs/internal/Codec.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { Packages } from '../ledger/Packages.js';
import type { PrepareRequest } from '../requests/prepareRequest.js';
import { stakeholdersOf } from '../wire/events.js';
import { parseMicros, sha256 } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent } from '../wire/WireEvent.js';
import type { Vendor } from './PreparedSubmission.js';
import { jsonToValue, recordValue } from './jsonToValue.js';
import { findChoiceType, findTemplateType, parseIdentifier } from './types.js';

/**
 * Builds the message of a prepared transaction: a root node with its consequence, their seeds, and the execution
 * metadata.
 */
export function buildPrepared(submission: PrepareRequest, ledger: Ledger): PreparedTransaction {
  const { party, commandId, synchronizerId, minLedgerTime, maxRecordTime } = submission;
  const transactionUuid = randomUUID();
  const { nodes, inputs } = buildNodes(submission, transactionUuid, ledger);
  return {
    transaction: {
      version: lfVersion,
      roots: ['0'],
      nodes: nodes.map((nodeType, index) => ({
        nodeId: String(index),
        versionedNode: { oneofKind: 'v1', v1: { nodeType } },
      })),
      nodeSeeds: nodes.map((_, nodeId) => ({ nodeId, seed: randomBytes(32) })),
    },
    metadata: {
      submitterInfo: { actAs: [party], commandId },
      synchronizerId,
      mediatorGroup: 0,
      transactionUuid,
      preparationTime: BigInt(Date.now()) * 1000n,
      inputContracts: [...inputs],
      globalKeyMapping: [],
      ...(minLedgerTime !== undefined && { minLedgerEffectiveTime: BigInt(minLedgerTime) }),
      ...(maxRecordTime !== undefined && { maxRecordTime: BigInt(maxRecordTime) }),
    },
  };
}

type NodeType = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1']['nodeType'];

interface NodesWithInputs {
  /** The nodes: first the root, then its children. */
  readonly nodes: readonly NodeType[];
  readonly inputs: readonly Metadata_InputContract[];
}

function buildNodes({ command, party }: PrepareRequest, uuid: string, ledger: Ledger): NodesWithInputs {
  if (command.kind === 'create') {
    const create = buildCreateNode(command, { party, uuid, packages: ledger.packages });
    return { nodes: [{ oneofKind: 'create', create }], inputs: [] };
  }
  const contract = ledger.contracts.get(command.contractId);
  if (contract === undefined) throw new Error(`${command.contractId} has been checked to be active`);
  const { created } = contract;
  const { exercise, creations } = buildExercise(created, command, { party, uuid });
  const children = creations.map((create): NodeType => ({ oneofKind: 'create', create }));
  return { nodes: [{ oneofKind: 'exercise', exercise }, ...children], inputs: [buildInputContract(created)] };
}

interface CreateCommand {
  readonly templateId: string;
  readonly createArguments: unknown;
}

interface Context {
  readonly party: string;
  readonly uuid: string;
  readonly packages: Packages;
}

/** Builds the node of a create command. The commit adds a suffix to the contract id. */
function buildCreateNode({ templateId, createArguments: json }: CreateCommand, context: Context): Create {
  const { party, uuid, packages } = context;
  const template = packages.resolve(templateId);
  const { fields, observers = [] } = findTemplateType(template);
  const values = observers.map((label) => (isRecord(json) ? json[label] : undefined));
  return createNode({
    contractId: `00${sha256('contract', uuid)}`,
    template,
    argument: recordValue(json, fields, parseIdentifier(template.id)),
    signatories: [party],
    observers: values.filter((observer) => typeof observer === 'string'),
  });
}

interface CreateFields {
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly argument: Value;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** Builds a create node, which also describes an input contract. */
function createNode({ contractId, template, argument, signatories, observers }: CreateFields): Create {
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

/** The Daml-LF version of Canton 3. */
const lfVersion = '2.1';

interface ExerciseCommand {
  readonly choice: string;
  readonly choiceArgument: unknown;
}

/** Builds the node of an exercise command, and the contract that the choice creates: with `Transfer`, its successor. */
function buildExercise(
  created: WireCreatedEvent,
  { choice, choiceArgument }: ExerciseCommand,
  { party, uuid }: Omit<Context, 'packages'>,
): { readonly exercise: Exercise; readonly creations: readonly Create[] } {
  const template = { id: created.templateId, packageName: created.packageName };
  const type = findChoiceType(template, choice);
  if (type === undefined) throw new Error(`${choice} has been checked to exist`);
  const creations = choice === 'Transfer' ? [successorOf(created, choiceArgument, uuid)] : [];
  const recordId = choice === 'Archive' ? archiveRecordId : { ...parseIdentifier(template.id), entityName: choice };
  const results = { unit: {}, int64: '42', contractId: creations[0]?.contractId };
  const exercise: Exercise = {
    lfVersion,
    contractId: created.contractId,
    packageName: template.packageName,
    templateId: parseIdentifier(template.id),
    signatories: [...created.signatories].sort(),
    stakeholders: [...stakeholdersOf(created)].sort(),
    actingParties: [party],
    choiceId: choice,
    chosenValue: recordValue(choiceArgument, type.fields, recordId),
    consuming: type.isConsuming,
    children: creations.map((_, index) => String(index + 1)),
    exerciseResult: jsonToValue(results[type.result], type.result, recordId),
    choiceObservers: [],
  };
  return { exercise, creations };
}

/**
 * Returns the contract with another owner as its observer. The signatories stay the same, because they have authorized
 * it.
 */
function successorOf(created: WireCreatedEvent, choiceArgument: unknown, uuid: string): Create {
  const template = { id: created.templateId, packageName: created.packageName };
  const newOwner = isRecord(choiceArgument) ? choiceArgument['newOwner'] : undefined;
  const json = { ...Object(created.createArgument), owner: newOwner } as unknown;
  return createNode({
    contractId: `00${sha256('contract', uuid)}`,
    template,
    argument: recordValue(json, findTemplateType(template).fields, parseIdentifier(template.id)),
    signatories: created.signatories,
    observers: typeof newOwner === 'string' ? [newOwner] : [],
  });
}

/** The type of the argument of `Archive`, from a package that all Daml 3 packages depend on. */
const archiveRecordId = parseIdentifier(
  '9e70a8b3510d617f8a136213f33d6a903a10ca0eeec76bb06ba55d1ed9680f69:DA.Internal.Template:Archive',
);

/** Builds the metadata of a contract that a transaction uses. */
function buildInputContract(created: WireCreatedEvent): Metadata_InputContract {
  const { templateId, packageName, createArgument, createdAt, createdEventBlob } = created;
  const template = { id: templateId, packageName };
  const argument = contractArgument(template, createArgument);
  return {
    contract: { oneofKind: 'v1', v1: createNode({ ...created, template, argument }) },
    createdAt: BigInt(parseMicros(createdAt)),
    eventBlob: Buffer.from(createdEventBlob, 'base64'),
  };
}

/** Returns the argument of a contract. For an appended contract, it may not have the type of the template. */
function contractArgument(template: TemplateRef, json: unknown): Value {
  const id = parseIdentifier(template.id);
  try {
    return recordValue(json, findTemplateType(template).fields, id);
  } catch {
    return recordValue(isRecord(json) ? json : {}, {}, id);
  }
}

/** Encodes a prepared transaction, and computes its hash with the hashing scheme V2. */
export async function encodePrepared(message: PreparedTransaction, vendor: Vendor): Promise<PreparedBytes> {
  const hash = Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex');
  return { bytes: vendor.PreparedTransaction.toBinary(message), hash };
}

/** The bytes of a prepared transaction, and the hash that its party signs. */
export interface PreparedBytes {
  readonly bytes: Uint8Array;
  readonly hash: Buffer;
}
