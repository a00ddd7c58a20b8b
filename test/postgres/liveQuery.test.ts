import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { lastValueFrom, Subject } from 'rxjs';
import { contractsProjection, liveQuery, migrateProjection } from '../../src/postgres/index.js';
import { observe, type Observed } from '../helpers/observe.js';
import { describeWithPgbouncer, pgbouncer } from '../helpers/pgbouncer.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { eventually, until } from '../helpers/time.js';
import { batchesOf, contractsOf, creates, worksOf, write } from './projectionWorks.js';
import { poolOf, withDatabase } from './support.js';

const sql = 'SELECT contract_id AS id FROM contracts.active() WHERE contract_id >= $1 ORDER BY 1';

/** A database with an empty projection, and a writer of it. */
function withProjection() {
  const observed: Observed<unknown>[] = [];
  // before the pool is closed
  afterEach(() => {
    for (const { subscription } of observed.splice(0)) subscription.unsubscribe();
  });
  const database = withDatabase();
  const schema = { name: 'contracts' };
  beforeEach(async () => {
    await database.pool.query('DROP SCHEMA IF EXISTS contracts CASCADE');
    await lastValueFrom(migrateProjection({ pool: database.pool }));
  });
  let handler: ReturnType<typeof contractsProjection> | undefined;
  /** Commits a contract with this offset. */
  const commit = async (offset: number): Promise<void> => {
    const { name } = schema;
    if (offset === 0) handler = contractsProjection({ pool: database.pool, schema: name, query: { parties: 'any' } });
    if (handler === undefined) throw new Error('offset 0 comes first');
    const works = offset === 0 ? batchesOf('start', 0, []) : worksOf([creates(`c${offset}`, offset)]).slice(1);
    await write(database.pool, handler, works);
  };
  /** Commits a change that no update has made. */
  const reconcile = async (offset: number, ...elements: readonly object[]): Promise<void> => {
    if (handler === undefined) throw new Error('offset 0 comes first');
    const change = { offset, added: contractsOf(elements), removed: [], moved: [] };
    await write(database.pool, handler, [{ _tag: 'ContractsChanged', reason: 'selectionChanged', ...change }]);
  };
  /** Commits a load of contracts of the same ledger. */
  const load = async (offset: number, ...elements: readonly object[]): Promise<void> => {
    if (handler === undefined) throw new Error('offset 0 comes first');
    await write(database.pool, handler, batchesOf('selectionChanged', offset, contractsOf(elements)));
  };
  const watch = <A>(source$: Parameters<typeof observe<A>>[0]) => {
    const record = observe(source$);
    observed.push(record);
    return record;
  };
  const live = (pool = database.pool, options: Parameters<typeof liveQuery<{ id: string }>>[3] = {}) =>
    watch(liveQuery<{ id: string }>(pool, sql, ['c'], options));
  const listeners = () =>
    database.read(
      `SELECT pid FROM pg_stat_activity WHERE query ~ '^LISTEN' OR query ~ 'latest_offset' AND pid <> pg_backend_pid()`,
    );
  return { database, commit, reconcile, load, live, watch, listeners, schema };
}

const ids = (record: Observed<readonly { id: string }[]>) => record.values.at(-1)?.map(({ id }) => id);

