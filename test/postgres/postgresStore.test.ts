import { inspect } from 'node:util';
import { expect, it } from '@jest/globals';
import { Pool, type PoolClient } from 'pg';
import { concatMap, filter, firstValueFrom, from, lastValueFrom, Subject, take, tap, timeout, toArray } from 'rxjs';
import { isLedgerError } from '../../src/index.js';
import { handleParked, type Handler } from '../../src/process/index.js';
import {
  commandOutbox,
  liveQuery,
  migrateProjection,
  postgresStore,
  postgresStoreSql,
} from '../../src/postgres/index.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { insert, offsetsOf, poolOf, sandboxWorlds, withDatabase } from './support.js';

describeWithPostgres('postgresStore', () => {
  const database = withDatabase();
  const { seen } = database;
  const world = sandboxWorlds(database);

  it('commits the effects of handlers together with the cursor, and resumes from it', async () => {
    const { service, all, process$, work } = await world(450);
    const half = all[200] ?? 0;
    await work(insert(), {}, half);
    expect(await seen()).toEqual(all.slice(0, 201));
    const committed = await lastValueFrom(process$(insert(), { commitEvery: { updates: 30 } }).pipe(toArray()));
    expect(await seen()).toEqual(all);
    expect(committed.at(-1)?.offset).toBe(service.ledgerEnd);
    expect(Math.max(...committed.map(({ handled }) => handled))).toBe(30);
  });

  it('works in a schema whose name is a keyword of SQL', async () => {
    const { service, all, work } = await world(20);
    await database.pool.query('CREATE SCHEMA "user"');
    const store = postgresStore({ pool: database.pool, schema: 'user', pollMs: 20 });
    const half = all[10] ?? 0;
    for (const end of [half, service.ledgerEnd]) await work(insert(), { store }, end);
    expect(await seen()).toEqual(all);
    await database.pool.query(postgresStoreSql('user'));
    await database.pool.query('DROP SCHEMA "user" CASCADE');
  });

  it('waits as long as its times say, also if they are longer than a timer supports', async () => {
    const { all, work } = await world(20);
    const { pool } = database;
    const store = postgresStore({ pool, timeoutMs: Infinity, pollMs: Infinity });
    await work(insert(), { store });
    expect(await seen()).toEqual(all);

    const held = observe(store.hold('polled'));
    await until(() => held.values.length > 0);
    let standbys = 0;
    const waiting = store.hold('polled', () => (standbys += 1)).subscribe();
    await until(() => standbys > 0);
    // a timer that fires at once would read the lease again and again
    await pool.query('SELECT pg_sleep(0.1)');
    expect(standbys).toBe(1);
    for (const subscription of [waiting, held.subscription]) subscription.unsubscribe();

    const never = { timeoutMs: Infinity, pollMs: 2 ** 31, minIntervalMs: 2 ** 31 };
    expect(
      await lastValueFrom(
        commandOutbox({ pool, ...never })
          .parked()
          .pipe(toArray()),
      ),
    ).toEqual([]);
    expect(await lastValueFrom(migrateProjection({ pool, ...never }))).toEqual({ version: 1 });
    const rows = observe(liveQuery(pool, 'SELECT 7 AS n', [], never));
    await until(() => rows.values.length > 0);
    await pool.query('UPDATE contracts.projection_state SET cursor_at = cursor_at');
    await pool.query('SELECT pg_sleep(0.1)');
    expect(rows.values).toEqual([[{ n: 7 }]]);
    rows.subscription.unsubscribe();
  });

  it('rolls back the effects of a handler that fails, and keeps those of earlier updates', async () => {
    const { all, work } = await world(60);
    const poison = all[33] ?? 0;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset === poison) throw new Error('no such account');
    };
    const failing = work(handler, { handlerRetry: { giveUpAfterMs: 0 } });
    const error = await failing.catch((cause: unknown) => cause);
    expect(isLedgerError(error, 'HandlerError') && error.offset).toBe(poison);
    expect(await seen()).toEqual(all.slice(0, 33));
  });

  it('does not replace another update that is parked at the same offset of another participant', async () => {
    const store = postgresStore({ pool: database.pool });
    const park = (updateId: string, attempts: number) =>
      lastValueFrom(store.transactions.transact((tx) => from(store.park('parking', 7, { updateId, attempts }, tx))));
    await park('1220ab', 1);
    await expect(park('1220cd', 1)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    await park('1220ab', 2);
    const parked = lastValueFrom(from(store.parked('parking')).pipe(toArray()));
    expect(await parked).toEqual([{ updateId: '1220ab', attempts: 2 }]);
  });

  it.each(['a NUL: \0', 'half of a surrogate pair: \ud83d', 'the other half: \ude00'])(
    'parks an update again whose texts SQL does not have, with %j',
    async (text) => {
      const store = postgresStore({ pool: database.pool });
      const park = (updateId: string, attempts: number) => {
        const record = { updateId, attempts, update: { [text]: text } };
        return lastValueFrom(store.transactions.transact((tx) => from(store.park('parking', 7, record, tx))));
      };
      await park('1220ab', 1);
      await park('1220ab', 2);
      await expect(park('1220cd', 1)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
      const parked = lastValueFrom(from(store.parked('parking')).pipe(toArray()));
      expect(await parked).toEqual([{ updateId: '1220ab', attempts: 2, update: { [text]: text } }]);
    },
  );

  it('parks an update that cannot be handled, in the same transaction as the cursor', async () => {
    const { all, work } = await world(60);
    const poison = all[33] ?? 0;
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset === poison) throw new Error('no such account');
    };
    const how = { store, handlerRetry: { giveUpAfterMs: 0 }, onHandlerFailure: 'park' } as const;
    await work(handler, how);
    expect(await seen()).toEqual(all.filter((offset) => offset !== poison));
    const again = handleParked(store, 'seen', insert('again')).pipe(toArray());
    const [unparked, rest] = [await lastValueFrom(again), await lastValueFrom(again)];
    expect(unparked).toMatchObject([
      { isHandled: true, parked: { offset: poison, reason: 'no such account', attempts: 1 } },
    ]);
    expect(rest).toEqual([]);
    expect(await seen()).toEqual([...all.filter((offset) => offset !== poison), poison]);
  });

  it.each([
    ['ignores an error of the database', 'SELECT 1/0', 'a statement of the handler failed, and the handler ignored it'],
    ['ends its transaction itself', 'COMMIT', 'the handler has ended its transaction'],
  ])('fails with the offset of a handler that %s', async (_, sql, reason) => {
    const { all, work } = await world(10);
    const handler: Handler<PoolClient> = async ({ offset }, tx) => {
      if (offset === all[4]) await tx.query(sql).catch(() => undefined);
    };
    const failing = work(handler, { handlerRetry: { giveUpAfterMs: 0 } });
    const error = await failing.catch((cause: unknown) => cause);
    expect(isLedgerError(error, 'HandlerError') && error.offset).toBe(all[4]);
    expect(isLedgerError(error, 'HandlerError') && error.cause).toMatchObject({ message: reason });
  });

  it('lets one of two processors work, and the other continue after it (G36)', async () => {
    const { ledger, all, process$ } = await world(300);
    const half = all[150] ?? 0;
    const first$ = process$(insert('one'), { commitEvery: { updates: 10 } }, Infinity);
    const second$ = process$(insert('two'));
    const isHalf = firstValueFrom(first$.pipe(filter(({ offset }) => offset >= half)));
    // the second begins after the first holds the name
    await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'PageReceived')));
    await Promise.all([isHalf, lastValueFrom(second$)]);
    expect(await seen()).toEqual(all);
    const { rows } = await database.pool.query('SELECT DISTINCT who FROM seen ORDER BY who');
    expect(rows).toEqual([{ who: 'one' }, { who: 'two' }]);
  });

  it.each([
    ['the connection breaks while a handler runs', 'running'],
    ['the connection breaks while the processor is idle', 'idle'],
  ])('resumes from the last commit when %s', async (_, when) => {
    const { service, ledger, diagnostics, process$ } = await world(100);
    const terminate = 'SELECT pg_terminate_backend(pid) FROM canton_rx_leases';
    let left = 2;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (when === 'running' && update.offset > 50 && (left -= 1) >= 0) await database.pool.query(terminate);
    };
    const idle = firstValueFrom(
      process$(handler, {}, Infinity).pipe(
        tap({
          next: ({ isCaughtUp }) =>
            isCaughtUp && when === 'idle' && (left -= 1) >= 0 && void database.pool.query(terminate),
        }),
        filter(({ isCaughtUp, offset }) => isCaughtUp && offset === service.ledgerEnd && left <= 0),
      ),
    );
    if (when === 'idle') {
      await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RetryScheduled')));
      service.generate(50, { seed: 6 });
    }
    await idle;
    expect(await seen()).toEqual(await offsetsOf(ledger, service.ledgerEnd));
    expect(diagnostics.some((one) => one._tag === 'RetryScheduled' && isLedgerError(one.cause, 'StoreError'))).toBe(
      true,
    );
  });

  it('saves no cursor after another processor has taken the name (G39)', async () => {
    const { all, diagnostics, work } = await world(200);
    let isNameTaken = false;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset > 60 && !isNameTaken) {
        isNameTaken = true;
        await database.pool.query('UPDATE canton_rx_cursors SET fence = fence + 1');
      }
    };
    await work(handler, { commitEvery: { updates: 20 } });
    expect(await seen()).toEqual(all);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ cause: expect.objectContaining({ reason: 'another processor holds the name now' }) }),
    );
  });

  it.each(['DROP TABLE canton_rx_cursors', 'TRUNCATE canton_rx_cursors', 'DELETE FROM canton_rx_cursors'])(
    'handles nothing again after %s, and says that the row of its cursor was removed',
    async (removal) => {
      const { all, work } = await world(200);
      // so that an offset may be there twice
      await database.pool.query('ALTER TABLE seen DROP CONSTRAINT seen_pkey');
      let isRemoved = false;
      const handler: Handler<PoolClient> = async (update, tx) => {
        await insert()(update, tx);
        if (update.offset <= 60 || isRemoved) return;
        isRemoved = true;
        await database.pool.query(removal);
      };
      await expect(work(handler, { commitEvery: { updates: 20 } })).rejects.toMatchObject({
        _tag: 'CursorError',
        reason: 'conflict',
        explanation: 'its row was removed from public.canton_rx_cursors while it ran',
      });
      const handled = await seen();
      expect(handled).toEqual(all.slice(0, handled.length));
    },
  );

  it('handles nothing again in a standby either that takes over after the row was removed', async () => {
    const { all, diagnostics, work } = await world(200);
    await database.pool.query('ALTER TABLE seen DROP CONSTRAINT seen_pkey');
    const hasStandby = (): boolean =>
      diagnostics.some((each) => each._tag === 'RoleChanged' && each.role === 'standby');
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    let standby: Promise<unknown> | undefined;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset <= 60 || standby !== undefined) return;
      standby = work(insert('standby'), { store }).catch((error: unknown) => error);
      await until(hasStandby);
      await database.pool.query('TRUNCATE canton_rx_cursors');
    };
    const removed = { _tag: 'CursorError', reason: 'conflict' };
    await expect(work(handler, { commitEvery: { updates: 20 } })).rejects.toMatchObject(removed);
    expect(await standby).toMatchObject(removed);
    const handled = await seen();
    expect(handled).toEqual(all.slice(0, handled.length));
  });

  it('begins no cursor again in a standby that has waited since before there was one', async () => {
    const { pool } = database;
    const [former, next] = [postgresStore({ pool }), postgresStore({ pool, pollMs: 20 })];
    const leader = observe(former.hold('new'));
    await until(() => leader.values.length > 0);
    let waits = false;
    const standby = observe(next.hold('new', () => (waits = true)));
    await until(() => waits);
    const load = (): Promise<unknown> => lastValueFrom(from(next.load('new')));
    expect(await load()).toBeUndefined();
    await pool.query(`UPDATE canton_rx_cursors SET cursor = '{}'`);
    await pool.query('TRUNCATE canton_rx_cursors');
    leader.subscription.unsubscribe();
    await until(() => standby.values.length > 0);
    await expect(load()).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    standby.subscription.unsubscribe();
  });

  it('begins again, without an error, if the row of its cursor was removed after it had ended', async () => {
    const { all, work } = await world(50);
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    for (const removal of ['TRUNCATE canton_rx_cursors', 'DELETE FROM canton_rx_cursors']) {
      await work(insert(), { store });
      await database.pool.query(`${removal}; TRUNCATE seen`);
    }
    await work(insert(), { store });
    expect(await seen()).toEqual(all);
  });

  it('handles nothing again if its program starts it again after the row was removed while it ran', async () => {
    const { service, all, process$, work } = await world(50);
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    const processor = observe(process$(insert(), { store }, Infinity));
    await until(() => processor.values.at(-1)?.offset === service.ledgerEnd);
    await database.pool.query('TRUNCATE canton_rx_cursors');
    processor.subscription.unsubscribe();
    await expect(work(insert(), { store })).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    expect(await seen()).toEqual(all);
  });

  it('begins where its request says after a reset of its cursor, which keeps the row', async () => {
    const { all, work } = await world(100);
    const handled: number[] = [];
    let isReset = false;
    const handler: Handler<PoolClient> = async ({ offset }) => {
      handled.push(offset);
      if (offset <= 40 || isReset) return;
      isReset = true;
      await database.pool.query('UPDATE canton_rx_cursors SET cursor = NULL, fence = fence + 1');
    };
    await work(handler, { commitEvery: { updates: 10 } });
    expect(handled.slice(-all.length)).toEqual(all);
    expect(handled.length).toBeGreaterThan(all.length);
  });

  it.each([
    ['refuses the cursor of a processor', {}, { _tag: 'StoreError', operation: 'hold' }],
    ['saves what a rule remembers', { actions: [] }, undefined],
  ])('%s over an earlier one, after the database has lost its last commits', async (_, more, error) => {
    const store = postgresStore({ pool: database.pool });
    const held = observe(store.hold('lost'));
    await until(() => held.values.length === 1);
    await lastValueFrom(from(store.load('lost')));
    const save = (offset: number): Promise<unknown> => {
      const cursor = { version: 1, offset, recordTimes: {}, selection: 's', ...more } as const;
      const saved$ = from(held.values).pipe(
        concatMap((each) => each.transact((tx) => from(store.save('lost', cursor, tx)))),
      );
      return lastValueFrom(saved$).catch((cause: unknown) => cause);
    };
    await save(1);
    const before = await database.read("SELECT cursor::text AS cursor FROM canton_rx_cursors WHERE name = 'lost'");
    expect(await save(2)).not.toBeInstanceOf(Error);
    await database.read("UPDATE canton_rx_cursors SET cursor = $1 WHERE name = 'lost'", [before[0]?.['cursor']]);
    const last = await save(3);
    if (error === undefined) expect(last).not.toBeInstanceOf(Error);
    else expect(last).toMatchObject(error);
    held.subscription.unsubscribe();
  });

  it('loses a name that someone else has released, also if nothing is committed', async () => {
    const store = postgresStore({ pool: database.pool });
    const held = observe(store.hold('idle'));
    try {
      await until(() => held.values.length === 1);
      // as canton-rx processors rewind does, between a pause and a resume that the holder has not noticed
      await database.pool.query(`UPDATE canton_rx_leases SET holder = NULL WHERE name = 'idle'`);
      await until(() => held.error !== undefined, 10_000);
      expect(held.error).toMatchObject({
        _tag: 'StoreError',
        operation: 'hold',
        reason: 'another processor holds the name now',
      });
    } finally {
      held.subscription.unsubscribe();
    }
  });

  it('completes when it is stopped after another processor has taken the name, and reports that', async () => {
    const { all, diagnostics, work } = await world(200);
    const controller = new AbortController();
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset <= 60 || controller.signal.aborted) return;
      await database.pool.query('UPDATE canton_rx_cursors SET fence = fence + 1');
      controller.abort();
    };
    const { signal } = controller;
    const committed = await work(handler, { commitEvery: { updates: 20 }, signal });
    expect(await seen()).toEqual(all.filter((offset) => offset <= committed.offset));
    expect(committed.offset).toBeLessThanOrEqual(60);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({ _tag: 'NameLost', cause: expect.objectContaining({ operation: 'hold' }) }),
    );
  });

  it('continues after the database was restarted', async () => {
    const { all, process$ } = await world(300);
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    const restarts: Promise<unknown>[] = [];
    await lastValueFrom(
      process$(insert(), { store, commitEvery: { updates: 5 } }).pipe(
        tap(({ offset }) => {
          if (offset > 100 && restarts.length === 0)
            restarts.push(database.server.crash().then(() => database.server.start()));
        }),
      ),
    );
    await Promise.all(restarts);
    expect(restarts).toHaveLength(1);
    expect(await seen()).toEqual(all);
  });

  it.each([
    ['is locked by another connection', 'LOCK TABLE canton_rx_cursors IN ACCESS EXCLUSIVE MODE'],
    ['has its row locked by another connection', 'SELECT * FROM canton_rx_cursors FOR UPDATE'],
  ])('continues after its table %s for longer than the timeout', async (_, lock) => {
    const { ledger, all, work } = await world(200);
    const other = await database.pool.connect();
    let locks = 0;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset <= 60 || (locks += 1) > 1) return;
      await other.query('BEGIN');
      await other.query(lock);
      isLocked$.next(true);
    };
    const isLocked$ = new Subject<true>();
    // only after the lock: on a slow machine it may time out before, too
    const hasTimedOut = firstValueFrom(
      isLocked$.pipe(concatMap(() => ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RetryScheduled')))),
    );
    const store = postgresStore({ pool: database.pool, pollMs: 20, timeoutMs: 300 });
    const done = work(handler, { store, commitEvery: { updates: 10 } });
    await hasTimedOut;
    await other.query('COMMIT');
    other.release();
    await done;
    expect(await seen()).toEqual(all);
  });

  it('continues after the database did not answer at all', async () => {
    const { ledger, all, process$ } = await world(200);
    // the timeout of the store does not apply to the queries of handlers
    const patient = poolOf(database.server.url, 12, { query_timeout: 450 });
    const store = postgresStore({ pool: patient, pollMs: 20, timeoutMs: 300 });
    const pauses: Promise<unknown>[] = [];
    const handler: Handler<PoolClient> = async (update, tx) => {
      if (update.offset > 60 && pauses.length === 0) {
        const isNoticed$ = ledger.diagnostics$.pipe(
          filter(({ _tag }) => _tag === 'RetryScheduled'),
          take(3),
          toArray(),
          timeout(30_000),
        );
        pauses.push(lastValueFrom(isNoticed$).finally(() => database.server.resume()));
        // before anything else is done: the processor could be at the end when the server is paused
        await database.server.pause();
      }
      await insert()(update, tx);
    };
    await lastValueFrom(process$(handler, { store, commitEvery: { updates: 10 } }));
    await Promise.all(pauses);
    await patient.end();
    expect(await seen()).toEqual(all);
  });

  it('ends with a password that is refused at the start, and retries one that is refused later, as at a rotation', async () => {
    const { ledger, all, diagnostics, process$ } = await world(60);
    const { hostname: host, port } = new URL(database.server.url);
    let password = '';
    const current = (): string => password;
    const pool = new Pool({ host, port: Number(port), database: 'postgres', user: 'guarded', password: current });
    pool.on('error', () => undefined);
    await database.pool.query(`CREATE ROLE guarded LOGIN SUPERUSER PASSWORD 'first'`);
    const run = () =>
      process$(rotateAtHalf, { store: postgresStore({ pool, pollMs: 20 }), commitEvery: { updates: 5 } });
    let rotations = 0;
    const rotateAtHalf: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset !== all[30] || (rotations += 1) > 1) return;
      await database.pool.query(`ALTER ROLE guarded PASSWORD 'second'`);
      await database.pool.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guarded'`);
    };
    await expect(lastValueFrom(run())).rejects.toThrow(/requires a password[^]*Next: check user/);
    password = 'wrong';
    await expect(lastValueFrom(run())).rejects.toThrow(/the password is refused \(28P01\)[^]*Next: check user/);
    password = 'first';
    const isRefused$ = ledger.diagnostics$.pipe(
      filter((one) => one._tag === 'RetryScheduled' && one.cause.message.includes('28P01')),
    );
    const done = lastValueFrom(run());
    await Promise.race([firstValueFrom(isRefused$), done]);
    password = 'second';
    await done;
    await pool.end();
    expect(await seen()).toEqual(all);
    expect(diagnostics.filter(({ _tag }) => _tag === 'FeedEnded')).toHaveLength(3);
  });

  it.each([
    [
      'its schema is missing',
      '',
      { schema: 'ledgers' },
      /3F000\): schema "ledgers" does not exist/,
      'CREATE SCHEMA "ledgers"',
    ],
    [
      'a table has other columns',
      'CREATE TABLE canton_rx_parked (a int)',
      {},
      /42703\): column "name" does not/,
      'another schema',
    ],
  ])('ends at the start with the reason of the database when %s', async (_, sql, options, reason, next) => {
    const { work } = await world(5);
    await database.pool.query(sql);
    const store = postgresStore({ pool: database.pool, pollMs: 20, ...options });
    const error: unknown = await work(insert(), { store }, Infinity).catch((cause: unknown) => cause);
    expect(isLedgerError(error, 'StoreError') && error).toMatchObject({
      endsProcessor: true,
      reason: expect.stringMatching(reason),
      message: expect.stringContaining(next),
    });
    await database.pool.query('DROP TABLE IF EXISTS canton_rx_parked');
  });

  it('has the database look after its connection, so that the name of a machine that is gone is soon free', async () => {
    const { work } = await world(1);
    const settings: unknown[] = [];
    await work(async (_, tx) => {
      const names = ['tcp_keepalives_idle', 'tcp_keepalives_interval', 'tcp_keepalives_count', 'tcp_user_timeout'];
      const sql = 'SELECT setting FROM pg_settings WHERE name = ANY ($1) ORDER BY array_position($1, name)';
      const { rows } = await tx.query<{ setting: string }>(sql, [[...names, 'client_connection_check_interval']]);
      settings.push(...rows.map(({ setting }) => Number(setting)));
    });
    expect(settings).toEqual([10, 5, 3, 20_000, 5_000]);
  });

  it('shows why the database ended a connection in a transaction, and retries', async () => {
    const { all, diagnostics, work } = await world(10);
    let isEnded = false;
    await work(async (update, tx) => {
      await insert()(update, tx);
      if (isEnded) return;
      isEnded = true;
      await tx.query("SET LOCAL idle_in_transaction_session_timeout = '50ms'");
      await new Promise((resolve) => tx.once('end', resolve));
    });
    expect(await seen()).toEqual(all);
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        cause: expect.objectContaining({ reason: expect.stringContaining('idle-in-transaction timeout (25P03)') }),
      }),
    );
  });

  it('quotes no row of the database in an error or its cause, and names the reason by its code', async () => {
    const { work } = await world(10);
    const store = postgresStore({ pool: database.pool, pollMs: 20 });
    await work(insert(), { store }, 0);
    // the detail of the error is "Failing row contains (…)"
    await database.pool.query('ALTER TABLE canton_rx_cursors ADD CHECK (length(cursor::text) < 5) NOT VALID');
    const options = { store, storeRetry: { giveUpAfterMs: 0 } };
    const error: unknown = await work(insert(), options).catch((cause: unknown) => cause);
    expect(isLedgerError(error, 'StoreError') && error).toMatchObject({
      reason: 'the database refuses a value',
      cause: { code: '23514', severity: 'ERROR' },
    });
    expect(inspect(error, { depth: Infinity, showHidden: true })).not.toMatch(/Failing row|selection/);
  });

  it('refuses the name under which an outbox sends: one of them would wait for the other, without end', async () => {
    const { ledger, work } = await world(10);
    const outbox = commandOutbox({ pool: database.pool });
    const sending = outbox.submitAll(ledger, { pollMs: 10 });
    const running = observe(sending);
    await firstValueFrom(sending.status$.pipe(filter(({ role }) => role === 'leader')));
    const error: unknown = await work(insert(), { name: 'outbox commands' }).catch((cause: unknown) => cause);
    running.subscription.unsubscribe();
    expect(isLedgerError(error, 'StoreError') && error).toMatchObject({
      processor: 'outbox commands',
      operation: 'hold',
    });
    expect(String(error)).toContain('Next: give the processor a name that does not begin with "outbox "');
  });

  it('creates its tables once when several processors start at the same time', async () => {
    const { all, process$ } = await world(30);
    const each = Array.from({ length: 5 }, (_, index) =>
      lastValueFrom(process$(() => undefined, { name: `p${index}` }).pipe(take(100))),
    );
    expect((await Promise.all(each)).map(({ offset }) => offset)).toEqual(each.map(() => all.at(-1)));
  });
});
