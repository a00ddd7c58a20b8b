import type {
  Create,
  DamlTransaction_Node,
  Exercise,
  Metadata_InputContract,
  PreparedTransaction,
  Value,
} from '@canton-network/core-ledger-proto';
import { randomBytes, randomUUID } from 'node:crypto';
import type { Ledger } from '../ledger/Ledger.js';
import type { Packages } from '../ledger/Packages.js';
import { isRecord } from '../requests/Cursor.js';
import type { Submission } from '../requests/prepareRequest.js';
import { stakeholdersOf } from '../wire/events.js';
import { hex, microsOf } from '../wire/values.js';
import type { TemplateRef, WireCreatedEvent } from '../wire/WireEvent.js';
import type { Vendor } from './Prepared.js';
import { recordValue } from './toValue.js';
import { toIdentifier, typeOfTemplate } from './types.js';

/** A prepared transaction as it travels, and the hash that its party signs. */
export interface PreparedBytes {
  readonly bytes: Uint8Array;
  readonly hash: Buffer;
}

/** The version of Daml-LF that Canton 3 runs. */
const lfVersion = '2.1';

/** The message of a prepared transaction: one root node, its seed, and what is needed to execute it. */
export function buildPrepared(submission: Submission, ledger: Ledger): PreparedTransaction {
  const { party, commandId, synchronizerId, minLedgerTime, maxRecordTime } = submission;
  const transactionUuid = randomUUID();
  const { node, inputs } = partsOf(submission, transactionUuid, ledger);
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

interface Parts {
  readonly node: DamlTransaction_Node['versionedNode'];
  readonly inputs: readonly Metadata_InputContract[];
}

function partsOf({ command, party }: Submission, uuid: string, ledger: Ledger): Parts {
  if (command.kind === 'create') {
    const create = creationNode(command, { party, uuid, packages: ledger.packages });
    return { node: { oneofKind: 'v1', v1: { nodeType: { oneofKind: 'create', create } } }, inputs: [] };
  }
  const contract = ledger.contracts.get(command.contractId);
  if (contract === undefined) throw new Error(`${command.contractId} has been checked to be active`);
  const exercise = archiveNode(contract.created, party);
  const inputs = [inputContract(contract.created)];
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

/** The node of a contract to be created. Its id gets a suffix when it is committed. */
function creationNode({ templateId, createArguments: json }: CreateCommand, context: Context): Create {
  const { party, uuid, packages } = context;
  const template = packages.resolve(templateId);
  const { fields, observers = [] } = typeOfTemplate(template);
  const named = observers.map((label) => (isRecord(json) ? json[label] : undefined));
  return createNode({
    contractId: `00${hex('contract', uuid)}`,
    template,
    argument: recordValue(json, fields, toIdentifier(template.id)),
    signatories: [party],
    observers: named.filter((observer) => typeof observer === 'string'),
  });
}

interface CreateFields {
  readonly contractId: string;
  readonly template: TemplateRef;
  readonly argument: Value;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
}

/** The node by which a contract comes to be; an input contract is told in the same way. */
function createNode({ contractId, template, argument, signatories, observers }: CreateFields): Create {
  return {
    lfVersion,
    contractId,
    packageName: template.packageName,
    templateId: toIdentifier(template.id),
    argument,
    // sets of parties are written in their order
    signatories: [...signatories].sort(),
    stakeholders: [...new Set([...signatories, ...observers])].sort(),
  };
}

/** The type of the argument of `Archive`, in a package that all Daml 3 packages depend on. */
const archive = toIdentifier(
  '9e70a8b3510d617f8a136213f33d6a903a10ca0eeec76bb06ba55d1ed9680f69:DA.Internal.Template:Archive',
);

/** The node by which a contract ends. */
function archiveNode(created: WireCreatedEvent, party: string): Exercise {
  return {
    lfVersion,
    contractId: created.contractId,
    packageName: created.packageName,
    templateId: toIdentifier(created.templateId),
    signatories: [...created.signatories].sort(),
    stakeholders: [...stakeholdersOf(created)].sort(),
    actingParties: [party],
    choiceId: 'Archive',
    chosenValue: { sum: { oneofKind: 'record', record: { recordId: archive, fields: [] } } },
    consuming: true,
    children: [],
    exerciseResult: { sum: { oneofKind: 'unit', unit: {} } },
    choiceObservers: [],
  };
}

/** A contract that a transaction uses, as its metadata tells it. */
function inputContract(created: WireCreatedEvent): Metadata_InputContract {
  const { templateId, packageName, createArgument, createdAt, createdEventBlob } = created;
  const template = { id: templateId, packageName };
  const argument = argumentOf(template, createArgument);
  return {
    contract: { oneofKind: 'v1', v1: createNode({ ...created, template, argument }) },
    createdAt: BigInt(microsOf(createdAt)),
    eventBlob: Buffer.from(createdEventBlob, 'base64'),
  };
}

/** A contract that was appended by hand may have any argument. */
function argumentOf(template: TemplateRef, json: unknown): Value {
  const id = toIdentifier(template.id);
  try {
    return recordValue(json, typeOfTemplate(template).fields, id);
  } catch {
    return recordValue(isRecord(json) ? json : {}, {}, id);
  }
}

/** The bytes of a prepared transaction, and their hash by the hashing scheme V2. */
export async function encodePrepared(message: PreparedTransaction, vendor: Vendor): Promise<PreparedBytes> {
  const hash = Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex');
  return { bytes: vendor.PreparedTransaction.toBinary(message), hash };
}
