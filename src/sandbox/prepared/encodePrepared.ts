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
import type { Creation, Exercised, PreparedSubmission } from '../submission/Submission.js';
import { stakeholdersOf, type TemplateRef } from '../wire/events.js';
import { parseMicros } from '../wire/values.js';
import type { WireCreatedEvent } from '../wire/WireUpdate.js';
import { jsonToValue, recordValue } from './jsonToValue.js';
import type { Vendor } from './decodePrepared.js';
import { findChoiceType, findTemplateType, parseIdentifier } from './types.js';

/**
 * Builds the message of a prepared transaction: a root node with its consequence, their seeds, and the execution
 * metadata.
 *
 * @param input - the contract that the submission uses, if there is one
 */
export function buildPrepared(
  submission: Omit<PreparedSubmission, 'preparationTime'>,
  input: WireCreatedEvent | undefined,
): PreparedTransaction {
  const { party, commandId, synchronizerId, minLedgerTime, maxRecordTime, effect } = submission;
  const { creation } = effect.kind === 'create' ? { creation: effect } : effect;
  const exercise = effect.kind === 'create' || input === undefined ? undefined : exerciseNode(effect, input, party);
  const nodes = [
    ...(exercise ? [{ oneofKind: 'exercise' as const, exercise }] : []),
    ...(creation ? [{ oneofKind: 'create' as const, create: createNode(creation) }] : []),
  ];
  return {
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
      preparationTime: BigInt(Date.now()) * 1000n,
      inputContracts: input === undefined ? [] : [inputContract(input)],
      globalKeyMapping: [],
      ...(minLedgerTime !== undefined && { minLedgerEffectiveTime: BigInt(minLedgerTime) }),
      ...(maxRecordTime !== undefined && { maxRecordTime: BigInt(maxRecordTime) }),
    },
  };
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
    return recordValue(isRecord(json) ? json : {}, {}, parseIdentifier(template.id));
  }
}

const templateOf = ({ templateId: id, packageName }: WireCreatedEvent): TemplateRef => ({ id, packageName });

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