describeWithPostgres('liveQuery', () => {
  const { database, commit, reconcile, load, live, watch, listeners, schema } = withProjection();

  it('emits the rows now, and again after each commit', async () => {
    await commit(0);
    const first = live();
    await until(() => first.values.length === 1);
    expect(ids(first)).toEqual([]);
    await commit(1);
    await until(() => ids(first)?.length === 1);
    // a subscriber that comes later begins with what is there
    const second = live();
    await until(() => second.values.length === 1);
    expect(ids(second)).toEqual(['c1']);
    await commit(2);
    await until(() => ids(first)?.length === 2 && ids(second)?.length === 2);
    expect(first.values.map((rows) => rows.length)).toEqual([0, 1, 2]);
  });

  it('misses no change between the first query and the next one', async () => {
    await commit(0);
    let offset = 0;
    // commits between all statements of the start
    for (let round = 0; round < 10; round += 1) {
      const committing = commit((offset += 1));
      const record = live();
      await committing;
      await until(() => ids(record)?.length === offset);
      record.subscription.unsubscribe();
    }
  });

  it('runs one query at a time, and one for all changes that came meanwhile', async () => {
    await commit(0);
    const held$ = new Subject<never>();
    const record = live(database.pool, { pace: () => held$ });
    await until(() => record.values.length === 1);
    for (const offset of [1, 2, 3, 4, 5]) await commit(offset);
    expect(record.values).toHaveLength(1);
    held$.complete();
    await until(() => ids(record)?.length === 5);
    // one query for all, and one if the last change was noticed while it ran
    expect(record.values.length).toBeLessThanOrEqual(3);
  });

  it('emits the rows again when the contracts were read again, also at the offset of before', async () => {
    await commit(0);
    const record = live();
    await until(() => record.values.length === 1);
    await reconcile(0, creates('c0', 0));
    await until(() => ids(record)?.length === 1);
    // a load at the same offset
    await load(0, creates('c0', 0), creates('c9', 0));
    await until(() => ids(record)?.length === 2);
  });

  it('reads the offset from time to time if the tables have no trigger', async () => {
    await commit(0);
    await database.pool.query('DROP TRIGGER projection_changed ON contracts.projection_state');
    const record = live(database.pool, { pollMs: 20 });
    await until(() => record.values.length === 1);
    await commit(1);
    await until(() => ids(record)?.length === 1);
    await reconcile(1, creates('c0', 0));
    await until(() => ids(record)?.length === 2);
  });

  it('fails with what the subscriber does with the rows', async () => {
    await commit(0);
    const record = live(database.pool, { pace: () => Promise.reject(new Error('a mistake of the subscriber')) });
    await until(() => record.error !== undefined);
    expect(record.error).toEqual(new Error('a mistake of the subscriber'));
    expect(record.values).toEqual([[]]);
  });

  it('listens again when its connection is killed, and queries again, so that nothing is missed (G87)', async () => {
    await commit(0);
    const record = live();
    await until(() => record.values.length === 1);
    const kill = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ~ '^LISTEN' AND pid <> pg_backend_pid()`;
    expect(await database.read(kill)).toHaveLength(1);
    await commit(1);
    await until(() => ids(record)?.length === 1);
    await commit(2);
    await until(() => ids(record)?.length === 2);
    expect(record.error).toBeUndefined();
  });

  it('waits for a database that cannot be reached, for as long as the policy allows', async () => {
    await commit(0);
    const record = live(database.pool, { retry: { giveUpAfterMs: 1, baseDelayMs: 1 } });
    await until(() => record.values.length === 1);
    const other = poolOf('postgres://postgres@127.0.0.1:1/postgres', 2);
    const lost = live(other, { retry: { giveUpAfterMs: 100, baseDelayMs: 1 } });
    await until(() => lost.error !== undefined);
    expect(lost.error).toMatchObject({ _tag: 'StoreError', operation: 'load', processor: 'live query' });
    await other.end();
  });

  it('shares one connection for all queries of a pool, and leaves nothing when the last one ends', async () => {
    await commit(0);
    const records = [live(), live(), live()];
    await until(() => records.every(({ values }) => values.length === 1));
    expect(await listeners()).toHaveLength(1);
    for (const { subscription } of records) subscription.unsubscribe();
    await eventually(async () => (await listeners()).length, 0);
    const { totalCount, idleCount, waitingCount } = database.pool;
    expect([totalCount - idleCount, waitingCount]).toEqual([0, 0]);
  });

  it('leaves nothing if it is unsubscribed while it connects', async () => {
    await commit(0);
    const record = live();
    record.subscription.unsubscribe();
    await eventually(async () => (await listeners()).length, 0);
    await until(() => database.pool.totalCount === database.pool.idleCount);
    expect(record.values).toEqual([]);
  });

  it.each([
    ['a statement that is wrong', 'SELEKT 1', /syntax error/],
    [
      'a parameter of another type',
      'SELECT contract_id FROM contracts.active(NULL, $1)',
      /the database refuses a value/,
    ],
    ['an unknown function', 'SELECT contracts.nothing($1)', /is missing|does not exist/],
  ])('fails at once for %s', async (_, statement, message) => {
    await commit(0);
    const record = watch(liveQuery(database.pool, statement, ['x']));
    await until(() => record.error !== undefined);
    expect(record.error).toMatchObject({ _tag: 'StoreError', endsProcessor: true });
    expect(String(record.error)).toMatch(message);
    expect(String(record.error)).not.toContain("'x'");
  });

  it('fails at once if there is no projection, and for options that are wrong', async () => {
    const record = live(database.pool, { schema: 'nothing' });
    await until(() => record.error !== undefined);
    expect(record.error).toMatchObject({ _tag: 'StoreError', endsProcessor: true });
    expect(() => liveQuery(database.pool, sql, [], { schema: 'A b' })).toThrow(TypeError);
    expect(() => liveQuery(database.pool, sql, [], { pollMs: 0 })).toThrow(TypeError);
    const one = poolOf(database.server.url, 1);
    expect(() => liveQuery(one, sql)).toThrow('at least 2 connections');
    await one.end();
  });

  it('works for a schema with the longest name', async () => {
    schema.name = 'a'.repeat(63);
    await lastValueFrom(migrateProjection({ pool: database.pool, schema: schema.name }));
    await commit(0);
    const statement = `SELECT contract_id AS id FROM ${schema.name}.active()`;
    const record = watch(liveQuery<{ id: string }>(database.pool, statement, [], { schema: schema.name }));
    await until(() => record.values.length === 1);
    await commit(1);
    await until(() => ids(record)?.length === 1);
    schema.name = 'contracts';
  });
});

describeWithPgbouncer('liveQuery through a pooler', () => {
  const { database, commit, live } = withProjection();

  it('reads the offset from time to time', async () => {
    const bouncer = await pgbouncer(database.server.url, { pool_mode: 'transaction' });
    const pool = poolOf(bouncer.url, 4);
    try {
      await commit(0);
      const record = live(pool, { pollMs: 20 });
      await until(() => record.values.length > 0);
      await commit(1);
      await until(() => ids(record)?.length === 1);
      record.subscription.unsubscribe();
    } finally {
      await pool.end();
      await bouncer.stop();
    }
  });
});
