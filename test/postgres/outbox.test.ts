import { expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { firstValueFrom, lastValueFrom, NEVER, of, take, timeout, timer, toArray } from 'rxjs';
import { type CommandsRequest, createLedger, isLedgerError } from '../../src/index.js';
import { commandOutbox, outboxSql, postgresStore } from '../../src/postgres/index.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { assetOf, exerciseAsset } from '../sandbox/commands.js';
import { committedIds, outboxes, soon, transactionPath } from './outboxSupport.js';
import { offsetsOf, poolOf, request as allUpdates, withDatabase } from './support.js';

describeWithPostgres('commandOutbox', () => {
  const database = withDatabase();
  const world = outboxes(database);

  it('sends the commands of transactions that commit, and none of those that are rolled back (G74)', async () => {
    const { sandbox, outbox, create, inTransaction, send, rows } = await world();
    await inTransaction(async (tx) => {
      expect(await outbox.enqueue(tx, create('one'))).toEqual({ commandId: 'one', id: 1 });
    });
    await inTransaction((tx) => outbox.enqueue(tx, create('two')), 'ROLLBACK');
    // without waiting: the statement is queued before COMMIT
    await inTransaction((tx) => void outbox.enqueue(tx, create('three')));
    const { submitted } = await send(2, { concurrency: 1 });
    expect(submitted).toMatchObject([
      { _tag: 'Committed', commandId: 'one', isRepeated: false, transaction: { _tag: 'Transaction' } },
      { _tag: 'Committed', commandId: 'three' },
    ]);
    expect(committedIds(sandbox)).toEqual(['one', 'three']);
    expect(await rows()).toMatchObject([
      { command_id: 'one', state: 'committed', may_be_committed: false, offset: 1 },
      { command_id: 'three', state: 'committed' },
    ]);
  });

  it('commits the command together with the cursor of a handler, for each event once', async () => {
    const { sandbox, ledger, outbox, create, send, rows } = await world();
    sandbox.generate(30, { seed: 2, variants: ['Transaction'] });
    const events = sandbox.ledgerEnd;
    let failures = 3;
    const handler = async ({ offset }: { readonly offset: number }, tx: PoolClient): Promise<void> => {
      await outbox.enqueue(tx, create(`receipt-${offset}`), { key: 'receipts' });
      if (offset % 7 === 0 && (failures -= 1) >= 0) throw new Error('fails after it has enqueued');
    };
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    const how = { name: 'receipts', store, handlerRetry: { baseDelayMs: 1 } };
    await lastValueFrom(processFeed(updatesFeed(ledger, allUpdates(events)), handler, how));
    const enqueued = (await rows()).map(({ command_id }) => command_id);
    await send(enqueued.length);
    const { length } = await offsetsOf(ledger, events);
    expect([failures < 0, new Set(enqueued).size]).toEqual([true, length]);
    expect(committedIds(sandbox).filter((id) => id.startsWith('receipt'))).toEqual(enqueued);
  });

  it('keeps the order of a key, and sends keys side by side', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    const keys = ['a', 'b', 'c'];
    for (let n = 0; n < 5; n += 1)
      for (const key of keys) await inTransaction((tx) => outbox.enqueue(tx, create(`${key}${n}`), { key }));
    // the first command of the first key takes long
    sandbox.fault({ kind: 'delay', ms: 2_500 }, { path: transactionPath });
    const { submitted } = await send(15, { concurrency: 3 });
    for (const key of keys)
      expect(submitted.filter((each) => each.key === key).map(({ commandId }) => commandId)).toEqual(
        [0, 1, 2, 3, 4].map((n) => `${key}${n}`),
      );
    expect(submitted.slice(0, 10).map(({ key }) => key)).not.toContain('a');
  });

  it('gives the commands of a key numbers in the order of the commits', async () => {
    const { outbox, create, begin, inTransaction, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('zeroth')));
    const [first, second, other] = [await begin(), await begin(), await begin()];
    await outbox.enqueue(first.tx, create('first'), { key: 'k' });
    const waiting = outbox.enqueue(second.tx, create('second'), { key: 'k' });
    await until(async () => {
      const { rows: locks } = await database.pool.query(
        "SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted",
      );
      return locks.length === 1;
    });
    // another key, and none, do not wait
    await outbox.enqueue(other.tx, create('third'), { key: 'other' });
    await outbox.enqueue(other.tx, create('fourth'));
    await other.end('COMMIT');
    await first.end('COMMIT');
    await waiting;
    await second.end('COMMIT');
    expect((await rows()).map(({ command_id }) => command_id)).toEqual([
      'zeroth',
      'first',
      'third',
      'fourth',
      'second',
    ]);
  });

  it('adds a command id once', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    await inTransaction(async (tx) => {
      expect(await outbox.enqueue(tx, create('one'))).toEqual({ commandId: 'one' });
      const { commandId, id } = await outbox.enqueue(tx, create());
      expect([commandId, id]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/), expect.any(Number)]);
    });
    await send(2);
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    await inTransaction((tx) => outbox.enqueue(tx, create('last')));
    await send(1);
    expect(committedIds(sandbox)).toHaveLength(3);
  });

  it('refuses requests that the ledger would refuse, before anything is written', async () => {
    const { outbox, create, inTransaction, rows, alice } = await world();
    const period = { DeduplicationDuration: { value: { seconds: 60, nanos: 0 } } };
    const wrong: readonly CommandsRequest[] = [
      { ...create(), commands: [] },
      { ...create(), minLedgerTimeAbs: '2030-01-01T00:00:00Z', minLedgerTimeRel: { seconds: 1, nanos: 0 } },
      { ...create(), deduplicationPeriod: period },
      { ...create(), workflowId: 'a\0' },
      { ...create(), synchronizerId: '\ud83d' },
      { ...create(), disclosedContracts: [{ contractId: '00', createdEventBlob: '' }] },
      { actAs: [alice] } as unknown as CommandsRequest,
    ];
    await inTransaction((tx) => {
      for (const request of wrong)
        expect(() => void outbox.enqueue(tx, request)).toThrow(
          expect.objectContaining({ _tag: 'InvalidRequestError' }),
        );
      expect(() => void outbox.enqueue(tx, create(), { key: '' })).toThrow(TypeError);
      return outbox.enqueue(tx, create('one'));
    });
    expect(await rows()).toHaveLength(1);
  });

  it('sends a period that begins before all attempts', async () => {
    const { sandbox, outbox, create, inTransaction, send, bodies } = await world();
    sandbox.generate(5);
    await inTransaction((tx) => outbox.enqueue(tx, { ...create('one'), deduplicationPeriod: { Empty: {} } }));
    const offset = (value: number) => ({ DeduplicationOffset: { value } });
    await inTransaction((tx) => outbox.enqueue(tx, { ...create('two'), deduplicationPeriod: offset(2) }));
    await send(2);
    expect(bodies()).toMatchObject({
      one: [{ deduplicationPeriod: { DeduplicationDuration: expect.anything() }, actAs: [expect.any(String)] }],
      two: [{ deduplicationPeriod: offset(2) }],
    });
    // one request for each command
    expect(sandbox.requests.filter(({ path }) => path === '/v2/events/events-by-contract-id')).toEqual([]);
  });

  it('begins at a ledger end that is a second old at most, and reads it no more often', async () => {
    const { sandbox, outbox, create, inTransaction, send, bodies, rows } = await world();
    for (let n = 0; n < 8; n += 1) await inTransaction((tx) => outbox.enqueue(tx, create(`c${n}`), { key: 'k' }));
    const sending = send(9);
    await until(() => bodies()['c7'] !== undefined);
    await firstValueFrom(timer(1_200));
    const end = sandbox.ledgerEnd;
    await inTransaction((tx) => outbox.enqueue(tx, create('later'), { key: 'k' }));
    await sending;
    const starts = (await rows()).map((row) => Number(Reflect.get(row, 'since')));
    expect(starts.at(-1)).toBe(end);
    expect(new Set(starts.slice(0, -1)).size).toBeLessThan(8);
  });

  it('creates the tables in the transaction of the first command, also if that is rolled back', async () => {
    const { outbox, create, inTransaction, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')), 'ROLLBACK');
    await inTransaction((tx) => outbox.enqueue(tx, create('two')));
    expect(await rows()).toMatchObject([{ command_id: 'two' }]);
  });

  it('sends after a transaction that created the tables was rolled back, or a savepoint of it', async () => {
    const { sandbox, outbox, create, inTransaction, send } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')), 'ROLLBACK');
    await inTransaction(async (tx) => {
      await tx.query('SAVEPOINT s');
      await outbox.enqueue(tx, create('two'));
      await outbox.enqueue(tx, create('three'));
      await tx.query('ROLLBACK TO s');
    });
    const sending = send(1, { retry: { ...soon.retry, giveUpAfterMs: 500 } });
    await inTransaction((tx) => outbox.enqueue(tx, create('four')));
    await sending;
    expect(committedIds(sandbox)).toEqual(['four']);
  });

  it('uses tables of a migration, without the right to create some', async () => {
    await database.pool.query(`DROP SCHEMA IF EXISTS ledger CASCADE; DROP ROLE IF EXISTS service`);
    await database.pool.query('CREATE SCHEMA ledger; CREATE ROLE service LOGIN');
    await database.pool.query(`${outboxSql('ledger')}${outboxSql('ledger')}`);
    await database.pool.query(`GRANT USAGE ON SCHEMA ledger TO service;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA ledger TO service`);
    const pool = poolOf(database.server.url.replace('postgres@', 'service@'), 4);
    try {
      const { outbox, create, inTransaction, send, sandbox } = await world({ pool, schema: 'ledger' });
      await inTransaction((tx) => outbox.enqueue(tx, create('one')));
      await send(1);
      expect(committedIds(sandbox)).toEqual(['one']);
      const { rows } = await pool.query('SELECT * FROM ledger.canton_rx_outbox_status');
      expect(rows).toMatchObject([{ name: 'commands', committed: '1', pending: '0', oldest_pending: null }]);
    } finally {
      await pool.end();
      await database.pool.query('DROP SCHEMA ledger CASCADE; DROP OWNED BY service; DROP ROLE service');
    }
  });

  it('keeps outboxes of other names apart', async () => {
    const { sandbox, ledger, outbox, create, inTransaction, send } = await world();
    const other = commandOutbox({ pool: database.pool, name: 'other' });
    await inTransaction(async (tx) => {
      await other.enqueue(tx, create('one'), { key: 'k' });
      await outbox.enqueue(tx, create('two'), { key: 'k' });
    });
    await send(1);
    expect(committedIds(sandbox)).toEqual(['two']);
    expect(await firstValueFrom(other.submitAll(ledger))).toMatchObject({ commandId: 'one' });
  });

  it('deletes commands that ended long ago', async () => {
    const { outbox, create, inTransaction, send, rows } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    await send(1);
    await inTransaction((tx) => outbox.enqueue(tx, create('two')));
    await send(1, { keepMs: 60_000 });
    expect(await rows()).toHaveLength(2);
    await inTransaction((tx) => outbox.enqueue(tx, create('three')));
    await send(1, { keepMs: 1 });
    expect((await rows()).map(({ command_id }) => command_id)).toEqual(['three']);
  });

  it.each([Infinity, Number.MAX_SAFE_INTEGER])('waits and keeps for ever: %p ms', async (ever) => {
    const { sandbox, ledger, create, inTransaction, rows } = await world();
    const outbox = commandOutbox({ pool: database.pool, timeoutMs: ever });
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'reject', code: 'DAML_FAILURE' }, { path: transactionPath });
    const options = { retry: { baseDelayMs: ever, maxDelayMs: ever }, keepMs: ever, pollMs: ever, stopWithinMs: ever };
    expect(await firstValueFrom(outbox.submitAll(ledger, options))).toMatchObject({ _tag: 'Rejected' });
    expect(await firstValueFrom(outbox.retry((await rows())[0]?.id ?? 0))).toBe(true);
    sandbox.fault({ kind: 'reject', code: 'NO_SYNCHRONIZER_FOR_SUBMISSION' }, { path: transactionPath });
    expect(await firstValueFrom(outbox.submitAll(ledger, options))).toMatchObject({ _tag: 'Rejected' });
    // a century is not over
    expect(
      await firstValueFrom(outbox.submitAll(ledger, options).pipe(timeout({ first: 300, with: () => of(0) }))),
    ).toBe(0);
    expect(await rows()).toMatchObject([{ state: 'pending', failures: 1 }]);
  });

  it('completes when it is stopped and what is being sent has ended, and begins nothing after that', async () => {
    const { sandbox, ledger, outbox, create, inTransaction, rows } = await world();
    for (const id of ['one', 'two', 'three']) await inTransaction((tx) => outbox.enqueue(tx, create(id)));
    sandbox.fault({ kind: 'delay', ms: 200 }, { path: transactionPath });
    const stopping = new AbortController();
    const all = lastValueFrom(
      outbox.submitAll(ledger, { signal: stopping.signal, pollMs: 10, concurrency: 1 }).pipe(toArray()),
    );
    await until(() => sandbox.requests.some(({ path }) => path === transactionPath));
    stopping.abort();
    expect(await all).toMatchObject([{ _tag: 'Committed', commandId: 'one' }]);
    expect((await rows()).map(({ may_be_committed }) => may_be_committed)).toEqual([false, false, false]);
    // also while it waits for the database
    const idle = lastValueFrom(outbox.submitAll(ledger, { signal: stopping.signal }).pipe(toArray()));
    expect(await idle).toEqual([]);
  });

  it('waits until the place of a stop is over at most', async () => {
    const { sandbox, ledger, outbox, create, inTransaction, send } = await world();
    await inTransaction((tx) => outbox.enqueue(tx, create('one')));
    sandbox.fault({ kind: 'hang' }, { path: transactionPath });
    const stopping = new AbortController();
    const how = { signal: stopping.signal, pollMs: 10, stopWithinMs: 50 };
    const all = lastValueFrom(outbox.submitAll(ledger, how).pipe(toArray()));
    await until(() => sandbox.requests.some(({ path }) => path === transactionPath));
    stopping.abort();
    expect(await all).toEqual([]);
    expect((await send(1)).submitted).toMatchObject([{ _tag: 'Committed', commandId: 'one' }]);
  });

  it('refuses options that cannot work', async () => {
    const { ledger, outbox } = await world();
    const { pool } = database;
    const single = poolOf(database.server.url, 1);
    expect(() => commandOutbox({ pool: single })).toThrow(TypeError);
    await single.end();
    expect(() => commandOutbox({ pool, schema: 'Ledger' })).toThrow(TypeError);
    expect(() => commandOutbox({ pool, name: '' })).toThrow(TypeError);
    expect(() => commandOutbox({ pool, timeoutMs: 0 })).toThrow(TypeError);
    expect(() => outboxSql('a b')).toThrow(TypeError);
    for (const options of [{ concurrency: 0.5 }, { pollMs: 0 }, { keepMs: -1 }, { stopWithinMs: NaN }])
      expect(() => outbox.submitAll(ledger, options)).toThrow(TypeError);
    expect(() => outbox.submitAll({ ...ledger, updates: () => NEVER })).toThrow(TypeError);
  });

  it('finds a consumed contract again, whose command was committed before', async () => {
    const { sandbox, ledger, outbox, alice, inTransaction, rows } = await world();
    const contractId = await assetOf(sandbox, alice);
    const request = { commands: [exerciseAsset(contractId)], actAs: [alice], commandId: 'one', userId: 'app' } as const;
    await inTransaction((tx) => outbox.enqueue(tx, request));
    // the process ends between the commit and its record
    await database.pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN IF NEW.state = 'committed' THEN RAISE 'crash'; END IF; RETURN NEW; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON canton_rx_outbox FOR EACH ROW EXECUTE FUNCTION refuse()`);
    const crash = await firstValueFrom(outbox.submitAll(ledger, { pollMs: 10, retry: { giveUpAfterMs: 0 } })).catch(
      (error: unknown) => error,
    );
    expect(isLedgerError(crash, 'StoreError')).toBe(true);
    await database.pool.query('DROP TRIGGER refuse ON canton_rx_outbox; DROP FUNCTION refuse');
    expect(await rows()).toMatchObject([{ state: 'pending', may_be_committed: true }]);
    const other = createLedger({ baseUrl: sandbox.url });
    expect(await firstValueFrom(outbox.submitAll(other).pipe(take(1)))).toMatchObject({
      _tag: 'Committed',
      isRepeated: true,
      transaction: { commandId: 'one' },
    });
    expect(sandbox.updates).toHaveLength(2);
  });
});
