import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import type { ExternalParty, Sandbox } from '../../src/sandbox/index.js';
import { at, post, textAt } from './client.js';
import {
  archiveCommand,
  createCommand,
  createContract,
  creation,
  executeBody,
  executePath,
  prepareAndSign,
  prepareBody,
  preparePath,
  withParty,
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

async function prepare(sandbox: Sandbox, { party }: ExternalParty, command: unknown, changes: object = {}) {
  const { json } = await post(sandbox, preparePath, { ...prepareBody(party, command), ...changes });
  const bytes = textAt(json, 'preparedTransaction');
  const message = decodePreparedTransaction(bytes);
  return { json, bytes, message, node: message.transaction?.nodes[0]?.versionedNode };
}

const create = (templateId: string, createArguments: object) => ({ CreateCommand: { templateId, createArguments } });

/** The fields of a record, by label. */
function fieldsOf(record: unknown): Readonly<Record<string, unknown>> {
  const fields = at(record, 'sum', 'record', 'fields');
  if (!Array.isArray(fields)) throw new TypeError('no record');
  return Object.fromEntries(fields.map((field) => [textAt(field, 'label'), at(field, 'value', 'sum')]));
}

describe('a prepared transaction', () => {
  it.each([
    ['a create with arguments of all types', (party: string) => create(sampleId, sample(party))],
    ['a create of an asset', (party: string) => create('#sandbox-assets:Main:Asset', { owner: party, amount: '1' })],
    ['a create of a template that is not known', () => createCommand],
    ['a create without arguments', () => create('#assets:Main:Nothing', {})],
  ])('has the hash of the prepare response: %s', async (_, command) => {
    const { sandbox, eve } = await withParty();
    const { json, bytes } = await prepare(sandbox, eve, command(eve.party));
    expect(await hashPreparedTransaction(bytes)).toBe(textAt(json, 'preparedTransactionHash'));
  });

  it('has the hash of the prepare response: an archive', async () => {
    const { sandbox, eve } = await withParty();
    const contractId = await createContract(sandbox, eve, create(sampleId, sample(eve.party)));
    const { json, bytes } = await prepare(sandbox, eve, archiveCommand(contractId, sampleId));
    expect(await hashPreparedTransaction(bytes)).toBe(textAt(json, 'preparedTransactionHash'));
  });

  it('has a create as its only root, with the arguments in the order of their declaration', async () => {
    const { sandbox, eve } = await withParty();
    const { message, node } = await prepare(sandbox, eve, create(sampleId, { ...sample(eve.party), lock: null }));
    expect(message.transaction).toMatchObject({
      version: '2.1',
      roots: ['0'],
      nodes: [{ nodeId: '0' }],
      nodeSeeds: [{ nodeId: 0 }],
    });
    expect(message.transaction?.nodeSeeds[0]?.seed).toHaveLength(32);
    const createNode = at(node, 'v1', 'nodeType', 'create');
    const templateId = {
      packageId: expect.stringMatching(/^[0-9a-f]{64}$/),
      moduleName: 'Values',
      entityName: 'Sample',
    };
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
    const { sandbox, eve } = await withParty();
    const before = BigInt(Date.now()) * 1000n;
    const changes = {
      maxRecordTime: '2027-01-01T00:00:00.000001Z',
      minLedgerTime: { time: { MinLedgerTimeAbs: { value: '2026-01-01T00:00:00Z' } } },
    };
    const { message } = await prepare(sandbox, eve, createCommand, changes);
    expect(message.metadata).toMatchObject({
      submitterInfo: { actAs: [eve.party], commandId: 'cmd-1' },
      synchronizerId: sandbox.synchronizers[0],
      mediatorGroup: 0,
      transactionUuid: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f-]{27}$/),
      inputContracts: [],
      minLedgerEffectiveTime: 1767225600000000n,
      maxRecordTime: 1798761600000001n,
    });
    expect(message.metadata?.preparationTime).toBeGreaterThanOrEqual(before);
    const plain = await prepare(sandbox, eve, createCommand);
    expect(plain.message.metadata?.maxRecordTime).toBeUndefined();
    expect(plain.message.metadata?.minLedgerEffectiveTime).toBeUndefined();
  });

  it('contains the contract that it archives', async () => {
    const { sandbox, eve } = await withParty();
    const bob = sandbox.parties[1] ?? '';
    const offer = { seller: eve.party, buyer: bob, price: '7', kind: { tag: 'Fixed', value: {} } };
    const offerId = '#sandbox-assets:Main:Offer';
    const contractId = await createContract(sandbox, eve, create(offerId, offer));
    const { message, node } = await prepare(sandbox, eve, archiveCommand(contractId, offerId));
    expect(at(node, 'v1', 'nodeType', 'exercise')).toMatchObject({
      contractId,
      choiceId: 'Archive',
      consuming: true,
      actingParties: [eve.party],
      signatories: [eve.party],
      stakeholders: [bob, eve.party].sort(),
      templateId: { moduleName: 'Main', entityName: 'Offer' },
      chosenValue: { sum: { record: { recordId: { entityName: 'Archive' }, fields: [] } } },
      exerciseResult: { sum: { oneofKind: 'unit' } },
      children: [],
    });
    const [input] = message.metadata?.inputContracts ?? [];
    expect(input).toMatchObject({ contract: { v1: { contractId, stakeholders: [bob, eve.party].sort() } } });
    expect(fieldsOf(at(input, 'contract', 'v1', 'argument'))).toMatchObject({
      price: { numeric: '7.0000000000' },
      buyer: { party: bob },
    });
    expect(input?.createdAt).toBeGreaterThan(0n);
  });

  it('can archive any contract, also an appended one with arguments of other types', async () => {
    const { sandbox, eve } = await withParty();
    const fields = { signatories: [eve.party], createArgument: { amount: 5, nested: [{ deep: null }] } };
    sandbox.append(creation({ contractId: '00aa', ...fields }));
    const archive = archiveCommand('00aa', '#sandbox-assets:Main:Asset');
    const { json, bytes } = await prepare(sandbox, eve, archive);
    expect(await hashPreparedTransaction(bytes)).toBe(textAt(json, 'preparedTransactionHash'));
    expect((await post(sandbox, executePath, await prepareAndSign(sandbox, eve, archive))).status).toBe(200);
  });

  it('is committed with its arguments, and with its contract id plus a suffix', async () => {
    const { sandbox, eve } = await withParty();
    const { json, node } = await prepare(sandbox, eve, create(sampleId, sample(eve.party)));
    const signature = eve.sign(textAt(json, 'preparedTransactionHash'));
    const reply = await post(sandbox, executePath, executeBody(json, eve.party, signature));
    const event = at(reply.json, 'transaction', 'events', 0, 'CreatedEvent');
    expect(at(event, 'createArgument')).toEqual({
      ...sample(eve.party),
      amount: '10.5000000000',
      limits: ['1.0000000000', '2.5000000000'],
      shares: [[eve.party, '0.2500000000']],
      price: { tag: 'Fixed', value: '3.0000000000' },
    });
    const prefix = textAt(node, 'v1', 'nodeType', 'create', 'contractId');
    expect(textAt(event, 'contractId')).toMatch(new RegExp(`^${prefix}ca1112[0-9a-f]{64}$`));
    expect(textAt(reply.json, 'transaction', 'externalTransactionHash')).toBe(
      Buffer.from(textAt(json, 'preparedTransactionHash'), 'base64').toString('hex'),
    );
  });

  it('guesses the types of the arguments of an unknown template, and preserves their JSON', async () => {
    const { sandbox, eve } = await withParty();
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
    const { json, node } = await prepare(sandbox, eve, create('#assets:Main:Odd', createArguments));
    const kinds = Object.entries(fieldsOf(at(node, 'v1', 'nodeType', 'create', 'argument')));
    expect(Object.fromEntries(kinds.map(([label, sum]) => [label, at(sum, 'oneofKind')]))).toEqual({
      ...Object.fromEntries(Object.keys(createArguments).map((label) => [label, label])),
      beyond: 'text',
      noDate: 'text',
      noTimestamp: 'text',
      nothing: 'optional',
      toString: 'text',
    });
    const signature = eve.sign(textAt(json, 'preparedTransactionHash'));
    const reply = await post(sandbox, executePath, executeBody(json, eve.party, signature));
    expect(at(reply.json, 'transaction', 'events', 0, 'CreatedEvent', 'createArgument')).toEqual(createArguments);
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
    const { sandbox, eve } = await withParty();
    const command = create(sampleId, { ...sample(eve.party), ...changes });
    expect(await post(sandbox, preparePath, prepareBody(eve.party, command))).toMatchObject({ status, json: { code } });
  });
});
