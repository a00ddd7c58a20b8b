import { generateKeyPairSync, sign } from 'node:crypto';
import { PreparedTransaction } from '@canton-network/core-ledger-proto';
import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import type { ExternalParty, Sandbox } from '../../src/sandbox/index.js';
import { stopClock } from '../helpers/time.js';
import { at, failure, plain, post, sandboxWith, textAt } from './client.js';
import { withParties } from './commands.js';
import {
  absoluteTime,
  archiveCommand,
  assetId,
  create,
  createCommand,
  createContract,
  creation,
  execute,
  executeBody,
  executePath,
  exercise,
  prepare,
  prepareAndSign,
  relativeTime,
  signed,
  transaction,
} from './requests.js';

const sampleId = '#sandbox-values:Values:Sample';

/** An argument of each Daml type. */
const sample = (owner: string) => ({
  owner,
  active: true,
  count: '-42',
  amount: '10.5',
  note: 'Grüße, 世界',
  day: '2026-02-28',
  at: '2026-01-02T03:04:05.678901Z',
  contract: `00${'ab'.repeat(32)}`,
  limits: ['1.0', '2.5'],
  meta: { b: 'two', a: 'one' },
  shares: [[owner, '0.25']],
  lock: { holder: owner, reason: null },
  price: { tag: 'Fixed', value: '3.0' },
  colour: 'Green',
  nothing: {},
});

/** Prepares a command, and checks that the hash in the response is that of the transaction. */
async function prepared(sandbox: Sandbox, { party }: ExternalParty, command: unknown, fields?: object) {
  const { json } = await prepare(sandbox, party, command, fields);
  const bytes = textAt(json, 'preparedTransaction');
  expect(await hashPreparedTransaction(bytes)).toBe(textAt(json, 'preparedTransactionHash'));
  const message = decodePreparedTransaction(bytes);
  return { json, message, node: at(message.transaction?.nodes[0]?.versionedNode, 'v1', 'nodeType') };
}

/** The fields of a record, by label. */
function fieldsOf(record: unknown): Readonly<Record<string, unknown>> {
  const fields = at(record, 'sum', 'record', 'fields');
  if (!Array.isArray(fields)) throw new TypeError('no record');
  return Object.fromEntries(fields.map((field) => [textAt(field, 'label'), at(field, 'value', 'sum')]));
}

const createdIn = (json: unknown) => at(json, 'transaction', 'events', 0, 'CreatedEvent');

