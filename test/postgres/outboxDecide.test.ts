import { afterEach, expect, it } from '@jest/globals';
import { firstValueFrom, NEVER, of, throwError, timer } from 'rxjs';
import {
  commandOutbox,
  type Decide,
  type DecideContext,
  type SubmitAllOptions,
  type Submitted,
} from '../../src/postgres/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { assetOf, createAsset, exerciseAsset } from '../sandbox/commands.js';
import { committedIds, outboxes, type OutboxWorld, soon, transactionPath } from './outboxSupport.js';
import { withDatabase } from './support.js';

const submissions = { path: transactionPath };

describeWithPostgres('commandOutbox, with commands that are decided when they are sent', () => {
  const database = withDatabase();
  const world = outboxes(database);
  const ends: (() => unknown)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0)) await end();
  });

  const enqueue = ({ outbox, inTransaction, alice }: OutboxWorld, commandId: string, more: object = {}) =>
    inTransaction((tx) =>
      outbox.enqueue(tx, { decide: 'pay', actAs: [alice], userId: 'app', commandId, ...more }, { key: 'k' }),
    );

  /** Sends with a function that decides, until that many outcomes are emitted. */
  const sendWith = async ({ send }: OutboxWorld, pay: Decide, count = 1, options: SubmitAllOptions = {}) =>
    (await send(count, { decide: { pay }, recover: false, ...options })).submitted;

  /** Returns a function that creates an asset, whose serial is the number of the call. */
  const counting = (alice: string) => {
    const calls: (readonly [unknown, DecideContext])[] = [];
    const pay: Decide = (argument, context) => {
      calls.push([argument, context]);
      return createAsset(alice, { serial: String(calls.length) });
    };
    return { calls, pay };
  };

  /** The serials of the assets that were asked for, in the order of the requests. */
  const serials = ({ bodies }: OutboxWorld, commandId: string): readonly unknown[] =>
    (bodies()[commandId] ?? []).map((body) => /"serial":"(\d+)"/.exec(JSON.stringify(body))?.[1]);

  it('calls the function with the argument, and commits what it returns', async () => {
    const here = await world();
    const { calls, pay } = counting(here.alice);
    const argument = { to: 'bob', amounts: [1, null, '2'] };
    await enqueue(here, 'one', { argument });
    await enqueue(here, 'two');
    expect(await sendWith(here, pay, 2)).toMatchObject([
      { _tag: 'Committed', commandId: 'one', key: 'k', isRepeated: false },
      { _tag: 'Committed', commandId: 'two' },
    ]);
    expect(calls).toEqual([
      [argument, { commandId: 'one', key: 'k', attempt: 1 }],
      [undefined, { commandId: 'two', key: 'k', attempt: 1 }],
    ]);
    expect(committedIds(here.sandbox)).toEqual(['one', 'two']);
  });

  it.each([
    ['a Promise', (action: ReturnType<typeof createAsset>) => Promise.resolve(action)],
    ['an Observable', (action: ReturnType<typeof createAsset>) => timer(1).pipe(() => of([action], []))],
    ['a request', (action: ReturnType<typeof createAsset>) => ({ commands: [action], workflowId: 'w' })],
  ])('takes %s', async (_, returned) => {
    const here = await world();
    await enqueue(here, 'one');
    expect(await sendWith(here, () => returned(createAsset(here.alice)))).toMatchObject([{ _tag: 'Committed' }]);
    expect(here.bodies()['one']).toMatchObject([{ actAs: [here.alice], userId: 'app' }]);
  });

  it('decides again after a lost race: a holding that is spent, or locked', async () => {
    const here = await world();
    const { sandbox, alice } = here;
    const holdings: string[] = [];
    for (const commandId of ['a', 'b', 'c']) holdings.push(await assetOf(sandbox, alice, { commandId }));
    const [spent = '', ...left] = holdings;
    await here.inTransaction((tx) =>
      here.outbox.enqueue(tx, { ...here.create('spend'), commands: [exerciseAsset(spent)] }),
    );
    await here.send(1);
    await enqueue(here, 'one');
    const chosen: string[] = [];
    const pay: Decide = (_, { attempt }) => {
      const holding = [spent, ...left][attempt - 1] ?? '';
      // the second is locked by another transaction
      if (attempt === 2) sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, submissions);
      chosen.push(holding);
      return exerciseAsset(holding);
    };
    expect(await sendWith(here, pay, 3)).toMatchObject([
      { _tag: 'Rejected', error: { reason: 'inactiveContract' }, retryAt: expect.any(Number) },
      { _tag: 'Rejected', error: { reason: 'contention' }, retryAt: expect.any(Number) },
      { _tag: 'Committed', isRepeated: false },
    ]);
    expect(chosen).toEqual(holdings);
    expect(committedIds(sandbox)).toEqual(['a', 'b', 'c', 'spend', 'one']);
  });

  it('decides again 20 times if the contract is archived, and then parks the command (G79)', async () => {
    const here = await world();
    const { sandbox, alice, diagnostics } = here;
    const spent = await assetOf(sandbox, alice, { commandId: 'a' });
    await here.inTransaction((tx) =>
      here.outbox.enqueue(tx, { ...here.create('spend'), commands: [exerciseAsset(spent)] }),
    );
    await here.send(1);
    await enqueue(here, 'one');
    const attempts: number[] = [];
    const pay: Decide = (_, { attempt }) =>
      attempts.push(attempt) <= 3 ? createAsset(alice, { serial: '1' }) : exerciseAsset(spent);
    // an overload is no failure of the command
    sandbox.fault({ kind: 'reject', code: 'PARTICIPANT_BACKPRESSURE' }, { ...submissions, times: 3 });
    const submitted = await sendWith(here, pay, 3 + 21);
    expect(submitted.every(({ _tag }) => _tag === 'Rejected')).toBe(true);
    expect(submitted.findIndex((each) => !('retryAt' in each))).toBe(23);
    expect(attempts).toEqual([1, 1, 1, ...Array.from({ length: 21 }, (_, n) => n + 1)]);
    expect(await here.rows()).toMatchObject([
      { state: 'committed' },
      { state: 'parked', reason: 'inactiveContract', may_be_committed: false },
    ]);
    expect(diagnostics.filter(({ _tag }) => _tag === 'CommandParked')).toHaveLength(1);
  });

  it('parks a command of archived contracts after 20 of them, however long an outage was before', async () => {
    const here = await world();
    const { sandbox, alice } = here;
    const spent = await assetOf(sandbox, alice, { commandId: 'a' });
    await here.inTransaction((tx) =>
      here.outbox.enqueue(tx, { ...here.create('spend'), commands: [exerciseAsset(spent)] }),
    );
    await here.send(1);
    await enqueue(here, 'one');
    // contracts cannot be read, then nothing can be committed
    const pay: Decide = (_, { attempt }) => {
      if (attempt <= 11 || attempt === 30) throw new Error('no holdings');
      return attempt <= 21 ? createAsset(alice) : exerciseAsset(spent);
    };
    sandbox.fault({ kind: 'reject', code: 'NOT_CONNECTED_TO_ANY_SYNCHRONIZER' }, { ...submissions, times: 10 });
    const isRepeated = (submitted: Submitted): boolean => 'retryAt' in submitted;
    const first = await sendWith(here, pay, 11 + 10 + 1);
    expect(first.map(isRepeated)).toEqual(first.map(() => true));
    const others = await sendWith(here, pay, 1 + 20);
    expect(others.map(isRepeated)).toEqual(others.map((_, n) => n < 20));
    expect(await here.rows()).toMatchObject([{}, { state: 'parked', reason: 'inactiveContract', failures: 43 }]);
    // a person has it counted from the beginning
    expect(await firstValueFrom(here.outbox.retry(2))).toBe(true);
    expect(await sendWith(here, () => exerciseAsset(spent))).toMatchObject([{ retryAt: expect.any(Number) }]);
  });

  it('does not decide again while an earlier attempt may be committed (G79)', async () => {
    const here = await world();
    const { sandbox, alice } = here;
    const { calls, pay } = counting(alice);
    await enqueue(here, 'one');
    sandbox.fault({ kind: 'reset' }, { ...submissions, times: 3 });
    const unknown = { _tag: 'Unknown', retryAt: expect.any(Number) };
    // a new process does not know the function of the first one
    expect(await sendWith(here, pay, 2)).toMatchObject([unknown, unknown]);
    expect((await here.send(1, { recover: false })).submitted).toMatchObject([unknown]);
    expect(await sendWith(here, pay)).toMatchObject([{ _tag: 'Committed' }]);
    expect(calls).toHaveLength(1);
    expect(serials(here, 'one')).toEqual(['1', '1', '1', '1']);
    expect(committedIds(sandbox)).toEqual(['one']);
  });

  it('sends what is decided after a person has made it forget the former ledger, and nothing from before', async () => {
    const here = await world();
    const { sandbox, outbox, ledger, alice } = here;
    const { calls, pay } = counting(alice);
    await enqueue(here, 'one');
    sandbox.fault({ kind: 'reset' }, { ...submissions, times: 1 });
    const seen: Submitted[] = [];
    const sending = outbox
      .submitAll(ledger, { ...soon, retry: { baseDelayMs: 1_200 }, decide: { pay }, recover: false })
      .subscribe((submitted) => seen.push(submitted));
    await until(() => seen.length === 1);
    await sandbox.restart({ participantId: 'other::1220' });
    await until(() => seen.length === 2);
    expect(await firstValueFrom(outbox.retry(1, { forget: true }))).toBe(true);
    await until(() => seen.length === 3);
    sending.unsubscribe();
    expect(seen.map(({ _tag }) => _tag)).toEqual(['Unknown', 'Unknown', 'Committed']);
    expect([calls.length, serials(here, 'one')]).toEqual([2, ['1', '2']]);
  });

  it('sends what was decided again after a crash, and decides again once the ledger has refused it', async () => {
    const here = await world();
    const { sandbox, outbox, ledger, alice } = here;
    const { calls, pay } = counting(alice);
    await enqueue(here, 'one');
    sandbox.fault({ kind: 'hang' }, { ...submissions, times: 1 });
    const dying = outbox.submitAll(ledger, { ...soon, decide: { pay } }).subscribe();
    await until(() => (here.bodies()['one'] ?? []).length === 1);
    expect(
      await database.pool.query('SELECT may_be_committed AS may, decided IS NOT NULL AS has FROM canton_rx_outbox'),
    ).toMatchObject({
      rows: [{ may: true, has: true }],
    });
    dying.unsubscribe();
    sandbox.fault({ kind: 'reject', code: 'LOCAL_VERDICT_LOCKED_CONTRACTS' }, submissions);
    expect(await sendWith(here, pay)).toMatchObject([{ _tag: 'Rejected', retryAt: expect.any(Number) }]);
    expect([calls.length, new Set(serials(here, 'one'))]).toEqual([1, new Set(['1'])]);
    expect(await sendWith(here, pay)).toMatchObject([{ _tag: 'Committed' }]);
    expect(calls.map(([, { attempt }]) => attempt)).toEqual([1, 2]);
    expect(serials(here, 'one').at(-1)).toBe('2');
    expect(committedIds(sandbox)).toEqual(['one']);
  });

  it('commits once if the process ends before what was decided is saved', async () => {
    const here = await world();
    const { sandbox, outbox, ledger, alice } = here;
    await enqueue(here, 'one');
    let isAsked = false;
    const dying = outbox.submitAll(ledger, { ...soon, decide: { pay: () => ((isAsked = true), NEVER) } }).subscribe();
    await until(() => isAsked);
    dying.unsubscribe();
    expect(await here.rows()).toMatchObject([{ state: 'pending', may_be_committed: false, failures: 0 }]);
    expect(await sendWith(here, counting(alice).pay)).toMatchObject([{ _tag: 'Committed', isRepeated: false }]);
    expect(committedIds(sandbox)).toEqual(['one']);
  });

  it.each(['pay', 'toString', '__proto__'])(
    'parks a command whose function %s is missing, until there is one',
    async (name) => {
      const here = await world();
      const { outbox, alice, diagnostics } = here;
      await enqueue(here, 'one', { decide: name });
      const { submitted } = await here.send(1, { decide: { other: () => undefined } });
      expect(submitted).toMatchObject([{ _tag: 'Rejected', error: { message: expect.stringContaining(`"${name}"`) } }]);
      expect(submitted[0]).not.toHaveProperty('retryAt');
      expect(diagnostics).toContainEqual(expect.objectContaining({ _tag: 'CommandParked', outbox: 'commands', id: 1 }));
      expect(await firstValueFrom(outbox.parked())).toMatchObject({
        reason: 'decide',
        decide: name,
        error: expect.stringContaining(`"${name}"`),
        mayBeCommitted: false,
      });
      expect(await firstValueFrom(outbox.retry(1))).toBe(true);
      const decide = Object.fromEntries([[name, counting(alice).pay]]);
      expect((await here.send(1, { decide })).submitted).toMatchObject([{ _tag: 'Committed' }]);
    },
  );

  it.each<[string, Decide, string]>([
    [
      'throws',
      () => {
        throw new Error('no holdings');
      },
      'no holdings',
    ],
    ['fails', () => throwError(() => new Error('no view')), 'no view'],
    ['rejects', () => Promise.reject(new Error('no answer')), 'no answer'],
    ['fails with a text that PostgreSQL cannot store', () => throwError(() => new Error('no \0 view')), 'no \0 view'],
    ['is late', () => NEVER, 'within 20 ms'],
    ['is empty', () => [][Symbol.iterator]() as never, 'without a value'],
    ['returns a text', () => 'pay' as never, 'neither a command nor a request'],
    ['returns an invalid request', () => ({ commands: [{}] }) as never, 'commands'],
  ])('asks again if the function %s', async (_, bad, message) => {
    const here = await world();
    const { calls, pay } = counting(here.alice);
    await enqueue(here, 'one');
    const failing: Decide = (argument, context) =>
      context.attempt < 3 ? bad(argument, context) : pay(argument, context);
    const error = { message: expect.stringContaining(message) };
    expect(await sendWith(here, failing, 3, { decideTimeoutMs: 20 })).toMatchObject([
      { _tag: 'Rejected', error, retryAt: expect.any(Number) },
      { _tag: 'Rejected', error, retryAt: expect.any(Number) },
      { _tag: 'Committed' },
    ]);
    expect(calls).toHaveLength(1);
    expect(committedIds(here.sandbox)).toEqual(['one']);
  });

  it.each([
    ['undefined', () => undefined],
    ['no commands', () => of([])],
  ])('drops a command if the function returns %s, and the next of its key is sent', async (_, nothing) => {
    const here = await world();
    const { pay } = counting(here.alice);
    await enqueue(here, 'one');
    await enqueue(here, 'two');
    const some: Decide = (argument, context) => (context.commandId === 'one' ? nothing() : pay(argument, context));
    const submitted = await sendWith(here, some, 2);
    expect(submitted).toEqual([
      { _tag: 'Dropped', id: 1, commandId: 'one', key: 'k' },
      expect.objectContaining({ _tag: 'Committed', commandId: 'two' }),
    ]);
    expect(await here.rows()).toMatchObject([
      { state: 'dropped', reason: 'decide', may_be_committed: false },
      { state: 'committed' },
    ]);
    expect(committedIds(here.sandbox)).toEqual(['two']);
  });

  it('goes on after a drop by a person while it decides, and begins nothing after a stop', async () => {
    const here = await world();
    const { outbox, ledger } = here;
    await enqueue(here, 'one');
    await enqueue(here, 'two');
    const asked: string[] = [];
    const stop = new AbortController();
    let isCompleted = false;
    const pay: Decide = (_, { commandId }) => {
      asked.push(commandId);
      return NEVER;
    };
    const sending = outbox.submitAll(ledger, { ...soon, decide: { pay }, signal: stop.signal }).subscribe({
      complete: () => {
        isCompleted = true;
      },
    });
    ends.push(() => {
      sending.unsubscribe();
    });
    await until(() => asked.includes('one'));
    expect(await firstValueFrom(outbox.drop(1))).toBe(true);
    await until(() => asked.includes('two'));
    stop.abort();
    await until(() => isCompleted);
    expect(await here.rows()).toMatchObject([{ state: 'dropped' }, { state: 'pending', may_be_committed: false }]);
    expect(here.bodies()).toEqual({});
  });

  it('refuses what it could not send, before anything is written', async () => {
    const { outbox, ledger, alice, inTransaction, rows } = await world();
    const request = { decide: 'pay', actAs: [alice] } as const;
    await inTransaction((tx) => {
      const enqueueing = (wrong: object) => () => void outbox.enqueue(tx, { ...request, ...wrong });
      for (const wrong of [
        { actAs: [] },
        { commands: [] },
        { decide: '' },
        { decide: 1 },
        { deduplicationPeriod: { Empty: {} } },
      ])
        expect(enqueueing(wrong)).toThrow(expect.objectContaining({ _tag: 'InvalidRequestError' }));
      return outbox.enqueue(tx, { ...request, argument: { text: '\u00e9\ud83d\ude00' } });
    });
    expect(await rows()).toHaveLength(1);
    expect(() => commandOutbox({ pool: database.pool }).submitAll(ledger, { decide: { pay: 1 as never } })).toThrow(
      TypeError,
    );
    expect(() => outbox.submitAll(ledger, { decideTimeoutMs: 0 })).toThrow(TypeError);
  });
});
