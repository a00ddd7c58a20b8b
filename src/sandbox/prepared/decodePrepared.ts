import type {
  Create,
  DamlTransaction_Node,
  Exercise,
  PreparedTransaction,
  Value,
} from '@canton-network/core-ledger-proto';
import type { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { RequestError, requestError } from '../errors.js';
import { formatMicros, maxMicros } from '../wire/values.js';
import type { Creation, Effect, Exercised, PreparedSubmission } from '../submission/Submission.js';
import { findChoiceType, formatDays, formatIdentifier } from './types.js';

/** Decodes the bytes of a prepared transaction. */
export async function decodePrepared(bytes: Uint8Array, vendor: Vendor): Promise<DecodedSubmission> {
  try {
    const message = vendor.PreparedTransaction.fromBinary(bytes);
    const prepared = readPrepared(message);
    return { prepared, hash: Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex') };
  } catch {
    throw requestError('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}

interface DecodedSubmission {
  readonly prepared: PreparedSubmission;
  /** The hash, computed from the bytes; the client does not send it. */
  readonly hash: Buffer;
}

/**
 * Reads the message of a prepared transaction. Throws if the message does not have the form that the sandbox creates.
 */
function readPrepared({ transaction, metadata }: PreparedTransaction): PreparedSubmission {
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

/** Encodes a Daml value as JSON. */
export function valueToJson(value: Value | undefined): unknown {
  const sum = value?.sum;
  if (sum?.oneofKind === undefined) throw new TypeError('a value without content');
  switch (sum.oneofKind) {
    case 'unit':
      return {};
    case 'bool':
      return sum.bool;
    case 'date':
      return formatDays(sum.date);
    case 'timestamp':
      return formatMicros(Number(sum.timestamp));
    case 'optional':
      return sum.optional.value === undefined ? null : valueToJson(sum.optional.value);
    case 'list':
      return sum.list.elements.map(valueToJson);
    case 'textMap':
      return Object.fromEntries(sum.textMap.entries.map(({ key, value: entry }) => [key, valueToJson(entry)]));
    case 'genMap':
      return sum.genMap.entries.map(({ key, value: entry }) => [valueToJson(key), valueToJson(entry)]);
    case 'record':
      return Object.fromEntries(sum.record.fields.map(({ label, value: field }) => [label, valueToJson(field)]));
    case 'variant':
      return { tag: sum.variant.constructor, value: valueToJson(sum.variant.value) };
    case 'enum':
      return sum.enum.constructor;
    default:
      // all others are texts, in a field of the same name
      return Object.entries(sum).find(([key]) => key === sum.oneofKind)?.[1];
  }
}

/** The functions of the vendor's packages: the encoding of prepared transactions, and their hash. */
export interface Vendor {
  readonly PreparedTransaction: typeof PreparedTransaction;
  readonly hashPreparedTransaction: typeof hashPreparedTransaction;
}

/** Loads the vendor's packages on first use. They are optional; everything else works without them. */
export async function loadVendor(): Promise<Vendor> {
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