describe('a prepared transaction', () => {
  it('has a create as its only root, with the arguments in the order of their declaration', async () => {
    const { sandbox, eve } = await withParties();
    const { message, node } = await prepared(sandbox, eve, create(sampleId, { ...sample(eve.party), lock: null }));
    expect(message.transaction).toMatchObject({
      version: '2.1',
      roots: ['0'],
      nodes: [{ nodeId: '0' }],
      nodeSeeds: [{ nodeId: 0 }],
    });
    expect(message.transaction?.nodeSeeds[0]?.seed).toHaveLength(32);
    const packageId = expect.stringMatching(/^[0-9a-f]{64}$/);
    const templateId = { packageId, moduleName: 'Values', entityName: 'Sample' };
    const createNode = at(node, 'create');
    expect(createNode).toMatchObject({
      lfVersion: '2.1',
      contractId: expect.stringMatching(/^00[0-9a-f]{64}$/),
      packageName: 'sandbox-values',
      templateId,
      argument: { sum: { record: { recordId: templateId } } },
      signatories: [eve.party],
      stakeholders: [eve.party],
    });
    const fields = fieldsOf(at(createNode, 'argument'));
    expect(Object.keys(fields)).toEqual(Object.keys(sample('')));
    expect(fields).toMatchObject({
      owner: { party: eve.party },
      active: { bool: true },
      count: { int64: '-42' },
      amount: { numeric: '10.5000000000' },
      note: { text: 'Grüße, 世界' },
      day: { date: 20512 },
      at: { timestamp: '1767323045678901' },
      contract: { optional: { value: { sum: { contractId: `00${'ab'.repeat(32)}` } } } },
      limits: { list: { elements: [{ sum: { numeric: '1.0000000000' } }, { sum: { numeric: '2.5000000000' } }] } },
      meta: { textMap: { entries: [{ key: 'a', value: { sum: { text: 'one' } } }, { key: 'b' }] } },
      shares: { genMap: { entries: [{ key: { sum: { party: eve.party } } }] } },
      price: {
        variant: { variantId: { entityName: 'Price' }, constructor: 'Fixed', value: { sum: { oneofKind: 'numeric' } } },
      },
      colour: { enum: { enumId: { entityName: 'Colour' }, constructor: 'Green' } },
      nothing: { oneofKind: 'unit' },
    });
    expect(fields['lock']).toEqual({ oneofKind: 'optional', optional: {} });
  });

  it('has the metadata for its execution', async () => {
    const { sandbox, eve } = await withParties();
    const before = BigInt(Date.now()) * 1000n;
    const minLedgerTime = absoluteTime('2026-01-01T00:00:00Z');
    const times = { maxRecordTime: '2027-01-01T00:00:00.000001Z', minLedgerTime };
    const { metadata } = (await prepared(sandbox, eve, createCommand, times)).message;
    expect(metadata).toMatchObject({
      submitterInfo: { actAs: [eve.party], commandId: 'cmd-1' },
      synchronizerId: sandbox.synchronizers[0],
      mediatorGroup: 0,
      transactionUuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      inputContracts: [],
      minLedgerEffectiveTime: 1767225600000000n,
      maxRecordTime: 1798761600000001n,
    });
    expect(metadata?.preparationTime).toBeGreaterThanOrEqual(before);
    const without = (await prepared(sandbox, eve, create('#assets:Main:Nothing', {}))).message.metadata;
    expect([without?.maxRecordTime, without?.minLedgerEffectiveTime]).toEqual([undefined, undefined]);
  });

  it('contains the contract that it archives', async () => {
    const { sandbox, eve } = await withParties();
    const bob = sandbox.parties[1] ?? '';
    const offer = { seller: eve.party, buyer: bob, price: '7', kind: { tag: 'Fixed', value: {} } };
    const offerId = '#sandbox-assets:Main:Offer';
    const contractId = await createContract(sandbox, eve, create(offerId, offer));
    const { message, node } = await prepared(sandbox, eve, exercise(offerId, contractId));
    const stakeholders = [bob, eve.party].sort();
    expect(at(node, 'exercise')).toMatchObject({
      contractId,
      choiceId: 'Archive',
      consuming: true,
      actingParties: [eve.party],
      signatories: [eve.party],
      stakeholders,
      templateId: { moduleName: 'Main', entityName: 'Offer' },
      chosenValue: { sum: { record: { recordId: { entityName: 'Archive' }, fields: [] } } },
      exerciseResult: { sum: { oneofKind: 'unit' } },
      children: [],
    });
    const [input] = message.metadata?.inputContracts ?? [];
    expect(input).toMatchObject({ contract: { v1: { contractId, stakeholders } } });
    const fields = { price: { numeric: '7.0000000000' }, buyer: { party: bob } };
    expect(fieldsOf(at(input, 'contract', 'v1', 'argument'))).toMatchObject(fields);
    expect(input?.createdAt).toBeGreaterThan(0n);
  });

  it('can archive any contract, also an appended one with arguments of other types', async () => {
    const { sandbox, eve } = await withParties();
    const createArgument = { amount: 5, nested: [{ deep: null }] };
    sandbox.append(creation({ contractId: '00aa', signatories: [eve.party], createArgument }));
    const { json } = await prepared(sandbox, eve, exercise(assetId, '00aa'));
    expect((await execute(sandbox, signed(json, eve))).status).toBe(200);
  });

  it('is committed with its arguments, and with its contract id plus a suffix', async () => {
    const { sandbox, eve } = await withParties();
    const { json, node } = await prepared(sandbox, eve, create(sampleId, sample(eve.party)));
    const reply = (await execute(sandbox, signed(json, eve))).json;
    expect(at(createdIn(reply), 'createArgument')).toEqual({
      ...sample(eve.party),
      amount: '10.5000000000',
      // the last field of the record is None
      lock: { holder: eve.party },
      limits: ['1.0000000000', '2.5000000000'],
      shares: [[eve.party, '0.2500000000']],
      price: { tag: 'Fixed', value: '3.0000000000' },
    });
    const prefix = textAt(node, 'create', 'contractId');
    expect(textAt(createdIn(reply), 'contractId')).toMatch(new RegExp(`^${prefix}ca1112[0-9a-f]{64}$`));
    const hash = Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64').toString('hex');
    expect(at(reply, 'transaction', 'externalTransactionHash')).toBe(hash);
  });

  it('guesses the types of the arguments of an unknown template, and preserves their JSON', async () => {
    const { sandbox, eve } = await withParties();
    const createArguments = {
      party: eve.party,
      int64: '9223372036854775807',
      beyond: '9223372036854775808',
      numeric: '1.50',
      date: '2026-02-28',
      noDate: '2026-02-30',
      timestamp: '2026-01-01T00:00:00Z',
      noTimestamp: '2026-01-01T00:00:00.000Z',
      text: '007',
      nothing: null,
      list: ['a', ['b']],
      variant: { tag: 'Some', value: '1' },
      record: { inner: { flag: false } },
      unit: {},
      toString: 'plain',
    };
    const { json, node } = await prepared(sandbox, eve, create('#assets:Main:Odd', createArguments));
    const kinds = Object.entries(fieldsOf(at(node, 'create', 'argument')));
    expect(Object.fromEntries(kinds.map(([label, sum]) => [label, at(sum, 'oneofKind')]))).toEqual({
      ...Object.fromEntries(Object.keys(createArguments).map((label) => [label, label])),
      beyond: 'text',
      noDate: 'text',
      noTimestamp: 'text',
      nothing: 'optional',
      toString: 'text',
    });
    expect(at(createdIn((await execute(sandbox, signed(json, eve))).json), 'createArgument')).toEqual(createArguments);
  });

  it.each([
    [{ count: 'many' }, 400, 'INVALID_ARGUMENT'],
    [{ count: 42 }, 500, 'LEDGER_API_INTERNAL_ERROR'],
    [{ amount: '0.12345678901' }, 400, 'COMMAND_PREPROCESSING_FAILED'],
    [{ day: '2026-02-30' }, 400, 'INVALID_ARGUMENT'],
    [{ at: 'noon' }, 400, 'INVALID_ARGUMENT'],
    [{ active: 'true' }, 400, 'INVALID_ARGUMENT'],
    [{ limits: '1.0' }, 400, 'INVALID_ARGUMENT'],
    [{ meta: [] }, 400, 'INVALID_ARGUMENT'],
    [{ colour: 'Mauve' }, 400, 'INVALID_ARGUMENT'],
    [{ price: { tag: 'Free', value: {} } }, 400, 'INVALID_ARGUMENT'],
    [{ price: { tag: 'toString', value: {} } }, 400, 'INVALID_ARGUMENT'],
    [{ lock: 'yes' }, 400, 'INVALID_ARGUMENT'],
  ])('is not created from invalid arguments: %j', async (changes, status, code) => {
    const { sandbox, eve } = await withParties();
    const command = create(sampleId, { ...sample(eve.party), ...changes });
    expect(await prepare(sandbox, eve.party, command)).toMatchObject(failure(status, code));
  });
});

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString();

