import { PreparedTransaction } from '@canton-network/core-ledger-proto';
import { decodePreparedTransaction, hashPreparedTransaction } from '@canton-network/core-tx-visualizer';
import { describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { concatMap, firstValueFrom, map, timer } from 'rxjs';
import { contractType, create, createLedger, exercise, type Command, type Signer } from '../../../src/index.js';
import { createSandbox, type ExternalParty, type Sandbox, template } from '../../../src/sandbox/index.js';
import { preparedTransactionVerifier } from '../../../src/verify/index.js';
import { itInVirtualTime } from '../../helpers/time.js';
import { at, failure, listAt, sandboxWith, textAt } from '../client.js';
import { execute, prepare, signed } from '../requests.js';

/** A counter that its owner alone signs, and a choice on it that does several things. */
const Counter = contractType('#counters:Main:Counter', t.type({ owner: t.string, count: t.string }), {
  choices: {
    Increment: { argument: t.type({ by: t.string }), result: t.type({ next: t.string, total: t.string }) },
    Now: { argument: t.type({}), result: t.string },
    Replace: { argument: t.type({ other: t.string }), result: t.string },
  },
});

const counter = template(Counter, {
  signatories: ({ payload }) => [payload.owner],
  choices: {
    Increment: {
      controllers: ({ payload }) => [payload.owner],
      exercise: ({ payload }, { by }, ledger) => {
        const total = String(Number(payload.count) + Number(by));
        return { next: ledger.create(Counter, { ...payload, count: total }), total };
      },
    },
    Now: {
      consuming: false,
      controllers: ({ payload }) => [payload.owner],
      exercise: (_contract, _argument, ledger) => ledger.time,
    },
    Replace: {
      controllers: ({ payload }) => [payload.owner],
      exercise: ({ payload }, { other }, ledger) => {
        const { count } = ledger.fetch(Counter, other).payload;
        const { next } = ledger.exercise(Counter, other, 'Increment', { by: payload.count });
        ledger.archive(next);
        return ledger.create(Counter, { ...payload, count });
      },
    },
  },
});

const signerOf = ({ party, sign }: ExternalParty): Signer => ({
  party,
  sign: (hash) => Promise.resolve(sign(Buffer.from(hash).toString('base64'))),
});

/** The results of the choices of the last transaction. */
const resultsIn = ({ updates }: Sandbox): readonly unknown[] =>
  listAt(updates.at(-1), 'Transaction', 'value', 'events').flatMap(
    (event) => at(event, 'ExercisedEvent', 'exerciseResult') ?? [],
  );

const createCounter = (owner: string, count: string): Command => create(Counter, { owner, count });

describe('templates', () => {
  it('run over HTTP, as every client submits to them', async () => {
    const sandbox = await sandboxWith({ templates: [counter] });
    const owner = sandbox.hostedParty('owner');
    const ledger = createLedger({ baseUrl: sandbox.url });
    const submitted = (command: Command) =>
      firstValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [owner], commands: [command] }));
    const { events } = await submitted(createCounter(owner, '1'));
    const [created] = events;
    if (created?._tag !== 'CreatedEvent') throw new Error('no contract');
    const incremented = await submitted(exercise(Counter.Increment, created.contractId, { by: '2' }));
    expect(incremented.events).toMatchObject([
      { _tag: 'ArchivedEvent', contractId: created.contractId },
      { _tag: 'CreatedEvent', createArgument: { owner, count: '3' } },
    ]);
  });

  itInVirtualTime('run in virtual time, with its time', ({ expectObservable }) => {
    const sandbox = createSandbox({ templates: [counter], confirmationMs: 2_000 });
    const owner = sandbox.hostedParty('owner');
    const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
    const submitted = (...commands: readonly Command[]) =>
      ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [owner], commands });
    const done$ = timer(1_000).pipe(
      concatMap(() => submitted(createCounter(owner, '1'))),
      map(({ events: [created] }) => textAt(created, 'contractId')),
      concatMap((id) => submitted(exercise(Counter.Now, id, {}), exercise(Counter.Archive, id, {}))),
      map(({ recordTime }) => [recordTime, resultsIn(sandbox)]),
    );
    expectObservable(done$).toBe('3s (a|)', { a: ['1970-01-01T00:00:03Z', ['1970-01-01T00:00:01Z', {}]] });
  });

  it('are those of the original in a replica', async () => {
    const first = createSandbox({ templates: [counter], confirmationMs: 0 });
    const owner = first.hostedParty('owner');
    const second = createSandbox({ replicaOf: first, confirmationMs: 0 });
    const submitted = (sandbox: Sandbox, command: Command) => {
      const ledger = createLedger({ baseUrl: sandbox.url, port: sandbox.port });
      return firstValueFrom(
        ledger
          .submitAndWaitForTransaction({ userId: 'app', actAs: [owner], commands: [command] })
          .pipe(map(({ events }) => events.find(({ _tag }) => _tag === 'CreatedEvent'))),
      );
    };
    const created = await submitted(first, createCounter(owner, '1'));
    expect(second.ledgerEnd).toBeGreaterThan(0);
    const next = await submitted(second, exercise(Counter.Increment, String(at(created, 'contractId')), { by: '2' }));
    expect(next).toMatchObject({ createArgument: { count: '3' } });
  });

  it('are defined once, with valid ids', () => {
    expect(() => createSandbox({ templates: [counter, counter] })).toThrow(TypeError);
    expect(() => template('counters:Main:Counter', { signatories: () => ['a'] })).toThrow(TypeError);
  });
});

