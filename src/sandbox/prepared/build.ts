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
import { recordValue } from './jsonToValue.js';
import { findTemplateType, parseIdentifier } from './types.js';

/** Builds the message of a prepared transaction: one root node, its seed, and the metadata for its execution. */
export function buildPrepared(submission: PrepareRequest, ledger: Ledger): PreparedTransaction {
  const { party, commandId, synchronizerId, minLedgerTime, maxRecordTime } = submission;
  const transactionUuid = randomUUID();
  const { node, inputs } = buildNode(submission, transactionUuid, ledger);
  return {
    transaction: {
      version: lfVersion,
      roots: ['0'],
      nodes: [{ nodeId: '0', versionedNode: node }],
      nodeSeeds: [{ nodeId: 0, seed: randomBytes(32) }],
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

interface NodeWithInputs {
  readonly node: DamlTransaction_Node['versionedNode'];
  readonly inputs: readonly Metadata_InputContract[];
}

function buildNode({ command, party }: PrepareRequest, uuid: string, ledger: Ledger): NodeWithInputs {
  if (command.kind === 'create') {
    const create = buildCreateNode(command, { party, uuid, packages: ledger.packages });
    return { node: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'create', create } } }, inputs: [] };
  }
  const contract = ledger.contracts.get(command.contractId);
  if (contract === undefined) throw new Error(`${command.contractId} has been checked to be active`);
  const exercise = buildArchiveNode(contract.created, party);
  const inputs = [buildInputContract(contract.created)];
  return { node: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'exercise', exercise } } }, inputs };
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

/** Builds the node of an archive command. */
function buildArchiveNode(created: WireCreatedEvent, party: string): Exercise {
  return {
    lfVersion,
    contractId: created.contractId,
    packageName: created.packageName,
    templateId: parseIdentifier(created.templateId),
    signatories: [...created.signatories].sort(),
    stakeholders: [...stakeholdersOf(created)].sort(),
    actingParties: [party],
    choiceId: 'Archive',
    chosenValue: { sum: { oneofKind: 'record', record: { recordId: archiveRecordId, fields: [] } } },
    consuming: true,
    children: [],
    exerciseResult: { sum: { oneofKind: 'unit', unit: {} } },
    choiceObservers: [],
  };
}

/** The type of the argument of `Archive`, of a package that all Daml 3 packages depend on. */
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

/** The argument of a contract. That of an appended contract may not be of the type of its template. */
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
