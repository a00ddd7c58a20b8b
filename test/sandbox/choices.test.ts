import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { lastValueFrom } from 'rxjs';
import { type Command, create } from '../../src/codecs/Command.js';
import { contractType } from '../../src/codecs/ContractType.js';
import { ledgerEffects } from '../../src/codecs/UpdateFormat.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type ExternalParty, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { preparedTransactionVerifier } from '../../src/verify/index.js';

const templateId = '#sandbox-tasks:Tasks.Model:Task';
const Task = contractType(
  templateId,
  t.type({ owner: t.string, title: t.string, due: t.string, steps: t.readonlyArray(t.string) }),
);

let sandbox: Sandbox | undefined;
afterEach(async () => {
  await sandbox?.close();
});

/** Alice has a task. Submissions are verified as an application would. */
async function world() {
  const started = await startSandbox();
  sandbox = started;
  const [alice, bob] = [started.externalParty('alice'), started.externalParty('bob')];
  const ledger = createLedger({ baseUrl: started.url });
  const transactionFormat = ledgerEffects({ parties: 'any' }).includeTransactions;
  const submit = (command: Command, party: ExternalParty = alice): Promise<Transaction> =>
    lastValueFrom(
      ledger.submit(
        { commandId: randomUUID(), commands: [command], actAs: [party.party] },
        { party: party.party, sign: (hash) => Promise.resolve(party.sign(Buffer.from(hash).toString('base64'))) },
        { verify: preparedTransactionVerifier(), transactionFormat },
      ),
    );
  const created = await submit(create(Task, { owner: alice.party, title: 'write', due: '2026-12-31', steps: ['1'] }));
  const [event] = created.events;
  if (event?._tag !== 'CreatedEvent') throw new Error('no contract');
  const { contractId } = event;
  const choose = (choice: string, choiceArgument: object, party?: ExternalParty) =>
    submit({ ExerciseCommand: { templateId, contractId, choice, choiceArgument } }, party);
  return { alice, bob, contractId, choose };
}

describe('the choices of the sandbox', () => {
  it('Touch exercises a contract, which stays active', async () => {
    const { alice, contractId, choose } = await world();
    const { events } = await choose('Touch', {});
    expect(events).toMatchObject([
      {
        _tag: 'ExercisedEvent',
        contractId,
        choice: 'Touch',
        consuming: false,
        acsDelta: false,
        actingParties: [alice.party],
        exerciseResult: '42',
      },
    ]);
    await expect(choose('Touch', {})).resolves.toMatchObject({ offset: 3 });
  });

  it('Transfer archives a contract, and creates its successor with the new owner', async () => {
    const { alice, bob, contractId, choose } = await world();
    const { events } = await choose('Transfer', { newOwner: bob.party });
    expect(events).toMatchObject([
      {
        _tag: 'ExercisedEvent',
        contractId,
        consuming: true,
        choiceArgument: { newOwner: bob.party },
        lastDescendantNodeId: 1,
        nodeId: 0,
      },
      {
        _tag: 'CreatedEvent',
        nodeId: 1,
        createArgument: { owner: bob.party, title: 'write' },
        signatories: [alice.party],
        observers: [bob.party],
      },
    ]);
    const [exercised, successor] = events;
    if (exercised?._tag !== 'ExercisedEvent' || successor?._tag !== 'CreatedEvent') throw new Error('other events');
    expect(exercised.exerciseResult).toBe(successor.contractId);
    await expect(choose('Touch', {})).rejects.toMatchObject({ code: 'CONTRACT_NOT_FOUND' });
  });

  it('are refused to other parties, with other arguments, and where a template does not have them', async () => {
    const { bob, choose } = await world();
    await expect(choose('Touch', {}, bob)).rejects.toMatchObject({ code: 'DAML_AUTHORIZATION_ERROR' });
    await expect(choose('Transfer', { newOwner: true })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(choose('Give', {})).rejects.toMatchObject({
      code: 'COMMAND_PREPROCESSING_FAILED',
      message: expect.stringContaining('Touch and Transfer'),
    });
  });
});