const outOfTime = (code: string) => failure(409, code, { errorCategory: 2, context: { definite_answer: 'false' } });

describe('the time of a prepared transaction', () => {
  it('is at most its maximum record time', async () => {
    const { sandbox, eve } = await withParties();
    const executed = async (ms: number) =>
      execute(sandbox, await prepareAndSign(sandbox, eve, createCommand, { maxRecordTime: fromNow(ms) }));
    expect(await executed(-1)).toMatchObject(outOfTime('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED'));
    expect(sandbox.updates).toEqual([]);
    // the same change, prepared again
    expect((await executed(60_000)).status).toBe(200);
  });

  it('is within the configured time after its preparation', async () => {
    const clock = stopClock();
    const { sandbox, eve } = await withParties({ preparationTimeToleranceMs: 5 });
    const body = await prepareAndSign(sandbox, eve);
    await clock.advance(6);
    expect(await execute(sandbox, body)).toMatchObject(outOfTime('LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND'));
    // generated traffic does not advance the time
    sandbox.configure({ preparationTimeToleranceMs: 60_000 });
    sandbox.generate(500);
    expect((await execute(sandbox, body)).status).toBe(200);
  });

  it.each([absoluteTime('2999-01-01T00:00:00Z'), relativeTime(90)])(
    'is not too far before its minimum ledger time: %j',
    async (minLedgerTime) => {
      const { sandbox, eve } = await withParties();
      const far = outOfTime('LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND');
      const body = await prepareAndSign(sandbox, eve);
      expect(await execute(sandbox, body, { minLedgerTime })).toMatchObject(far);
      const other = await prepareAndSign(sandbox, eve, createCommand, { minLedgerTime });
      expect(await execute(sandbox, other)).toMatchObject(far);
      sandbox.configure({ ledgerTimeToleranceMs: 1e15 });
      expect((await execute(sandbox, body, { minLedgerTime })).status).toBe(200);
    },
  );

  it('is its minimum ledger time, within the tolerance', async () => {
    const { sandbox, eve } = await withParties();
    const value = fromNow(20_000);
    const body = await prepareAndSign(sandbox, eve);
    const { json } = await execute(sandbox, body, { minLedgerTime: absoluteTime(value) });
    expect(at(json, 'transaction', 'effectiveAt')).toBe(value.replace('.000Z', 'Z'));
    const other = await prepareAndSign(sandbox, eve, createCommand, { commandId: 'other' });
    expect((await execute(sandbox, other, { minLedgerTime: { time: { Empty: {} } } })).status).toBe(200);
  });

  it.each([
    { maxRecordTime: 'tomorrow' },
    { maxRecordTime: '2026-13-01T00:00:00Z' },
    { minLedgerTime: absoluteTime('tomorrow') },
    { minLedgerTime: relativeTime(1e15) },
    { minLedgerTime: { time: { Later: {} } } },
  ])('must decode: %j', async (fields) => {
    const { sandbox, eve } = await withParties();
    const expected = plain(400, 'Invalid value for: body');
    expect(await prepare(sandbox, eve.party, createCommand, fields)).toMatchObject(expected);
  });

  it('has zero values for absent parts', async () => {
    const { sandbox, eve } = await withParties();
    for (const minLedgerTime of [{}, { time: { MinLedgerTimeRel: { value: { nanos: 5 } } } }])
      expect((await prepare(sandbox, eve.party, createCommand, { minLedgerTime })).status).toBe(200);
  });
});

