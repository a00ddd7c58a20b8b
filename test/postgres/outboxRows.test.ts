import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { lastValueFrom, type Observable } from 'rxjs';
import type { CommandsRequest } from '../../src/index.js';
import { outboxSql } from '../../src/postgres/index.js';
import { type OutboxRow, OutboxRows } from '../../src/postgres/outbox/OutboxRows.js';
import { outboxTablesIn } from '../../src/postgres/outbox/tables.js';
import { describeWithPostgres } from '../helpers/postgresServer.js';
import { withDatabase } from './support.js';

describeWithPostgres('the rows of an outbox', () => {
  let client: PoolClient;
  let rows: OutboxRows;
  // before the pool ends, which waits for it
  afterEach(() => {
    client.release();
  });
  const database = withDatabase();
  beforeEach(async () => {
    await database.pool.query('DROP TABLE IF EXISTS canton_rx_outbox CASCADE');
    await database.pool.query(outboxSql());
    await database.pool.query("INSERT INTO canton_rx_cursors (name, fence) VALUES ('outbox o', 7)");
    client = await database.pool.connect();
    const tables = outboxTablesIn('public');
    rows = new OutboxRows({ client, tables, name: 'o', lockName: 'outbox o', fence: '7', timeoutMs: 5_000 });
  });

  const here = { offset: 50, participantId: 'p', recordTimes: {} };
  const run = <A>(result$: Observable<A>): Promise<A> => lastValueFrom(result$);

  /** Adds a command, and emits what is due: that alone. */
  const add = async (columns: Readonly<Record<string, unknown>> = {}): Promise<OutboxRow<CommandsRequest>> => {
    const all = { name: 'o', command_id: 'c', request: '{"commands":[]}', ...columns };
    const names = Object.keys(all).map((name) => `"${name}"`);
    const sql = `INSERT INTO canton_rx_outbox (${names.join()}) VALUES (${names.map((_, n) => `$${n + 1}`).join()})`;
    await client.query(sql, Object.values(all));
    const [row] = await run(rows.due(1, [], 1_000));
    return row as OutboxRow<CommandsRequest>;
  };
  const read = async () => (await client.query('SELECT * FROM canton_rx_outbox ORDER BY id')).rows as readonly object[];
  const set = (sql: string) => client.query(`UPDATE canton_rx_outbox SET ${sql}`);

  it.each([
    ['the first attempt', {}, 50, 'p'],
    ['one that was refused', { since: 10, participant: 'p' }, 10, 'p'],
    ['one that was refused before the ledger was restored', { since: 90, participant: 'p' }, 50, 'p'],
    ['one that was refused on another participant', { since: 10, participant: 'q' }, 50, 'p'],
    ['one that may be committed', { since: 90, participant: 'q', may_be_committed: true }, 90, 'q'],
  ])('begin where %s began', async (_, columns, since, participant) => {
    const row = await add({ reason: 'unknown', error: 'e', ...columns });
    const position = 'may_be_committed' in columns ? undefined : here;
    const begun = { ...row, since, participant, position };
    expect(await run(rows.begin([{ row, position: here }]))).toEqual([{ row: begun, position: here }]);
    const isOpen = 'may_be_committed' in columns;
    expect(await read()).toMatchObject([
      {
        since: String(since),
        participant,
        may_be_committed: true,
        retry_at: null,
        // of an attempt that may be committed
        ...(isOpen ? { reason: 'unknown', error: 'e' } : { reason: null, error: null }),
      },
    ]);
  });

  it.each([
    ['is dropped', "state = 'dropped'", {}],
    ['is committed', "state = 'committed'", {}],
    ['is forgotten', 'may_be_committed = false', { may_be_committed: true, since: 10 }],
    ['was begun by another process', 'may_be_committed = true', {}],
  ])('are not begun if a command %s meanwhile', async (_, change, columns) => {
    const row = await add(columns);
    await set(change);
    const before = await read();
    expect(await run(rows.begin([{ row, position: here }]))).toEqual([]);
    expect(await read()).toEqual(before);
  });

  it('are neither begun nor changed for a command of the same number that the database has lost', async () => {
    const row = await add();
    // a pooler has kept the connection while a standby without the last commits took over
    await set("command_id = 'd', may_be_committed = false, since = 5");
    const before = await read();
    expect(await run(rows.begin([{ row, position: here }]))).toEqual([]);
    await run(rows.record(row, { state: 'committed', mayBeCommitted: false, offset: 51 }));
    expect(await read()).toEqual(before);
  });

  it('are neither begun nor changed by a process that has lost the name', async () => {
    const row = await add();
    await database.pool.query('UPDATE canton_rx_cursors SET fence = 8');
    const before = await read();
    expect(await run(rows.begin([{ row, position: here }]))).toEqual([]);
    await expect(run(rows.record(row, { state: 'committed', mayBeCommitted: false }))).rejects.toMatchObject({
      _tag: 'StoreError',
      operation: 'hold',
    });
    expect(await read()).toEqual(before);
  });

  it.each([
    ['pending', 'pending', { state: 'pending', failures: 3 }],
    ['pending', 'parked', { state: 'parked', failures: 3 }],
    ['pending', 'committed', { state: 'committed', failures: 0 }],
    ['parked', 'committed', { state: 'committed', failures: 0 }],
    // a person has given it up
    ['dropped', 'pending', { state: 'dropped', failures: 2 }],
    ['dropped', 'parked', { state: 'dropped', failures: 2 }],
    // but the ledger has it
    ['dropped', 'committed', { state: 'committed', failures: 0 }],
    ['committed', 'pending', { state: 'committed', failures: 2 }],
  ] as const)('that are %s record %s', async (state, outcome, expected) => {
    const row = await add({ failures: 2, since: 10 });
    await set(`state = '${state}'`);
    await run(rows.record(row, { state: outcome, mayBeCommitted: false, delayMs: 1_000 }));
    expect(await read()).toMatchObject([{ ...expected, since: '10' }]);
  });

  it('record that the start is forgotten, and only then', async () => {
    const row = await add({ since: 10 });
    await run(rows.record(row, { state: 'pending', mayBeCommitted: false, forgetsSince: true }));
    expect(await read()).toMatchObject([{ since: null }]);
  });

  it('are deleted when they have ended long ago, of this outbox alone', async () => {
    const old = "now() - interval '2 hours'";
    await add();
    for (const [id, name, state] of [
      ['a', 'o', 'committed'],
      ['b', 'o', 'dropped'],
      ['d', 'o', 'parked'],
      ['e', 'other', 'committed'],
    ])
      await client.query("INSERT INTO canton_rx_outbox (name, command_id, request, state) VALUES ($1, $2, '{}', $3)", [
        name,
        id,
        state,
      ]);
    await set(`changed_at = ${old}`);
    await client.query(
      "INSERT INTO canton_rx_outbox (name, command_id, request, state) VALUES ('o', 'f', '{}', 'committed')",
    );
    await run(rows.deleteOld(3_600_000));
    expect((await read()).map((row) => Reflect.get(row, 'command_id') as string)).toEqual(['c', 'd', 'e', 'f']);
  });
});
