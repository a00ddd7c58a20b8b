import type { Create, DamlTransaction_Node, PreparedTransaction, Value } from '@canton-network/core-ledger-proto';
import type { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { Refusal, refused } from '../errors.js';
import { latestMicros, timestampOf } from '../wire/values.js';
import type { TemplateRef } from '../wire/WireEvent.js';
import { dateOf, fromIdentifier } from './types.js';

/** What the bytes of a prepared transaction say. Times are in microseconds since the epoch. */
export interface Prepared {
  readonly commandId: string;
  readonly party: string;
  readonly synchronizerId: string;
  readonly preparationTime: number;
  readonly minLedgerTime: number | undefined;
  readonly maxRecordTime: number | undefined;
  readonly effect: Effect;
}

/** What the one root node does. */
export type Effect =
  | {
      readonly kind: 'create';
      readonly contractId: string;
      readonly template: TemplateRef;
      readonly createArgument: unknown;
      readonly signatories: readonly string[];
      readonly observers: readonly string[];
    }
  | { readonly kind: 'archive'; readonly contractId: string };

/** What the vendor's packages do here: the form of a prepared transaction, and its hash. */
export interface Vendor {
  readonly PreparedTransaction: typeof PreparedTransaction;
  readonly hashPreparedTransaction: typeof hashPreparedTransaction;
}

interface Decoded {
  readonly prepared: Prepared;
  /** Computed from the bytes: what the client believes it to be does not matter. */
  readonly hash: Buffer;
}

/** Reads the bytes of a prepared transaction back. */
export async function decodePrepared(bytes: Uint8Array, vendor: Vendor): Promise<Decoded> {
  try {
    const message = vendor.PreparedTransaction.fromBinary(bytes);
    const prepared = readPrepared(message);
    return { prepared, hash: Buffer.from(await vendor.hashPreparedTransaction(message, 'hex'), 'hex') };
  } catch {
    throw refused('INVALID_ARGUMENT', 'Cannot parse prepared_transaction');
  }
}

/** Reads the message of a prepared transaction; throws where it is not of the form that the sandbox gives it. */
function readPrepared({ transaction, metadata }: PreparedTransaction): Prepared {
  const [party, ...others] = metadata?.submitterInfo?.actAs ?? [];
  const [root, ...otherRoots] = transaction?.roots ?? [];
  const node = transaction?.nodes.find(({ nodeId }) => nodeId === root)?.versionedNode;
  if (metadata === undefined || party === undefined || others.length > 0) throw new TypeError('not one acting party');
  if (otherRoots.length > 0 || node?.oneofKind !== 'v1') throw new TypeError('not one root');
  const { synchronizerId, submitterInfo, preparationTime, minLedgerEffectiveTime, maxRecordTime } = metadata;
  return {
    commandId: submitterInfo?.commandId ?? '',
    party,
    synchronizerId,
    preparationTime: microsIn(preparationTime),
    minLedgerTime: minLedgerEffectiveTime === undefined ? undefined : microsIn(minLedgerEffectiveTime),
    maxRecordTime: maxRecordTime === undefined ? undefined : microsIn(maxRecordTime),
    effect: effectOf(node.v1),
  };
}

function microsIn(time: bigint): number {
  if (time > latestMicros) throw new RangeError('no such time');
  return Number(time);
}

type Node = Extract<DamlTransaction_Node['versionedNode'], { oneofKind: 'v1' }>['v1'];

/** What a node does to the ledger. */
function effectOf({ nodeType }: Node): Effect {
  if (nodeType.oneofKind === 'create') return creation(nodeType.create);
  if (nodeType.oneofKind === 'exercise' && nodeType.exercise.choiceId === 'Archive') {
    return { kind: 'archive', contractId: nodeType.exercise.contractId };
  }
  throw new TypeError('neither a create nor an archive');
}

function creation({ contractId, templateId, packageName, argument, signatories, stakeholders }: Create): Effect {
  if (templateId === undefined || !/^00[0-9a-f]{64}$/.test(contractId)) throw new TypeError('no contract');
  return {
    kind: 'create',
    contractId,
    template: { id: fromIdentifier(templateId), packageName },
    createArgument: fromValue(argument),
    signatories,
    observers: stakeholders.filter((party) => !signatories.includes(party)),
  };
}

/** A Daml value as JSON. */
function fromValue(value: Value | undefined): unknown {
  const sum = value?.sum;
  switch (sum?.oneofKind) {
    case 'unit':
      return {};
    case 'bool':
      return sum.bool;
    case 'int64':
      return sum.int64;
    case 'numeric':
      return sum.numeric;
    case 'text':
      return sum.text;
    case 'party':
      return sum.party;
    case 'contractId':
      return sum.contractId;
    case 'date':
      return dateOf(sum.date);
    case 'timestamp':
      return timestampOf(Number(sum.timestamp));
    case 'optional':
      return sum.optional.value === undefined ? null : fromValue(sum.optional.value);
    case 'list':
      return sum.list.elements.map(fromValue);
    case 'textMap':
      return Object.fromEntries(sum.textMap.entries.map(({ key, value: entry }) => [key, fromValue(entry)]));
    case 'genMap':
      return sum.genMap.entries.map(({ key, value: entry }) => [fromValue(key), fromValue(entry)]);
    case 'record':
      return Object.fromEntries(sum.record.fields.map(({ label, value: field }) => [label, fromValue(field)]));
    case 'variant':
      return { tag: sum.variant.constructor, value: fromValue(sum.variant.value) };
    case 'enum':
      return sum.enum.constructor;
    case undefined:
      throw new TypeError('a value without content');
  }
}

// short: an error of the library quotes 200 characters of it, and the command has to be among them
const missing =
  'The sandbox needs two packages for submissions: ' +
  'npm install --save-dev @canton-network/core-ledger-proto@^1.7.0 @canton-network/core-tx-visualizer@^1.7.0';

/** Loads the vendor's packages when they are needed: they are optional, and all else of the sandbox works without. */
export async function loadVendor(): Promise<Vendor> {
  try {
    // one after the other: the second imports the first, and Jest does not link a module for two at a time
    const { PreparedTransaction } = await import('@canton-network/core-ledger-proto');
    const { hashPreparedTransaction } = await import('@canton-network/core-tx-visualizer');
    return { PreparedTransaction, hashPreparedTransaction };
  } catch {
    throw new Refusal(501, missing);
  }
}