type Message = ReturnType<typeof decodePreparedTransaction>;

const nodeTypeOf = ({ transaction }: Message) => {
  const node = transaction?.nodes[0]?.versionedNode;
  return node?.oneofKind === 'v1' ? node.v1.nodeType : undefined;
};

function createOf(message: Message) {
  const nodeType = nodeTypeOf(message);
  if (nodeType?.oneofKind !== 'create') throw new TypeError('no create');
  return nodeType.create;
}

/** A party whose key the test holds. */
async function withKey() {
  const sandbox = await sandboxWith();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const { party, fingerprint } = sandbox.externalParty('eve', { publicKey: key });
  /** Prepares a message, alters it, signs its new hash, and executes it; optionally on another sandbox. */
  const executeAltered = async (alter: (message: Message) => void, command: unknown = createCommand, on = sandbox) => {
    const { json } = await prepare(sandbox, party, command);
    const message = decodePreparedTransaction(textAt(json, 'preparedTransaction'));
    alter(message);
    const hash = Buffer.from(await hashPreparedTransaction(message), 'base64');
    const preparedTransaction = Buffer.from(PreparedTransaction.toBinary(message)).toString('base64');
    const body = executeBody(json, party, {
      format: 'SIGNATURE_FORMAT_CONCAT',
      signature: sign(null, hash, privateKey).toString('base64'),
      signedBy: fingerprint,
      signingAlgorithmSpec: 'SIGNING_ALGORITHM_SPEC_ED25519',
    });
    return post(on, executePath, { ...body, preparedTransaction });
  };
  return { sandbox, party, key, executeAltered };
}

