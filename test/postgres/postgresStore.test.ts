import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { concatMap, filter, firstValueFrom, lastValueFrom, Subject, take, tap, toArray } from 'rxjs';
import {
  acsDelta,
  createLedger,
  handleParked,
  type Handler,
  isHandlerError,
  isStoreError,
  type Diagnostic,
  type ProcessOptions,
} from '../../src/index.js';
import type { PoolClient } from 'pg';
import { postgresStore } from '../../src/postgres/index.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../helpers/postgresServer.js';
import { sandboxes } from '../helpers/sandboxes.js';

const sandbox = sandboxes();

describeWithPostgres('postgresStore', () => {
  let server: PostgresServer;
  let pool: Pool;

  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => {
    await server.stop();
  });
  beforeEach(async () => {
    pool = new Pool({ connectionString: server.url, max: 12 });
    pool.on('error', () => undefined);
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen');
    await pool.query('CREATE TABLE seen (n serial, "offset" bigint PRIMARY KEY, who text)');
  });
  afterEach(async () => {
    await pool.end();
  });

  const insert =
    (who = 'one'): Handler<PoolClient> =>
    ({ offset }, tx) =>
      tx.query('INSERT INTO seen ("offset", who) VALUES ($1, $2)', [offset, who]);
  const seen = async (): Promise<readonly number[]> => {
    const { rows } = await pool.query<{ offset: string }>('SELECT "offset"::text AS "offset" FROM seen ORDER BY n');
    return rows.map(({ offset }) => Number(offset));
  };
  const request = (endInclusive?: number) => ({
    beginExclusive: 0,
    updateFormat: acsDelta({ parties: 'any' }),
    ...(endInclusive !== undefined && { endInclusive }),
  });
  const options = (more: Omit<ProcessOptions<PoolClient>, 'batch'> = {}) => ({
    name: 'seen',
    store: postgresStore({ pool, pollMs: 20 }),
    ...more,
  });
  const world = async (updates: number) => {
    const service = await sandbox();
    service.generate(updates, { seed: 5 });
    const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const all = (await lastValueFrom(ledger.updates(request(service.ledgerEnd)).pipe(toArray()))).map(
      ({ offset }) => offset,
    );
    return { service, ledger, all };
  };

  it('commits what handlers do together with the place, and goes on from there', async () => {
    const { service, ledger, all } = await world(450);
    const half = all[200] ?? 0;
    await lastValueFrom(ledger.process(request(half), insert(), options()));
    expect(await seen()).toEqual(all.slice(0, 201));
    const committed = await lastValueFrom(
      ledger.process(request(service.ledgerEnd), insert(), options({ commitEvery: { updates: 30 } })).pipe(toArray()),
    );
    expect(await seen()).toEqual(all);
    expect(committed.at(-1)?.offset).toBe(service.ledgerEnd);
    expect(Math.max(...committed.map(({ handled }) => handled))).toBe(30);
  });

  it('takes back what a handler did before it failed, and keeps what came before', async () => {
    const { service, ledger, all } = await world(60);
    const poison = all[33] ?? 0;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset === poison) throw new Error('no such account');
    };
    const failing = lastValueFrom(
      ledger.process(request(service.ledgerEnd), handler, options({ handlerRetry: { giveUpAfterMs: 0 } })),
    );
    const error = await failing.catch((cause: unknown) => cause);
    expect(isHandlerError(error) && error.offset).toBe(poison);
    expect(await seen()).toEqual(all.slice(0, 33));
  });

  it('parks what cannot be handled in the same transaction', async () => {
    const { service, ledger, all } = await world(60);
    const poison = all[33] ?? 0;
    const store = postgresStore({ pool, pollMs: 20 });
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset === poison) throw new Error('no such account');
    };
    const how = options({ store, handlerRetry: { giveUpAfterMs: 0 }, onPoison: 'park' });
    await lastValueFrom(ledger.process(request(service.ledgerEnd), handler, how));
    expect(await seen()).toEqual(all.filter((offset) => offset !== poison));
    const again = handleParked(store, 'seen', insert('again')).pipe(toArray());
    const [unparked, gone] = [await lastValueFrom(again), await lastValueFrom(again)];
    expect(unparked).toMatchObject([
      { isHandled: true, parked: { offset: poison, reason: 'no such account', attempts: 1 } },
    ]);
    expect(gone).toEqual([]);
    expect(await seen()).toEqual([...all.filter((offset) => offset !== poison), poison]);
  });

  it('does a transaction once more where the database asks for it', async () => {
    const { service, ledger, all } = await world(40);
    let left = 3;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset === all[20] && (left -= 1) >= 0)
        await tx.query(`DO $$ BEGIN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END $$`);
    };
    await lastValueFrom(ledger.process(request(service.ledgerEnd), handler, options()));
    expect(left).toBe(-1);
    expect(await seen()).toEqual(all);
  });

  it.each([
    ['swallows an error of the database', 'SELECT 1/0', 'the handler left its transaction failed'],
    ['ends its transaction itself', 'COMMIT', 'the handler has ended its transaction'],
  ])('names a handler that %s', async (_, sql, reason) => {
    const { service, ledger, all } = await world(10);
    const handler: Handler<PoolClient> = async ({ offset }, tx) => {
      if (offset === all[4]) await tx.query(sql).catch(() => undefined);
    };
    const failing = lastValueFrom(
      ledger.process(request(service.ledgerEnd), handler, options({ handlerRetry: { giveUpAfterMs: 0 } })),
    );
    const error = await failing.catch((cause: unknown) => cause);
    expect(isHandlerError(error) && error.offset).toBe(all[4]);
    expect(isHandlerError(error) && error.cause).toMatchObject({ message: reason });
  });

  it('has one of two work, and the other go on when that ends', async () => {
    const { service, ledger, all } = await world(300);
    const half = all[150] ?? 0;
    const first$ = ledger.process(request(), insert('one'), options({ commitEvery: { updates: 10 } }));
    const second$ = ledger.process(request(service.ledgerEnd), insert('two'), options());
    const isHalf = firstValueFrom(first$.pipe(filter(({ offset }) => offset >= half)));
    // it begins when the first has its name
    await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'PageReceived')));
    await Promise.all([isHalf, lastValueFrom(second$)]);
    expect(await seen()).toEqual(all);
    const { rows } = await pool.query('SELECT DISTINCT who FROM seen ORDER BY who');
    expect(rows).toEqual([{ who: 'one' }, { who: 'two' }]);
  });

  it.each([
    ['the connection is ended under a handler', 'running'],
    ['the connection is ended while nothing is done', 'idle'],
  ])('goes on where it was when %s', async (_, when) => {
    const { service, ledger } = await world(100);
    const told: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => told.push(event));
    const terminate = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')`;
    let left = 2;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (when === 'running' && update.offset > 50 && (left -= 1) >= 0) await pool.query(terminate);
    };
    const idle = firstValueFrom(
      ledger.process(request(), handler, options()).pipe(
        tap({
          next: ({ isCaughtUp }) => isCaughtUp && when === 'idle' && (left -= 1) >= 0 && void pool.query(terminate),
        }),
        filter(({ isCaughtUp, offset }) => isCaughtUp && offset === service.ledgerEnd && left <= 0),
      ),
    );
    if (when === 'idle') {
      await firstValueFrom(ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RetryScheduled')));
      service.generate(50, { seed: 6 });
    }
    await idle;
    const all = await lastValueFrom(ledger.updates(request(service.ledgerEnd)).pipe(toArray()));
    expect(await seen()).toEqual(all.map(({ offset }) => offset));
    expect(told.some((event) => event._tag === 'RetryScheduled' && isStoreError(event.cause))).toBe(true);
  });

  it('is not outrun by one that has taken its name', async () => {
    const { service, ledger, all } = await world(200);
    let isStolen = false;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset > 60 && !isStolen) {
        isStolen = true;
        await pool.query('UPDATE canton_rx_cursors SET fence = fence + 1');
      }
    };
    const told: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => told.push(event));
    await lastValueFrom(ledger.process(request(service.ledgerEnd), handler, options({ commitEvery: { updates: 20 } })));
    expect(await seen()).toEqual(all);
    expect(told).toContainEqual(
      expect.objectContaining({ cause: expect.objectContaining({ reason: 'another process holds the name by now' }) }),
    );
  });

  it('goes on after the database was away', async () => {
    const { service, ledger, all } = await world(300);
    const store = postgresStore({ pool, pollMs: 20 });
    const away: Promise<unknown>[] = [];
    await lastValueFrom(
      ledger.process(request(service.ledgerEnd), insert(), options({ store, commitEvery: { updates: 5 } })).pipe(
        tap(({ offset }) => {
          if (offset > 100 && away.length === 0) away.push(server.crash().then(() => server.start()));
        }),
      ),
    );
    await Promise.all(away);
    expect(away).toHaveLength(1);
    expect(await seen()).toEqual(all);
  });

  it.each([
    ['is locked by another', 'LOCK TABLE canton_rx_cursors IN ACCESS EXCLUSIVE MODE'],
    ['has its row locked by another', 'SELECT * FROM canton_rx_cursors FOR UPDATE'],
  ])('goes on after its table %s for longer than it waits', async (_, lock) => {
    const { service, ledger, all } = await world(200);
    const told: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((event) => told.push(event));
    const other = await pool.connect();
    let locks = 0;
    const handler: Handler<PoolClient> = async (update, tx) => {
      await insert()(update, tx);
      if (update.offset <= 60 || (locks += 1) > 1) return;
      await other.query('BEGIN');
      await other.query(lock);
      isLocked$.next(true);
    };
    const isLocked$ = new Subject<true>();
    // on a machine that is slow it may give up before, too
    const isGivenUp = firstValueFrom(
      isLocked$.pipe(concatMap(() => ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'RetryScheduled')))),
    );
    const store = postgresStore({ pool, pollMs: 20, timeoutMs: 300 });
    const done = lastValueFrom(
      ledger.process(request(service.ledgerEnd), handler, options({ store, commitEvery: { updates: 10 } })),
    );
    await isGivenUp;
    await other.query('COMMIT');
    other.release();
    await done;
    expect(await seen()).toEqual(all);
  });

  it('goes on after the database did not answer at all', async () => {
    const { service, ledger, all } = await world(200);
    // the handlers' own queries are not the store's to give up
    const patient = new Pool({ connectionString: server.url, max: 12, query_timeout: 450 });
    patient.on('error', () => undefined);
    const store = postgresStore({ pool: patient, pollMs: 20, timeoutMs: 300 });
    const hung: Promise<unknown>[] = [];
    await lastValueFrom(
      ledger.process(request(service.ledgerEnd), insert(), options({ store, commitEvery: { updates: 10 } })).pipe(
        filter(({ offset }) => offset > 60),
        tap(() => {
          if (hung.length > 0) return;
          const isNoticed$ = ledger.diagnostics$.pipe(
            filter(({ _tag }) => _tag === 'RetryScheduled'),
            take(3),
            toArray(),
          );
          hung.push(
            server.pause(),
            lastValueFrom(isNoticed$).then(() => server.resume()),
          );
        }),
      ),
    );
    await Promise.all(hung);
    await patient.end();
    expect(await seen()).toEqual(all);
  });

  it('is begun by many at a time on an empty database', async () => {
    const { service, ledger, all } = await world(30);
    const each = Array.from({ length: 5 }, (_, index) =>
      lastValueFrom(
        ledger.process(request(service.ledgerEnd), () => undefined, options({ name: `p${index}` })).pipe(take(100)),
      ),
    );
    expect((await Promise.all(each)).map(({ offset }) => offset)).toEqual(each.map(() => all.at(-1)));
  });

  it('refuses the place of another participant', async () => {
    const { service, ledger } = await world(30);
    await lastValueFrom(ledger.process(request(service.ledgerEnd), insert(), options()));
    service.configure({ participantId: 'other::1220' });
    await expect(lastValueFrom(ledger.process(request(), insert(), options()))).rejects.toMatchObject({
      _tag: 'CursorError',
      reason: 'participant',
    });
  });
});
