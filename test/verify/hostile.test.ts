import { type Create, DamlTransaction, Exercise, PreparedTransaction, Value } from '@canton-network/core-ledger-proto';
import { hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { PreparedSubmission } from '../../src/index.js';
import {
  alice,
  base64Of,
  createNode,
  createOf,
  type Decoded,
  exerciseNode,
  exerciseOf,
  id,
  preparedOf,
  transactionOf,
  v,
  verdict,
} from './messages.js';
import { toBase64 } from '../../src/submission/webCryptoSigner.js';
import { encodedCreate } from './hashV2.js';
import { longAgo, vectors } from './vectors.js';

const claimed = (preparedTransaction: Uint8Array): PreparedSubmission => ({
  preparedTransaction: Buffer.from(preparedTransaction).toString('base64'),
  preparedTransactionHash: 'AAAA',
  hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2',
});
const request = exerciseOf({});
const empty = v.record({});
const sound = transactionOf(exerciseNode('0', empty, { children: ['1'] }), createNode('1', empty));
const within = ({ transaction, metadata }: Decoded, change: Partial<Decoded['transaction']>): PreparedTransaction => ({
  transaction: { ...transaction, ...change },
  metadata,
});
const { nodes, nodeSeeds } = sound.transaction;

describe('a hostile prepared transaction', () => {
  it('of random bytes is refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 500 }), async (bytes) => {
        expect(await verdict(claimed(bytes), request)).not.toBe('accepted');
      }),
      { numRuns: 500 },
    );
    expect(await verdict(claimed(new Uint8Array([1, 2, 3])), request)).toBe('undecodable');
    expect(await verdict({ ...claimed(new Uint8Array()), preparedTransaction: '%' }, request)).toBe('undecodable');
  });

  it.each(vectors)('cut short anywhere is refused: $name', async ({ prepared, request: asked }) => {
    const bytes = Buffer.from(prepared.preparedTransaction, 'base64');
    for (let length = 0; length < bytes.length; length += 7) {
      const preparedTransaction = bytes.subarray(0, length).toString('base64');
      const seen = await verdict({ ...prepared, preparedTransaction }, asked, longAgo);
      expect(['undecodable', 'hash']).toContain(seen);
    }
  });

  it.each(vectors)(
    'with any bit changed is refused, or hashes to the same: $name',
    async ({ prepared, request: asked }) => {
      const bytes = Buffer.from(prepared.preparedTransaction, 'base64');
      for (let index = 0; index < bytes.length; index++) {
        const changed = bytes.map((byte, at) => (at === index ? byte ^ (1 << (index % 8)) : byte));
        const seen = await verdict({ ...prepared, preparedTransaction: toBase64(changed) }, asked, longAgo);
        if (seen !== 'accepted') {
          expect(['undecodable', 'hash', 'commands']).toContain(seen.split(' ')[0]);
        } else {
          // the library reads past some wrong types and lengths of fields; the same transaction, then
          const read = PreparedTransaction.fromBinary(changed);
          expect(toBase64(PreparedTransaction.toBinary(read))).toBe(prepared.preparedTransaction);
        }
      }
    },
  );

  it('is not read when it is too large', async () => {
    const started = Date.now();
    const prepared = { ...claimed(new Uint8Array()), preparedTransaction: 'A'.repeat(50_000_000) };
    expect(await verdict(prepared, request)).toBe('undecodable');
    expect(Date.now() - started).toBeLessThan(10_000);
  });

  it.each<[string, PreparedTransaction]>([
    ['nothing', {}],
    ['no metadata', { transaction: sound.transaction }],
    ['no transaction', { metadata: sound.metadata }],
    ['no seeds', within(sound, { nodeSeeds: [] })],
    ['a seed twice', within(sound, { nodeSeeds: [...nodeSeeds, ...nodeSeeds] })],
    ['a short seed', within(sound, { nodeSeeds: [{ nodeId: 0, seed: new Uint8Array(31) }] })],
    ['a root that is not there', within(sound, { roots: ['0', '7'] })],
    ['a root twice', within(sound, { roots: ['0', '0'] })],
    ['a root that is below another', within(sound, { roots: ['0', '1'] })],
    ['a node that is nowhere', within(sound, { nodes: [...nodes, createNode('7', empty)] })],
    ['a node twice', within(sound, { nodes: [...nodes, createNode('1', v.record({ a: v.unit() }))] })],
    ['a circle', transactionOf(exerciseNode('0', empty, { children: ['0'] }))],
    [
      'a circle aside',
      within(
        transactionOf(
          exerciseNode('0', empty),
          exerciseNode('1', empty, { children: ['2'] }),
          exerciseNode('2', empty, { children: ['1'] }),
        ),
        { roots: ['0'] },
      ),
    ],
    ['a node of no kind', within(sound, { nodes: [{ nodeId: '0', versionedNode: { oneofKind: undefined } }] })],
    ['a value of no kind', transactionOf(exerciseNode('0', { sum: { oneofKind: undefined } }))],
    ['a contract id that is none', transactionOf(exerciseNode('0', empty, { contractId: '00zz' }))],
    ['a contract id of an odd length', transactionOf(exerciseNode('0', v.contract('00a')))],
  ])('that has %s is refused', async (_, transaction) => {
    expect(await verdict(await preparedOf(transaction), request)).toBe('undecodable');
  });

  it('does not take twice the time for every node', async () => {
    const levels = Array.from({ length: 60 }, (_, level) =>
      exerciseNode(String(level), empty, { children: [String(level + 1), String(level + 1)] }),
    );
    const transaction = transactionOf(...levels, createNode('60', empty));
    expect(await verdict(claimedOf(transaction), request)).toBe('undecodable');
  });

  it('of many nodes takes seconds at most', async () => {
    const children = Array.from({ length: 4_999 }, (_, index) => String(index + 1));
    const many = transactionOf(
      exerciseNode('0', empty, { children }),
      ...children.map((nodeId) => createNode(nodeId, empty)),
    );
    const started = Date.now();
    expect(await verdict(claimedOf(many), request)).toBe('hash');
    expect(Date.now() - started).toBeLessThan(60_000);
    const more = transactionOf(...Array.from({ length: 5_001 }, (_, index) => createNode(String(index), empty)));
    expect(await verdict(claimedOf(more), request)).toBe('undecodable');
  });

  it.each([
    [150, 'hash'],
    [1_000, 'undecodable'],
    [20_000, 'undecodable'],
  ])('of a value with %d levels is refused at once', async (levels, expected) => {
    const field = (number: number, content: Uint8Array): Buffer =>
      Buffer.concat([varint(number * 8 + 2), varint(content.length), content]);
    let value: Uint8Array = Value.toBinary(v.none());
    for (let level = 0; level < levels; level++) value = field(11, field(1, value));
    const { transaction, metadata } = transactionOf(exerciseNode('0', empty));
    const [node] = transaction.nodes;
    if (node?.versionedNode.oneofKind !== 'v1' || node.versionedNode.v1.nodeType.oneofKind !== 'exercise') {
      throw new Error('no exercise');
    }
    const { exercise } = node.versionedNode.v1.nodeType;
    const whole = Buffer.concat([Exercise.toBinary({ ...exercise, chosenValue: v.list() }), field(10, value)]);
    const nodeBytes = Buffer.concat([field(1, Buffer.from('0')), field(1_000, field(3, whole))]);
    const bytes = Buffer.concat([
      field(1, Buffer.concat([DamlTransaction.toBinary({ ...transaction, nodes: [] }), field(3, nodeBytes)])),
      PreparedTransaction.toBinary({ metadata }),
    ]);
    const started = Date.now();
    expect(await verdict(claimed(bytes), request)).toBe(expected);
    expect(Date.now() - started).toBeLessThan(30_000);
  });

  it('of a list that is too long is refused', async () => {
    const long = v.list(...Array.from({ length: 100_000 }, () => v.unit()));
    expect(await verdict(claimedOf(transactionOf(exerciseNode('0', long))), request)).toBe('undecodable');
  });

  // A seed is hashed without its length. One that is longer holds the beginning of the node that is really to be
  // executed, and a text of that node holds the node that is shown.
  it('whose seed hides another transaction of the same hash is refused', async () => {
    const seed = new Uint8Array(32).fill(1);
    const base = {
      lfVersion: '2.1',
      contractId: '00',
      packageName: 'assets',
      signatories: [alice],
      stakeholders: [alice],
    };
    const shown: Create = { ...base, templateId: id('Asset', 'Main', 'p'), argument: v.record({ it: v.int('1') }) };
    const [start, end] = [1 + 4 + 3 + 1 + 1 + 32, -2 * (4 + 4 + alice.length)];
    const disguise = encodedCreate(shown, seed).subarray(start, end);
    const text = disguise.toString('utf8');
    const meant: Create = { ...shown, templateId: id('Gift'), argument: v.record({ note: v.text(text) }) };
    const whole = encodedCreate(meant, seed);
    const hidden = whole.subarray(start, whole.indexOf(disguise));

    const asShown = within(transactionOf(createNode('0', v.unit(), shown)), {
      nodeSeeds: [{ nodeId: 0, seed: Buffer.concat([seed, hidden]) }],
    });
    const asMeant = within(transactionOf(createNode('0', v.unit(), meant)), { nodeSeeds: [{ nodeId: 0, seed }] });
    expect(await hashPreparedTransaction(asShown)).toBe(await hashPreparedTransaction(asMeant));
    expect(await verdict(await preparedOf(asShown), createOf({ it: '1' }))).toBe('undecodable');
    expect(await verdict(await preparedOf(asMeant), createOf({ it: '1' }))).toBe('commands commands[0].templateId');
  });

  // The library rounds: both have one hash by it, and the ledger would take the second.
  it('with an Int that the library rounds is refused, though the hash is the same', async () => {
    const [asked, other] = ['9007199254740993', '9007199254740992'].map((int) =>
      transactionOf(createNode('0', v.record({ it: v.int(int) }))),
    );
    if (asked === undefined || other === undefined) throw new Error('two');
    expect(await hashPreparedTransaction(asked)).toBe(await hashPreparedTransaction(other));
    expect(await verdict(await preparedOf(asked), createOf({ it: '9007199254740993' }))).toBe('hash');
  });

  it('that lies in the contracts it reads is refused', async () => {
    const [input] = transactionOf(createNode('0', v.party(alice), { contractId: 'x' })).transaction.nodes;
    if (input?.versionedNode.oneofKind !== 'v1' || input.versionedNode.v1.nodeType.oneofKind !== 'create')
      throw new Error();
    const contract = { oneofKind: 'v1' as const, v1: input.versionedNode.v1.nodeType.create };
    const inputContracts = [{ contract, createdAt: 1n, eventBlob: new Uint8Array() }];
    const lying = { ...sound, metadata: { ...sound.metadata, inputContracts } };
    expect(await verdict(await preparedOf(lying), request)).toBe('undecodable');
  });
});

function claimedOf(transaction: PreparedTransaction): PreparedSubmission {
  return claimed(Buffer.from(base64Of(transaction), 'base64'));
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) + 128);
  }
}
