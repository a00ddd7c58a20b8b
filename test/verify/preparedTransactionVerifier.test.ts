import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from } from 'rxjs';
import type { Command, PreparedSubmission, PrepareRequest } from '../../src/index.js';
import { preparedTransactionVerifier, type VerifierOptions } from '../../src/verify/index.js';
import {
  alice,
  contractId,
  createNode,
  createOf,
  exerciseNode,
  exerciseOf,
  id,
  packageId,
  preparedOf,
  synchronizerId,
  transactionOf,
  v,
  verdict,
} from './messages.js';
import { fixture } from '../codecs/support.js';
import { anyClockSkew, type Vector, vectors } from './vectors.js';

const argument = v.record({ owner: v.party(alice), amount: v.numeric('10.0000000000') });
const json = { owner: alice, amount: '10.0' };
const created = transactionOf(createNode('0', argument));
const exercised = transactionOf(
  exerciseNode('0', argument, { children: ['1', '2'] }),
  createNode('1', argument),
  exerciseNode('2', v.record({}), { choiceId: 'Archive', children: [] }),
);
const both: Command = {
  CreateAndExerciseCommand: {
    templateId: '#assets:Main:Asset',
    createArguments: json,
    choice: 'Give',
    choiceArgument: { to: 'bob' },
  },
};
const give = v.record({ to: v.text('bob') });
/** What a participant of 3.5.10 prepared, and the requests. */
const recorded = fixture('prepared-3.5') as readonly Vector[];
const otherId = `00${'77'.repeat(32)}`;

