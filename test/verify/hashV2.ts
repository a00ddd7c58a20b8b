import type {
  Create,
  DamlTransaction,
  DamlTransaction_Node,
  Exercise,
  Fetch,
  Identifier,
  Metadata,
  Value,
} from '@canton-network/core-ledger-proto';
import { createHash } from 'node:crypto';

type Encode<A> = (a: A) => Buffer;

const join = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat(parts);
const sha256 = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest();
const byte = (n: number): Buffer => Buffer.from([n]);
const int32 = (n: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(n >>> 0);
  return bytes;
};
const int64 = (n: bigint): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt.asUintN(64, n));
  return bytes;
};
const bytesOf = (bytes: Uint8Array): Buffer => join(int32(bytes.length), bytes);
const text = (s: string): Buffer => bytesOf(Buffer.from(s, 'utf8'));
const hex = (s: string): Buffer => bytesOf(Buffer.from(s, 'hex'));
const option = <A>(a: A | undefined, encode: Encode<A>): Buffer =>
  a === undefined ? byte(0) : join(byte(1), encode(a));
const many = <A>(as: readonly A[], encode: Encode<A>): Buffer => join(int32(as.length), ...as.map(encode));
const present = <A>(a: A | undefined): A => {
  if (a === undefined) throw new Error('absent');
  return a;
};
const identifier = (id: Identifier): Buffer =>
  join(text(id.packageId), many(id.moduleName.split('.'), text), many(id.entityName.split('.'), text));

const value = ({ sum }: Value): Buffer => {
  switch (sum.oneofKind) {
    case 'unit':
      return byte(0);
    case 'bool':
      return join(byte(1), byte(sum.bool ? 1 : 0));
    case 'int64':
      return join(byte(2), int64(BigInt(sum.int64)));
    case 'numeric':
      return join(byte(3), text(sum.numeric));
    case 'timestamp':
      return join(byte(4), int64(BigInt(sum.timestamp)));
    case 'date':
      return join(byte(5), int32(sum.date));
    case 'party':
      return join(byte(6), text(sum.party));
    case 'text':
      return join(byte(7), text(sum.text));
    case 'contractId':
      return join(byte(8), hex(sum.contractId));
    case 'optional':
      return join(byte(9), option(sum.optional.value, value));
    case 'list':
      return join(byte(10), many(sum.list.elements, value));
    case 'textMap':
      return join(
        byte(11),
        many(sum.textMap.entries, (entry) => join(text(entry.key), value(present(entry.value)))),
      );
    case 'record':
      return join(
        byte(12),
        option(sum.record.recordId, identifier),
        many(sum.record.fields, (field) => join(option(field.label, text), value(present(field.value)))),
      );
    case 'variant':
      return join(
        byte(13),
        option(sum.variant.variantId, identifier),
        text(sum.variant.constructor),
        value(present(sum.variant.value)),
      );
    case 'enum':
      return join(byte(14), option(sum.enum.enumId, identifier), text(sum.enum.constructor));
    case 'genMap':
      return join(
        byte(15),
        many(sum.genMap.entries, (entry) => join(value(present(entry.key)), value(present(entry.value)))),
      );
    default:
      throw new Error('no value');
  }
};

/** The bytes that are hashed of a create node. */
export const encodeCreate = (node: Create, seed: Uint8Array | undefined): Buffer =>
  join(
    ...[byte(1), text(node.lfVersion), byte(0), option(seed, join), hex(node.contractId), text(node.packageName)],
    ...[identifier(present(node.templateId)), value(present(node.argument))],
    ...[many(node.signatories, text), many(node.stakeholders, text)],
  );

const exercise = (node: Exercise, seed: Uint8Array, hashOf: Encode<string>): Buffer =>
  join(
    ...[byte(1), text(node.lfVersion), byte(1), seed, hex(node.contractId), text(node.packageName)],
    ...[identifier(present(node.templateId)), many(node.signatories, text), many(node.stakeholders, text)],
    ...[many(node.actingParties, text), option(node.interfaceId, identifier), text(node.choiceId)],
    ...[value(present(node.chosenValue)), byte(node.consuming ? 1 : 0), option(node.exerciseResult, value)],
    ...[many(node.choiceObservers, text), many(node.children, hashOf)],
  );

const fetch = (node: Fetch): Buffer =>
  join(
    ...[byte(1), text(node.lfVersion), byte(2), hex(node.contractId), text(node.packageName)],
    ...[identifier(present(node.templateId)), many(node.signatories, text), many(node.stakeholders, text)],
    ...[option(node.interfaceId, identifier), many(node.actingParties, text)],
  );

const encodeNode = (node: DamlTransaction_Node, seed: Uint8Array | undefined, hashOf: Encode<string>): Buffer => {
  if (node.versionedNode.oneofKind !== 'v1') throw new Error('no version');
  const type = node.versionedNode.v1.nodeType;
  switch (type.oneofKind) {
    case 'create':
      return encodeCreate(type.create, present(seed));
    case 'exercise':
      return exercise(type.exercise, present(seed), hashOf);
    case 'fetch':
      return fetch(type.fetch);
    case 'rollback':
      return join(byte(1), byte(3), many(type.rollback.children, hashOf));
    default:
      throw new Error('no node');
  }
};

const purpose = int32(48);

/** The hash of scheme V2, implemented from the published description and independent of the vendor's library. */
export function hashV2(transaction: DamlTransaction, metadata: Metadata): string {
  const hashOf = (nodeId: string): Buffer => {
    const node = present(transaction.nodes.find((other) => other.nodeId === nodeId));
    return sha256(encodeNode(node, transaction.nodeSeeds.find((seed) => String(seed.nodeId) === nodeId)?.seed, hashOf));
  };
  const { submitterInfo, inputContracts } = metadata;
  const ofMetadata = join(
    ...[purpose, byte(1), many(present(submitterInfo).actAs, text), text(present(submitterInfo).commandId)],
    ...[text(metadata.transactionUuid), int32(metadata.mediatorGroup), text(metadata.synchronizerId)],
    ...[option(metadata.minLedgerEffectiveTime, int64), option(metadata.maxLedgerEffectiveTime, int64)],
    int64(metadata.preparationTime),
    many(inputContracts, ({ contract, createdAt }) => {
      if (contract.oneofKind !== 'v1') throw new Error('no version');
      return join(int64(createdAt), sha256(encodeCreate(contract.v1, undefined)));
    }),
  );
  const ofTransaction = join(purpose, text(transaction.version), many(transaction.roots, hashOf));
  return sha256(join(purpose, byte(2), sha256(ofTransaction), sha256(ofMetadata))).toString('base64');
}