describe('a message that its client altered and signed', () => {
  it('is executed as altered', async () => {
    const { executeAltered } = await withKey();
    const { json } = await executeAltered((message) => {
      createOf(message).argument = { sum: { oneofKind: 'record', record: { fields: [] } } };
    });
    expect(at(createdIn(json), 'createArgument')).toEqual({});
  });

  it.each<readonly [string, string, (message: Message) => unknown]>([
    ['INVALID_ARGUMENT', 'has two roots', ({ transaction }) => transaction?.roots.push('0')],
    ['INVALID_ARGUMENT', 'has two acting parties', ({ metadata }) => metadata?.submitterInfo?.actAs.push('bob')],
    ['INVALID_ARGUMENT', 'has no such contract id', (message) => (createOf(message).contractId = '00aa')],
    [
      'INVALID_ARGUMENT',
      'has an impossible time',
      ({ metadata }) => metadata && (metadata.preparationTime = 2n ** 64n - 1n),
    ],
    [
      'FAILED_TO_EXECUTE_TRANSACTION',
      'is for a synchronizer of elsewhere',
      ({ metadata }) => metadata && (metadata.synchronizerId = 'elsewhere'),
    ],
    ['INVALID_EXTERNAL_TRANSACTION', 'binds somebody else', (message) => createOf(message).signatories.push('bob')],
    [
      'LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND',
      'is older',
      ({ metadata }) => metadata && (metadata.preparationTime = 1n),
    ],
  ])('is %s if it %s', async (code, _, alter) => {
    const { sandbox, executeAltered } = await withKey();
    expect((await executeAltered((message) => void alter(message))).json).toMatchObject({ code });
    expect(sandbox.updates).toEqual([]);
  });

  it('archives no contract of another party', async () => {
    const { sandbox, party, executeAltered } = await withKey();
    const bobs = await createContract(sandbox, sandbox.externalParty('bob'));
    const own = { contractId: '00aa', templateId: '#assets:Main:Asset', signatories: [party] };
    sandbox.append(transaction({ CreatedEvent: own }));
    const { json } = await executeAltered((message) => {
      const nodeType = nodeTypeOf(message);
      if (nodeType?.oneofKind === 'exercise') nodeType.exercise.contractId = bobs;
    }, archiveCommand('00aa'));
    expect(json).toMatchObject({ code: 'INVALID_EXTERNAL_TRANSACTION' });
    expect(sandbox.updates).toHaveLength(2);
  });

  it('is not executed on a participant of another synchronizer that hosts the party', async () => {
    const { party, key, executeAltered } = await withKey();
    const on = await sandboxWith({ synchronizers: [`sync3::1220${'c3'.repeat(32)}`] });
    expect(on.externalParty('eve', { publicKey: key }).party).toBe(party);
    const { json } = await executeAltered(() => undefined, createCommand, on);
    const cause = expect.stringContaining('not connected');
    expect(json).toMatchObject({ code: 'FAILED_TO_EXECUTE_TRANSACTION', cause });
  });
});
