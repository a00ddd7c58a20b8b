import { type Create, DamlTransaction, Exercise, PreparedTransaction, Value } from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PreparedSubmission } from '../../src/index.js';
import {
  alice,
  contract,
  encodeBase64,
  createNode,
  createOf,
  type Decoded,
  exerciseNode,
  exerciseOf,
  exerciseWith,
  id,
  inputContract,
  nodeOf,
  preparedOf,
  transactionOf,
  v,
  verdict,
} from './messages.js';
import { encodeCreate } from './hashV2.js';
import { anyClockSkew, vectors } from './vectors.js';
import { effort } from '../helpers/effort.js';

const withFalseHash = (preparedTransaction: Uint8Array): PreparedSubmission => ({
  preparedTransaction: Buffer.from(preparedTransaction).toString('base64'),
  preparedTransactionHash: 'AAAA',
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
});
const request = exerciseOf({});
const empty = v.record({});
const valid = transactionOf(exerciseNode('0', empty, { children: ['1'] }), createNode('1', empty));
const withTransaction = ({ transaction, metadata }: Decoded, change: Partial<Decoded['transaction']>) => ({
  transaction: { ...transaction, ...change },
  metadata,
});
const { nodes, nodeSeeds } = valid.transaction;
/** An exercise with contracts of these arguments as inputs. */
const withInputs = (...inputs: readonly Value[]): Decoded => {
  const { transaction, metadata } = transactionOf(exerciseNode('0', v.record({ it: v.int('1') })));
  const inputContracts = inputs.map((argument) => inputContract({ ...contract, argument }));
  return { transaction, metadata: { ...metadata, inputContracts } };
};
const fetchNode = (nodeId: string, change: Partial<typeof contract> = {}) =>
  nodeOf(nodeId, { oneofKind: 'fetch', fetch: { ...contract, actingParties: [alice], ...change } });
/** A fetch has no seed. */
const fetching = transactionOf(exerciseNode('0', empty, { children: ['1'] }), fetchNode('1'));
// the vendor's types allow no undefined
const noTemplate = { templateId: undefined } as unknown as { readonly templateId: typeof contract.templateId };
const unknownInput = { ...inputContract({ ...contract, argument: empty }), contract: { oneofKind: undefined } };
const seedOf = (nodeId: number) => ({ nodeId, seed: new Uint8Array(32).fill(nodeId + 1) });
const noVersion = { nodeId: '0', versionedNode: { oneofKind: undefined } };
const cycle = [exerciseNode('1', empty, { children: ['2'] }), exerciseNode('2', empty, { children: ['1'] })];