describe('the verifier', () => {
  it.each(vectors)('accepts a submission prepared by a real participant: $name', async ({ prepared, request }) => {
    expect(await verdict(prepared, request, anyClockSkew)).toBe('accepted');
    expect(await verdict(prepared, request)).toBe('times');
  });

  it.each(vectors)('rejects it with any byte of its hash changed: $name', async ({ prepared, request }) => {
    const hash = Buffer.from(prepared.preparedTransactionHash, 'base64');
    for (let index = 0; index < hash.length; index++) {
      const changed = Buffer.from(hash.map((byte, at) => (at === index ? byte ^ 1 : byte))).toString('base64');
      expect(await verdict({ ...prepared, preparedTransactionHash: changed }, request)).toBe('hash');
    }
  });

  it.each([
    ['in the future, for execution when the ledger no longer looks for the same change', 2 * 3_600_000],
    ['in the past', -2 * 3_600_000],
  ])('rejects a preparation time %s', async (_, byMs) => {
    const { transaction, metadata } = created;
    const preparationTime = BigInt(Date.now() + byMs) * 1000n;
    const prepared = await preparedOf({ transaction, metadata: { ...metadata, preparationTime } });
    expect(await verdict(prepared, createOf(json))).toBe('times');
    expect(await verdict(prepared, createOf(json), { maxClockSkewMs: 3 * 3_600_000 })).toBe('accepted');
  });

  it('rejects a ledger time that may be earlier than requested', async () => {
    const { transaction, metadata } = created;
    const abs = { minLedgerTime: { time: { MinLedgerTimeAbs: { value: '2040-01-01T00:00:00Z' } } } };
    const rel = { minLedgerTime: { time: { MinLedgerTimeRel: { value: { seconds: 60 } } } } };
    const at = async (minLedgerEffectiveTime: bigint) =>
      preparedOf({ transaction, metadata: { ...metadata, minLedgerEffectiveTime } });
    const requested = BigInt(Date.UTC(2040, 0)) * 1000n;
    expect(await verdict(await preparedOf(created), createOf(json, abs))).toBe('times minLedgerTime');
    expect(await verdict(await at(requested - 1n), createOf(json, abs))).toBe('times minLedgerTime');
    expect(await verdict(await at(requested), createOf(json, abs))).toBe('accepted');
    expect(await verdict(await preparedOf(created), createOf(json, rel))).toBe('times minLedgerTime');
    expect(await verdict(await at(requested), createOf(json, rel))).toBe('accepted');
    expect(await verdict(await at(requested), createOf(json))).toBe('accepted');
  });

  it('accepts the requested transaction', async () => {
    expect(await verdict(await preparedOf(created), createOf(json))).toBe('accepted');
    expect(await verdict(await preparedOf(created), createOf(json, { synchronizerId }))).toBe('accepted');
    expect(await verdict(await preparedOf(created), createOf(json, { synchronizerId: '' }))).toBe('accepted');
    expect(await verdict(await preparedOf(created), createOf(json, { actAs: [alice, alice] }))).toBe('accepted');
    expect(await verdict(await preparedOf(exercised), exerciseOf(json))).toBe('accepted');
    const twice = transactionOf(createNode('0', argument), exerciseNode('1', give));
    expect(await verdict(await preparedOf(twice), createOf(json, { commands: [both] }))).toBe('accepted');
    const separate = [...createOf(json).commands, ...exerciseOf({ to: 'bob' }).commands];
    expect(await verdict(await preparedOf(twice), createOf(json, { commands: separate }))).toBe('accepted');
  });

  it.each<[string, Partial<PrepareRequest>, string]>([
    ['another party', { actAs: ['bob::1220ab'] }, 'parties actAs'],
    ['a missing party', { actAs: [alice, 'bob::1220ab'] }, 'parties actAs'],
    ['another command id', { commandId: 'c-2' }, 'parties commandId'],
    ['another synchronizer', { synchronizerId: 'other::1220ab' }, 'parties synchronizerId'],
    ['no requested command', { commands: [] }, 'commands'],
    ['fewer nodes', { commands: [...createOf(json).commands, ...createOf(json).commands] }, 'commands commands[1]'],
    ['another kind', { commands: exerciseOf(json).commands }, 'commands commands[0]'],
    ['a create alone', { commands: [both] }, 'commands commands[0]'],
  ])('rejects a transaction of %s', async (_, change, expected) => {
    expect(await verdict(await preparedOf(created), createOf(json, change))).toBe(expected);
  });

  it.each([
    ['the logical one', 'accepted', synchronizerId],
    ['a physical one of it, as a participant of 3.5 names it', 'accepted', `${synchronizerId}::35-0`],
    ['a later physical one', 'accepted', `${synchronizerId}::36-12`],
    ['one of a development version', 'accepted', `${synchronizerId}::dev-0`],
    ['another logical one', 'parties synchronizerId', `other::1220${'02'.repeat(32)}`],
    ['a physical one of another', 'parties synchronizerId', `other::1220${'02'.repeat(32)}::35-0`],
    ['one whose id begins alike', 'parties synchronizerId', `${synchronizerId}0::35-0`],
    ['one with more than a physical id', 'parties synchronizerId', `${synchronizerId}::1220ab::35-0`],
    ['none', 'parties synchronizerId', ''],
  ])('compares the synchronizer of the request with %s: %s', async (_, expected, named) => {
    const { transaction, metadata } = created;
    const prepared = await preparedOf({ transaction, metadata: { ...metadata, synchronizerId: named } });
    expect(await verdict(prepared, createOf(json, { synchronizerId }))).toBe(expected);
    expect(await verdict(prepared, createOf(json))).toBe('accepted');
  });

  it.each(recorded)('accepts a submission recorded of a participant of 3.5: $name', async ({ prepared, request }) => {
    const synchronizer = 'synchronizer-1::1220885aaa79e30b3c12816ba45dc67faf035c436ee00d794f850a50749df527edc6';
    for (const synchronizerId of ['', synchronizer, `${synchronizer}::35-0`])
      expect(await verdict(prepared, { ...request, synchronizerId }, anyClockSkew)).toBe('accepted');
    const other = synchronizer.replace('1220885a', '1220885b');
    expect(await verdict(prepared, { ...request, synchronizerId: other }, anyClockSkew)).toBe('parties synchronizerId');
    const another = { ...request, commandId: 'another' };
    expect(await verdict(prepared, another, anyClockSkew)).toBe('parties commandId');
  });

  it('rejects an additional party', async () => {
    const transaction = {
      ...created,
      metadata: { ...created.metadata, submitterInfo: { actAs: [alice, 'bob::1220ab'], commandId: 'c-1' } },
    };
    expect(await verdict(await preparedOf(transaction), createOf(json))).toBe('parties actAs');
  });

  it('rejects an additional root node', async () => {
    const more = transactionOf(createNode('0', argument), exerciseNode('1', argument));
    expect(await verdict(await preparedOf(more), createOf(json))).toBe('commands');
  });

  it.each<[string, string, VerifierOptions, string]>([
    ['by name', '#assets:Main:Asset', {}, 'accepted'],
    ['by package id', `${packageId}:Main:Asset`, {}, 'accepted'],
    ['by a name listed for it', '#assets:Main:Asset', { packages: { assets: ['00', packageId] } }, 'accepted'],
    ['by a name listed for others', '#assets:Main:Asset', { packages: { assets: ['00'] } }, 'refused'],
    ['of another package name', '#asset:Main:Asset', {}, 'refused'],
    ['of another package name, listed for it', '#asset:Main:Asset', { packages: { asset: [packageId] } }, 'refused'],
    ['of another package id', `${'ce'.repeat(32)}:Main:Asset`, {}, 'refused'],
    ['of the name as package id', 'assets:Main:Asset', {}, 'refused'],
    ['of another module', '#assets:Other:Asset', {}, 'refused'],
    ['of another name', '#assets:Main:Cash', {}, 'refused'],
    ['in an invalid form', 'Asset', {}, 'refused'],
    ['with an additional part', '#assets:Main:Asset:More', {}, 'refused'],
  ])('compares the template: %s', async (_, templateId, options, expected) => {
    const request = createOf(json, { commands: [{ CreateCommand: { templateId, createArguments: json } }] });
    const result = await verdict(await preparedOf(created), request, options);
    expect(result).toBe(expected === 'accepted' ? expected : 'commands commands[0].templateId');
  });

  it.each<[string, string, VerifierOptions, string]>([
    ['by package id', `${'aa'.repeat(32)}:Api:Holding`, {}, 'accepted'],
    ['by a name listed for it', '#api:Api:Holding', { packages: { api: ['aa'.repeat(32)] } }, 'accepted'],
    ['by a name listed for others', '#api:Api:Holding', { packages: { api: ['ab'.repeat(32)] } }, 'refused'],
    ['by a name that is not listed', '#api:Api:Holding', {}, 'refused'],
    ['by the package name of the template', '#assets:Api:Holding', {}, 'refused'],
    ['by its template', '#assets:Main:Asset', {}, 'refused'],
  ])('compares the interface of a choice: %s', async (_, templateId, options, expected) => {
    const interfaceId = id('Holding', 'Api', 'aa'.repeat(32));
    const prepared = await preparedOf(transactionOf(exerciseNode('0', argument, { interfaceId })));
    const command = { templateId, contractId, choice: 'Give', choiceArgument: json };
    const result = await verdict(prepared, exerciseOf(json, { commands: [{ ExerciseCommand: command }] }), options);
    expect(result).toBe(expected === 'accepted' ? expected : 'commands commands[0].templateId');
  });

  it.each([
    ['contract', { contractId: otherId }, 'commands commands[0].contractId'],
    ['choice', { choiceId: 'Take' }, 'commands commands[0].choice'],
    [
      'argument',
      { chosenValue: v.record({ owner: v.party(alice), amount: v.numeric('11.0') }) },
      'commands commands[0].choiceArgument.amount',
    ],
    ['template', { templateId: id('Cash') }, 'commands commands[0].templateId'],
    ['package', { packageName: 'other' }, 'commands commands[0].templateId'],
  ])('rejects an exercise of another %s', async (_, change, expected) => {
    const prepared = await preparedOf(transactionOf(exerciseNode('0', argument, change)));
    expect(await verdict(prepared, exerciseOf(json))).toBe(expected);
  });

  it.each([
    ['the exercise is of another contract', { contractId: otherId }, 'commands commands[0].contractId'],
    ['the exercise has another argument', { chosenValue: argument }, 'commands commands[0].choiceArgument'],
  ])('rejects a create-and-exercise if %s', async (_, change, expected) => {
    const prepared = await preparedOf(transactionOf(createNode('0', argument), exerciseNode('1', give, change)));
    expect(await verdict(prepared, createOf(json, { commands: [both] }))).toBe(expected);
  });

  it.each(['HASHING_SCHEME_VERSION_V3', 'HASHING_SCHEME_VERSION_V4'] as const)(
    'rejects a hash of %s, and names the scheme to prepare with',
    async (hashingSchemeVersion) => {
      const prepared = { ...(await preparedOf(created)), hashingSchemeVersion };
      const request = createOf(json, { hashingSchemeVersion });
      await expect(firstValueFrom(from(preparedTransactionVerifier()(prepared, request)))).rejects.toMatchObject({
        _tag: 'VerificationError',
        reason: 'scheme',
        message: expect.stringContaining(
          `${hashingSchemeVersion} cannot be verified; prepare with the hashingSchemeVersion HASHING_SCHEME_VERSION_V2`,
        ),
      });
    },
  );

  it.each([NaN, -1, 0, '1000'])('refuses a maximum clock skew of %p at once', (maxClockSkewMs) => {
    expect(() => preparedTransactionVerifier({ maxClockSkewMs: maxClockSkewMs as number })).toThrow(TypeError);
  });

  it('rejects a contract by key, because a transaction does not contain the key', async () => {
    const command = { templateId: '#assets:Main:Asset', contractKey: {}, choice: 'Give', choiceArgument: json };
    const request = exerciseOf(json, { commands: [{ ExerciseByKeyCommand: command }] });
    expect(await verdict(await preparedOf(exercised), request)).toBe('commands commands[0].contractKey');
  });

  it('rejects the hash of another transaction', async () => {
    const { preparedTransactionHash } = await preparedOf(exercised);
    expect(await verdict({ ...(await preparedOf(created)), preparedTransactionHash }, createOf(json))).toBe('hash');
  });

  it.each(['', 'AAAA', '%', `${'A'.repeat(43)}=`])('rejects an invalid hash: %p', async (preparedTransactionHash) => {
    expect(await verdict({ ...(await preparedOf(created)), preparedTransactionHash }, createOf(json))).toBe('hash');
  });

  describe('with another hashing scheme', () => {
    const inV3 = async (): Promise<PreparedSubmission> => ({
      ...(await preparedOf(created)),
      preparedTransactionHash: 'AAAA',
      hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V3',
    });

    it('rejects it by default', async () => {
      expect(await verdict(await inV3(), createOf(json))).toBe('scheme');
      expect(await verdict(await inV3(), createOf(json), { unknownScheme: 'refuse' })).toBe('scheme');
    });

    it('accepts it on request, and still compares the transaction', async () => {
      const options = { unknownScheme: 'accept' } as const;
      expect(await verdict(await inV3(), createOf(json), options)).toBe('accepted');
      expect(await verdict(await inV3(), createOf(json, { commandId: 'c-2' }), options)).toBe('parties commandId');
      expect(await verdict(await inV3(), createOf({ ...json, amount: '11' }), options)).toBe(
        'commands commands[0].createArguments.amount',
      );
      expect(await verdict({ ...(await inV3()), preparedTransaction: 'AAAA' }, createOf(json), options)).toBe(
        'undecodable',
      );
      // the hash of V2 is always checked
      const v2 = { ...(await inV3()), hashingSchemeVersion: 'HASHING_SCHEME_VERSION_V2' } as const;
      expect(await verdict(v2, createOf(json), options)).toBe('hash');
    });
  });
});
