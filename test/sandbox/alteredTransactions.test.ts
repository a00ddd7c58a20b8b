import { PreparedTransaction } from '@canton-network/core-ledger-proto';
import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import { generateKeyPairSync, sign } from 'node:crypto';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, post, sandboxWith, textAt } from './client.js';
import {
  archiveCommand,
  createCommand,
  createContract,
  executeBody,
  executePath,
  prepareBody,
  preparePath,
} from './requests.js';

type Message = ReturnType<typeof decodePreparedTransaction>;
type Node = NonNullable<Message['transaction']>['nodes'][number];

async function withParty() {
  const sandbox = await sandboxWith();
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const key = publicKey.export({ type: 'spki', format: 'der' });
  const { party, fingerprint } = sandbox.externalParty('eve', { publicKey: key });
  return { sandbox, party, fingerprint, key, privateKey };
}

/** Prepares a message, alters it, signs its new hash, and executes it; optionally on another sandbox. */
async function executeAltered(
  { sandbox, party, fingerprint, privateKey }: Awaited<ReturnType<typeof withParty>>,
  alter: (message: Message) => void,
  { command = createCommand, on = sandbox }: { readonly command?: unknown; readonly on?: Sandbox } = {},
) {
  const { json } = await post(sandbox, preparePath, prepareBody(party, command));
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
}

const nodeOf = ({ transaction }: Message): Node =>
  transaction?.nodes[0] ?? { nodeId: '', versionedNode: { oneofKind: undefined } };

function createOf(message: Message) {
  const { versionedNode } = nodeOf(message);
  const nodeType = versionedNode.oneofKind === 'v1' ? versionedNode.v1.nodeType : undefined;
  if (nodeType?.oneofKind !== 'create') throw new TypeError('no create');
  return nodeType.create;
}

describe('a message that its client altered and signed', () => {
  it('is executed as altered', async () => {
    const party = await withParty();
    const reply = await executeAltered(party, (message) => {
      createOf(message).argument = { sum: { oneofKind: 'record', record: { fields: [] } } };
    });
    expect(at(reply.json, 'transaction', 'events', 0, 'CreatedEvent', 'createArgument')).toEqual({});
  });

  it.each<readonly [string, string, (message: Message) => void]>([
    ['INVALID_ARGUMENT', 'has two roots', ({ transaction }) => void transaction?.roots.push('0')],
    ['INVALID_ARGUMENT', 'has two acting parties', ({ metadata }) => void metadata?.submitterInfo?.actAs.push('bob')],
    ['INVALID_ARGUMENT', 'has no such contract id', (message) => (createOf(message).contractId = '00aa')],
    [
      'FAILED_TO_EXECUTE_TRANSACTION',
      'is for a synchronizer of elsewhere',
      ({ metadata }) => metadata && (metadata.synchronizerId = 'elsewhere'),
    ],
    [
      'INVALID_EXTERNAL_TRANSACTION',
      'binds somebody else',
      (message) => void createOf(message).signatories.push('bob'),
    ],
    [
      'INVALID_ARGUMENT',
      'has an impossible time',
      ({ metadata }) => metadata && (metadata.preparationTime = 2n ** 64n - 1n),
    ],
    [
      'LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND',
      'is older',
      ({ metadata }) => metadata && (metadata.preparationTime = 1n),
    ],
  ])('is %s if it %s', async (code, _, alter) => {
    const party = await withParty();
    expect((await executeAltered(party, alter)).json).toMatchObject({ code });
    expect(party.sandbox.updates).toEqual([]);
  });

  it('archives no contract of another party', async () => {
    const party = await withParty();
    const { sandbox } = party;
    const own = await createContract(sandbox, sandbox.externalParty('bob'));
    const contract = { contractId: '00aa', templateId: '#assets:Main:Asset', signatories: [party.party] };
    sandbox.append({
      Transaction: { value: { synchronizerId: sandbox.synchronizers[0] ?? '', events: [{ CreatedEvent: contract }] } },
    });
    const before = sandbox.updates.length;
    const reply = await executeAltered(
      party,
      (message) => {
        const { versionedNode } = nodeOf(message);
        const nodeType = versionedNode.oneofKind === 'v1' ? versionedNode.v1.nodeType : undefined;
        if (nodeType?.oneofKind === 'exercise') nodeType.exercise.contractId = own;
      },
      { command: archiveCommand('00aa') },
    );
    expect(reply.json).toMatchObject({ code: 'INVALID_EXTERNAL_TRANSACTION' });
    expect(sandbox.updates).toHaveLength(before);
  });

  it('is not executed on a participant of another synchronizer that hosts the party', async () => {
    const party = await withParty();
    const on = await sandboxWith({ synchronizers: [`sync3::1220${'c3'.repeat(32)}`] });
    expect(on.externalParty('eve', { publicKey: party.key }).party).toBe(party.party);
    const reply = await executeAltered(party, () => undefined, { on });
    expect(reply.json).toMatchObject({
      code: 'FAILED_TO_EXECUTE_TRANSACTION',
      cause: expect.stringContaining('not connected'),
    });
  });
});