describe('a hostile prepared transaction', () => {
  it('of random bytes is rejected', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        expect(await verdict(withFalseHash(bytes), request)).not.toBe('accepted');
      }),
      { numRuns: effort(150, 500) },
    );
    expect(await verdict(withFalseHash(new Uint8Array([1, 2, 3])), request)).toBe('undecodable');
    expect(await verdict({ ...withFalseHash(new Uint8Array()), preparedTransaction: '%' }, request)).toBe(
      'undecodable',
    );
  });

  it.each(vectors)('truncated at any byte is rejected: $name', async ({ prepared, request: original }) => {
    const bytes = Buffer.from(prepared.preparedTransaction, 'base64');
    for (let length = 0; length < bytes.length; length += effort(17, 7)) {
      const preparedTransaction = bytes.subarray(0, length).toString('base64');
      const result = await verdict({ ...prepared, preparedTransaction }, original, anyClockSkew);
      expect(['undecodable', 'hash']).toContain(result);
    }
  });

  it.each(vectors)(
    'with a bit of any byte changed is rejected, or decodes to the same: $name',
    async ({ prepared, request: original }) => {
      const bytes = Buffer.from(prepared.preparedTransaction, 'base64');
      for (let index = 0; index < bytes.length; index += effort(5, 1)) {
        const changed = bytes.map((byte, at) => (at === index ? byte ^ (1 << (index % 8)) : byte));
        const result = await verdict(
          { ...prepared, preparedTransaction: Buffer.from(changed).toString('base64') },
          original,
          anyClockSkew,
        );
        if (result !== 'accepted') {
          expect(['undecodable', 'hash', 'commands']).toContain(result.split(' ')[0]);
        } else {
          // the library ignores some invalid types and lengths of fields, and decodes the same transaction
          const read = PreparedTransaction.fromBinary(changed);
          expect(Buffer.from(PreparedTransaction.toBinary(read)).toString('base64')).toBe(prepared.preparedTransaction);
        }
      }
    },
  );

  it('is not decoded if it is too large', async () => {
    const started = Date.now();
    const prepared = { ...withFalseHash(new Uint8Array()), preparedTransaction: 'A'.repeat(50_000_000) };
    expect(await verdict(prepared, request)).toBe('undecodable');
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  it.each<[string, PreparedTransaction]>([
    ['no part', {}],
    ['no metadata', { transaction: valid.transaction }],
    ['no transaction', { metadata: valid.metadata }],
    ['no seeds', withTransaction(valid, { nodeSeeds: [] })],
    ['a seed twice', withTransaction(valid, { nodeSeeds: [...nodeSeeds, ...nodeSeeds] })],
    [
      'a seed twice, and none for a node that needs none',
      withTransaction(fetching, { nodeSeeds: [seedOf(0), seedOf(0)] }),
    ],
    ['more seeds than nodes', withTransaction(valid, { nodeSeeds: [0, 1, 7].map(seedOf) })],
    ['a short seed', withTransaction(valid, { nodeSeeds: [{ nodeId: 0, seed: new Uint8Array(31) }] })],
    ['a missing root', withTransaction(valid, { roots: ['0', '7'] })],
    ['a root twice', withTransaction(valid, { roots: ['0', '0'] })],
    ['a root that is the child of another', withTransaction(valid, { roots: ['0', '1'] })],
    ['an unreachable node', withTransaction(valid, { nodes: [...nodes, createNode('7', empty)] })],
    ['a node twice', withTransaction(valid, { nodes: [...nodes, createNode('1', v.record({ a: v.unit() }))] })],
    ['a cycle', transactionOf(exerciseNode('0', empty, { children: ['0'] }))],
    ['an unreachable cycle', withTransaction(transactionOf(exerciseNode('0', empty), ...cycle), { roots: ['0'] })],
    ['a node of no kind', withTransaction(valid, { nodes: [nodeOf('0', { oneofKind: undefined })] })],
    ['a node of no version', withTransaction(valid, { nodes: [noVersion] })],
    ['a value of no kind', transactionOf(exerciseNode('0', { sum: { oneofKind: undefined } }))],
    ['a contract without a template', transactionOf(createNode('0', empty, noTemplate))],
    ['an exercise without a template', transactionOf(exerciseNode('0', empty, noTemplate))],
    [
      'a fetch without a template',
      transactionOf(exerciseNode('0', empty, { children: ['1'] }), fetchNode('1', noTemplate)),
    ],
    ['an input of no version', { ...valid, metadata: { ...valid.metadata, inputContracts: [unknownInput] } }],
    ['an invalid contract id', transactionOf(exerciseNode('0', empty, { contractId: '00zz' }))],
    ['a contract id of an odd length', transactionOf(exerciseNode('0', v.contract('00a')))],
  ])('with %s is rejected', async (_, transaction) => {
    expect(await verdict(await preparedOf(transaction), request)).toBe('undecodable');
  });

  it('does not double the time for every node', async () => {
    const levels = Array.from({ length: 60 }, (_, level) =>
      exerciseNode(String(level), empty, { children: [String(level + 1), String(level + 1)] }),
    );
    const transaction = transactionOf(...levels, createNode('60', empty));
    expect(await verdict(encodeWithFalseHash(transaction), request)).toBe('undecodable');
  });

  it('of many nodes is checked in seconds', async () => {
    const children = Array.from({ length: effort(1_999, 4_999) }, (_, index) => String(index + 1));
    const nodesOf = (ids: readonly string[]) => ids.map((nodeId) => createNode(nodeId, empty));
    const many = transactionOf(exerciseNode('0', empty, { children }), ...nodesOf(children));
    const started = Date.now();
    expect(await verdict(encodeWithFalseHash(many), request)).toBe('hash');
    expect(Date.now() - started).toBeLessThan(60_000);
    const more = transactionOf(...Array.from({ length: 5_001 }, (_, index) => createNode(String(index), empty)));
    expect(await verdict(encodeWithFalseHash(more), request)).toBe('undecodable');
  });

  it.each([
    [150, 'hash'],
    [1_000, 'undecodable'],
    [effort(10_000, 20_000), 'undecodable'],
  ])('of a value with %d levels is rejected at once', async (levels, expected) => {
    const field = (number: number, content: Uint8Array): Buffer =>
      Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
    let value: Uint8Array = Value.toBinary(v.none());
    for (let level = 0; level < levels; level++) value = field(11, field(1, value));
    const { transaction, metadata } = transactionOf(exerciseNode('0', empty));
    const whole = Buffer.concat([Exercise.toBinary(exerciseWith(v.list())), field(10, value)]);
    const nodeBytes = Buffer.concat([field(1, Buffer.from('0')), field(1_000, field(3, whole))]);
    const bytes = Buffer.concat([
      field(1, Buffer.concat([DamlTransaction.toBinary({ ...transaction, nodes: [] }), field(3, nodeBytes)])),
      PreparedTransaction.toBinary({ metadata }),
    ]);
    const started = Date.now();
    expect(await verdict(withFalseHash(bytes), request)).toBe(expected);
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  it('of a list that is too long is rejected', async () => {
    const long = v.list(...Array.from({ length: 100_000 }, () => v.unit()));
    expect(await verdict(encodeWithFalseHash(transactionOf(exerciseNode('0', long))), request)).toBe('undecodable');
  });

  // A seed is hashed without its length. A longer seed can contain the beginning of the node that is to be executed, and a
  // text in that node the node that is shown.
  it('whose seed hides another transaction of the same hash is rejected', async () => {
    const seed = new Uint8Array(32).fill(1);
    const shown: Create = {
      ...contract,
      contractId: '00',
      templateId: id('Asset', 'Main', 'p'),
      argument: v.record({ it: v.int('1') }),
    };
    const [start, end] = [1 + 4 + 3 + 1 + 1 + 32, -2 * (4 + 4 + alice.length)];
    const disguise = encodeCreate(shown, seed).subarray(start, end);
    const text = disguise.toString('utf8');
    const meant: Create = { ...shown, templateId: id('Gift'), argument: v.record({ note: v.text(text) }) };
    const whole = encodeCreate(meant, seed);
    const hidden = whole.subarray(start, whole.indexOf(disguise));

    const asShown = withTransaction(transactionOf(createNode('0', v.unit(), shown)), {
      nodeSeeds: [{ nodeId: 0, seed: Buffer.concat([seed, hidden]) }],
    });
    const asMeant = withTransaction(transactionOf(createNode('0', v.unit(), meant)), {
      nodeSeeds: [{ nodeId: 0, seed }],
    });
    expect(await hashPreparedTransaction(asShown)).toBe(await hashPreparedTransaction(asMeant));
    expect(await verdict(await preparedOf(asShown), createOf({ it: '1' }))).toBe('undecodable');
    expect(await verdict(await preparedOf(asMeant), createOf({ it: '1' }))).toBe('commands commands[0].templateId');
  });

  // The library rounds: both have the same hash, and the ledger would execute the second.
  it('with an Int that the library rounds is rejected, although the hash is the same', async () => {
    const [requested, other] = ['9007199254740993', '9007199254740992'].map((int) =>
      transactionOf(createNode('0', v.record({ it: v.int(int) }))),
    );
    if (requested === undefined || other === undefined) throw new Error('expected two');
    expect(await hashPreparedTransaction(requested)).toBe(await hashPreparedTransaction(other));
    expect(await verdict(await preparedOf(requested), createOf({ it: '9007199254740993' }))).toBe(
      'hash commands[0].createArguments.it',
    );
  });

  it.each<[string, string, unknown, Value]>([
    ['as a number', 'it', 2 ** 53, v.int('9007199254740992')],
    ['in a list', 'it[1]', ['1', '-9007199254740993'], v.list(v.int('1'), v.int('-9007199254740993'))],
    ['in an optional', 'it', '9223372036854775807', v.some(v.int('9223372036854775807'))],
    ['as the key of a map', 'it', [['9007199254740993', 'a']], v.genMap([v.int('9007199254740993'), v.text('a')])],
  ])('with an Int that the library rounds names its field: %s', async (_, field, json, value) => {
    const prepared = await preparedOf(transactionOf(createNode('0', v.record({ it: value }))));
    expect(await verdict(prepared, createOf({ it: json }))).toBe(`hash commands[0].createArguments.${field}`);
  });

  const large = v.int('9007199254740993');
  const one = v.record({ it: v.int('1') });

  it.each<[string, Decoded]>([
    [
      'the argument of a contract below',
      transactionOf(exerciseNode('0', one, { children: ['1'] }), createNode('1', v.record({ it: large }))),
    ],
    [
      'the argument of a choice below',
      transactionOf(exerciseNode('0', one, { children: ['1'] }), exerciseNode('1', v.list(large))),
    ],
    ['the result of a choice', transactionOf(exerciseNode('0', one, { exerciseResult: v.some(large) }))],
    [
      'the result of a choice below',
      transactionOf(exerciseNode('0', one, { children: ['1'] }), exerciseNode('1', empty, { exerciseResult: large })),
    ],
    ['an input', withInputs(v.record({ it: large }))],
    ['an input, as the value of a map', withInputs(v.textMap(['a', large]))],
    ['an input, as the key of a map', withInputs(v.genMap([large, empty]))],
    ['an input, as the value of a map with keys', withInputs(v.genMap([empty, large]))],
    ['an input, in a variant', withInputs(v.variant('A', large))],
    ['the second of two inputs', withInputs(empty, v.list(v.int('1'), large))],
  ])('with an Int that the library rounds in %s is rejected without a field', async (_, transaction) => {
    const prepared = await preparedOf(transaction);
    expect(await verdict(prepared, exerciseOf({ it: '1' }))).toBe('hash');
  });

  it('with an invalid input contract is rejected', async () => {
    const inputContracts = [inputContract({ ...contract, argument: v.party(alice), contractId: 'x' })];
    const lying = { ...valid, metadata: { ...valid.metadata, inputContracts } };
    expect(await verdict(await preparedOf(lying), request)).toBe('undecodable');
  });
});

function encodeWithFalseHash(transaction: PreparedTransaction): PreparedSubmission {
  return withFalseHash(Buffer.from(encodeBase64(transaction), 'base64'));
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