describe('transactions that an external party signs', () => {
  /** A sandbox, and an external party with two counters. */
  async function signing() {
    const sandbox = await sandboxWith({ templates: [counter] });
    const eve = sandbox.externalParty('eve');
    const ledger = createLedger({ baseUrl: sandbox.url });
    const verify = preparedTransactionVerifier();
    let ids = 0;
    const submitted = async (command: Command): Promise<readonly unknown[]> => {
      const request = { commandId: `cmd-${(ids += 1)}`, actAs: [eve.party], commands: [command] };
      await firstValueFrom(ledger.submit(request, signerOf(eve), { verify }));
      return listAt(sandbox.updates.at(-1), 'Transaction', 'value', 'events');
    };
    const idOf = ([created]: readonly unknown[]): string => textAt(created, 'CreatedEvent', 'contractId');
    const first = idOf(await submitted(createCounter(eve.party, '1')));
    const second = idOf(await submitted(createCounter(eve.party, '2')));
    return { sandbox, eve, submitted, first, second };
  }

  it('contain all that a choice does', async () => {
    const { submitted, first, second } = await signing();
    const events = await submitted(exercise(Counter.Replace, first, { other: second }));
    expect(events.filter((event) => at(event, 'ArchivedEvent') === undefined)).toMatchObject([
      { ExercisedEvent: { nodeId: 0, choice: 'Replace', contractId: first, lastDescendantNodeId: 5 } },
      { ExercisedEvent: { nodeId: 2, contractId: second, exerciseResult: { total: '3' }, lastDescendantNodeId: 3 } },
      { CreatedEvent: { nodeId: 3, createArgument: { count: '3' }, acsDelta: false } },
      { ExercisedEvent: { nodeId: 4, choice: 'Archive' } },
      { CreatedEvent: { nodeId: 5, createArgument: { count: '2' }, acsDelta: true } },
    ]);
  });

  it('are not committed if the client has changed what a choice does', async () => {
    const { sandbox, eve, first } = await signing();
    const before = sandbox.updates.length;
    const command = exercise(Counter.Increment, first, { by: '1' });
    const { json } = await prepare(sandbox, eve.party, command, { commandId: 'altered' });
    const message = decodePreparedTransaction(textAt(json, 'preparedTransaction'));
    const altered = { ...Object(json) } as Record<string, unknown>;
    const node = message.transaction?.nodes[1]?.versionedNode;
    if (node?.oneofKind !== 'v1' || node.v1.nodeType.oneofKind !== 'create') throw new Error('no create');
    const count = at(node.v1.nodeType.create.argument, 'sum', 'record', 'fields', 1, 'value') as { sum: unknown };
    expect(count.sum).toMatchObject({ int64: '2' });
    count.sum = { oneofKind: 'int64', int64: '1000' };
    altered['preparedTransaction'] = Buffer.from(PreparedTransaction.toBinary(message)).toString('base64');
    altered['preparedTransactionHash'] = await hashPreparedTransaction(message, 'base64');
    expect(await execute(sandbox, signed(altered, eve))).toMatchObject(failure(400, 'INVALID_EXTERNAL_TRANSACTION'));
    expect(sandbox.updates).toHaveLength(before);
    expect(await execute(sandbox, signed(json, eve), { submissionId: 'sub-2' })).toMatchObject({ status: 200 });
  });
});
