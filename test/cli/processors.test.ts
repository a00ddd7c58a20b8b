import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { lastValueFrom, type Subscription, toArray } from 'rxjs';
import { holderOf } from '../../src/cli/database.js';
import { acsDelta, createLedger } from '../../src/index.js';
import { contractsProjection, migrateProjection, postgresStore, postgresStoreSql } from '../../src/postgres/index.js';
import { contractsFeed, handleParked, type Handler, processFeed, updatesFeed } from '../../src/process/index.js';
import type { WireUpdateInput } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { cliWorld } from './cliWorld.js';
import { runCli } from './runCli.js';

describeWithPostgres('canton-rx processors and parked', () => {
  const world = cliWorld();
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await postgresServer();
    pool = new pg.Pool({ connectionString: server.url });
    pool.on('error', () => undefined);
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  const cli = async (...line: readonly string[]): Promise<readonly [number, string]> => {
    const run = runCli(line, { env: { CANTON_RX_DATABASE_URL: server.url } });
    return [await run.code, run.out.text() + run.err.text()];
  };

  /** Handles all updates of the ledger, of which one fails. */
  const processAll = (name: string, failsAt: number, onHandlerFailure: 'stop' | 'park' = 'stop') => {
    const handled: number[] = [];
    const handler: Handler = ({ offset }) => {
      if (offset === failsAt) throw new Error('no such account');
      handled.push(offset);
    };
    const ledger = createLedger({ baseUrl: world.sandbox.url });
    const request = { beginExclusive: 0, endInclusive: 20, updateFormat: acsDelta({ parties: 'any' }) };
    const committed$ = processFeed(updatesFeed(ledger, request), handler, {
      name,
      store: postgresStore({ pool, pollMs: 20 }),
      onHandlerFailure,
      handlerRetry: { giveUpAfterMs: 0 },
    });
    return { handled, end: lastValueFrom(committed$).then(() => handled) };
  };
  /** The offsets of the updates that a handler receives, from the first one. */
  const offsetsOf = async (name: string): Promise<readonly number[]> => {
    world.sandbox.generate(20, { seed: 1 });
    return processAll(name, -1).end;
  };

  /** The offset of a cursor, as `list` prints it. */
  const offsetOf = async (name: string): Promise<string> =>
    new RegExp(String.raw`^${name}\toffset (\d+)`, 'm').exec((await cli('processors', 'list'))[1])?.[1] ?? 'none';

  /** Runs a projection under a name. */
  const project = (name: string, schema?: string) => {
    const ledger = createLedger({ baseUrl: world.sandbox.url });
    const query = { parties: 'any' } as const;
    const handler = contractsProjection({ pool, query, ...(schema !== undefined && { schema }) });
    return observe(processFeed(contractsFeed(ledger, query), handler, { name, store: postgresStore({ pool }) }));
  };

  it('skips the update on which a processor has failed, and no other', async () => {
    const offsets = await offsetsOf('probe');
    const offset = offsets[7] ?? 0;
    const error = (await processAll('balances', offset).end.catch((failure: unknown) => failure)) as {
      updateId: string;
    };
    expect(error).toMatchObject({ _tag: 'HandlerError', offset });

    const after = await offsetOf('balances');
    const skip = (...line: readonly string[]) => cli('processors', 'skip', '--name', 'balances', '--after', ...line);
    expect(await skip(after, '--offset', '1')).toEqual([
      1,
      `canton-rx: the cursor is already at offset ${after}; use the offset of the error\n`,
    ]);
    expect(await skip('0', '--offset', String(offset))).toEqual([
      1,
      expect.stringContaining(`the cursor is at offset ${after}, not at that of --after; compare it`),
    ]);
    expect(await skip(after, '--offset', String(offset), '--update', error.updateId)).toEqual([
      0,
      `the processor balances continues after offset ${offset}\n`,
    ]);
    // the id proves at the start that the ledger is the same
    const handled = await processAll('balances', offset).end;
    expect(handled).toEqual(offsets.slice(8));
    // the database closes the connection of the processor a moment later
    await until(async () => !(await cli('processors', 'list'))[1].includes('running'));
    expect(await cli('processors', 'list')).toEqual([
      0,
      expect.stringMatching(/^balances\toffset 20\tsaved [\dT:-]+Z\tparked 0\tstopped\n/),
    ]);
  });

  it('skips nothing if a replica commits meanwhile', async () => {
    const offset = (await offsetsOf('probe of replicas'))[7] ?? 0;
    await processAll('raced', offset).end.catch(() => undefined);
    const after = await offsetOf('raced');
    const replica = await pool.connect();
    await replica.query('BEGIN');
    await replica.query(
      `UPDATE canton_rx_cursors SET cursor = jsonb_set(cursor::jsonb, '{offset}', '19')::json WHERE name = 'raced'`,
    );
    const skipped = cli('processors', 'skip', '--name', 'raced', '--after', after, '--offset', String(offset));
    await until(async () => {
      const { rows } = await pool.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
      return rows.length > 0;
    });
    await replica.query('COMMIT');
    replica.release();
    expect(await skipped).toEqual([1, expect.stringContaining('has no such cursor of the processor raced')]);
    expect(await offsetOf('raced')).toBe('19');
  });

  it('starts a processor over only if it is stopped, and the projection of it', async () => {
    const first = project('first');
    await until(() => first.values.at(-1)?.isCaughtUp === true);
    expect(await cli('processors', 'reset', '--name', 'first')).toEqual([
      1,
      'canton-rx: the processor first is running; stop all its replicas, and wait for their end\n',
    ]);
    first.subscription.unsubscribe();
    const second = project('second');
    await until(() => second.error !== undefined);
    expect(second.error).toMatchObject({ _tag: 'CursorError', reason: 'conflict' });
    await until(async () => (await cli('processors', 'reset', '--name', 'first'))[0] === 0);
    const third = project('second');
    await until(() => third.values.at(-1)?.isCaughtUp === true);
    third.subscription.unsubscribe();
    expect((await cli('processors', 'list'))[1]).toContain('first\toffset none\t');
    expect(await cli('processors', 'skip', '--name', 'second', '--after', '1', '--offset', '99')).toEqual([
      1,
      expect.stringContaining('the processor second has no cursor of a feed of updates'),
    ]);
  });

  it('starts a processor over together with its projection, or not at all', async () => {
    await lastValueFrom(migrateProjection({ pool, schema: 'atomic' }));
    const run = project('atomic', 'atomic');
    await until(() => run.values.at(-1)?.isCaughtUp === true);
    run.subscription.unsubscribe();
    await until(async () => /^atomic\t.*\tstopped$/m.test((await cli('processors', 'list'))[1]));
    const before = await offsetOf('atomic');
    // the statement after the removal of the cursor fails, as a crash between the two would
    await pool.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON atomic.projection_state EXECUTE FUNCTION refuse()`);
    expect(await cli('processors', 'reset', '--name', 'atomic')).toEqual([6, expect.stringContaining('refused')]);
    expect(await offsetOf('atomic')).toBe(before);
    expect(Number(before)).toBeGreaterThan(0);
    await pool.query('DROP TRIGGER refuse ON atomic.projection_state');
    expect(await cli('processors', 'reset', '--name', 'atomic')).toEqual([
      0,
      'the next load replaces the rows of the projection in the schema atomic\n' +
        'the processor atomic has no cursor: it begins where its request says\n',
    ]);
    expect(await offsetOf('atomic')).toBe('none');
  });

  it('tells the holder of a name in one database from that of the same name in another', async () => {
    await pool.query('CREATE DATABASE other');
    const other = new pg.Pool({ connectionString: server.url.replace(/\/postgres$/, '/other') });
    let running: Subscription | undefined;
    for (const schema of ['held', 'elsewhere'])
      for (const db of [other, pool]) await db.query(`CREATE SCHEMA ${schema}; ${postgresStoreSql(schema)}`);
    const holding = postgresStore({ pool: other, schema: 'held' }).hold('contracts');
    try {
      await new Promise((resolve, reject) => {
        running = holding.subscribe({ next: resolve, error: reject });
      });
      expect(await lastValueFrom(holderOf(other, 'held'))).toContain('connected since');
      expect(await lastValueFrom(holderOf(other, 'elsewhere'))).toBeUndefined();
      expect(await lastValueFrom(holderOf(pool, 'held'))).toBeUndefined();
    } finally {
      running?.unsubscribe();
      await other.end();
    }
  });

  it('lists and drops parked updates, and says that only the service can replay them', async () => {
    const offset = (await offsetsOf('another probe'))[3] ?? 0;
    await processAll('parking', offset, 'park').end;
    const line = new RegExp(String.raw`^parking\toffset ${offset}\tparked [\dT:.-]+Z\tattempts 1\tno such account\n$`);
    expect(await cli('parked', 'list')).toEqual([0, expect.stringMatching(line)]);
    expect(await cli('parked', 'replay', '--name', 'parking')).toEqual([
      2,
      expect.stringContaining('only the service has the handler'),
    ]);
    expect(await cli('parked', 'drop', '--name', 'parking', '--offset', String(offset))).toEqual([
      0,
      `dropped the parked update of parking at offset ${offset}\n`,
    ]);
    expect(await cli('parked', 'list', '--name', 'parking')).toEqual([0, '']);
    expect((await cli('parked', 'drop', '--name', 'parking', '--offset', '1'))[0]).toBe(1);
  });

  it('leaves the replay to handleParked, which handles an update once: over a crash, and in two processes at a time', async () => {
    const offset = (await offsetsOf('probe of replays'))[3] ?? 0;
    await processAll('replayed', offset, 'park').end;
    await pool.query('CREATE TABLE replays ("offset" bigint)');
    const replays = async (): Promise<unknown> => (await pool.query('SELECT "offset"::int FROM replays')).rows;
    const replay = (then: (tx: pg.PoolClient) => unknown = () => undefined) => {
      const store = postgresStore({ pool });
      const handled$ = handleParked(store, 'replayed', async (update, tx) => {
        await tx.query('INSERT INTO replays VALUES ($1)', [update.offset]);
        await then(tx);
      });
      return lastValueFrom(handled$.pipe(toArray()));
    };
    const crash = (tx: pg.PoolClient) => tx.query('SELECT pg_terminate_backend(pg_backend_pid())');
    expect(await replay(crash)).toMatchObject([{ isHandled: false, error: expect.any(Error) }]);
    expect(await replays()).toEqual([]);
    expect((await cli('parked', 'list', '--name', 'replayed'))[1]).toContain(`offset ${offset}\t`);

    const isBlocked = async (): Promise<boolean> =>
      (await pool.query(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)).rows.length > 0;
    let second: Promise<readonly unknown[]> | undefined;
    const first = await replay(() => {
      second ??= replay();
      return until(isBlocked);
    });
    expect([first, await second]).toMatchObject([[{ isHandled: true }], []]);
    expect(await replays()).toEqual([{ offset }]);
    expect(await cli('parked', 'list', '--name', 'replayed')).toEqual([0, '']);
  });

  it('names what is missing before any service has run', async () => {
    for (const line of [
      ['processors', 'list'],
      ['parked', 'list'],
      ['parked', 'drop', '--name', 'a', '--offset', '1'],
    ]) {
      const [code, text] = await cli(...line, '--schema', 'nothing');
      expect(code).toBe(6);
      expect(text).toMatch(
        /^canton-rx: the schema nothing has no tables of a service; check --database and --schema; [^\n]+\n$/,
      );
    }
    const [code, text] = await cli(
      'project',
      'verify',
      '--ledger',
      world.sandbox.url,
      '--schema',
      'nothing',
      '--exercises',
    );
    expect([code, text]).toEqual([
      6,
      'canton-rx: the schema nothing has no projection; check --database and --schema; canton-rx project creates it\n',
    ]);
  });

  it('prints no control characters of parked updates, and short lines', async () => {
    const offset = (await offsetsOf('hostile probe'))[3] ?? 0;
    await processAll('hostile', offset, 'park').end;
    const reason = `\u001b[2J\u009b\u202e\n${' '.repeat(1_000_000)}`;
    await pool.query(
      `UPDATE canton_rx_parked SET record = (record::jsonb || jsonb_build_object('reason', $1::text))::json WHERE name = 'hostile'`,
      [reason],
    );
    const [code, text] = await cli('parked', 'list', '--name', 'hostile');
    expect(code).toBe(0);
    expect(text).toContain('\\u{1b}[2J\\u{9b}\\u{202e}\\u{a}');
    expect(text).not.toMatch(/[^\P{C}\n\t]/u);
    expect(text.length).toBeLessThan(5_000);
  });

  it('lists parked updates whose texts SQL does not have', async () => {
    const offset = (await offsetsOf('odd probe'))[3] ?? 0;
    await processAll('odd', offset, 'park').end;
    const texts = JSON.stringify({ texts: ['a NUL: \0', 'half of a surrogate pair: \ud83d', 'a path: C:\\u0000'] });
    await pool.query(
      `UPDATE canton_rx_parked SET record = (substr(record::text, 1, length(record::text) - 1) || $1)::json WHERE name = 'odd'`,
      [`,${texts.slice(1)}`],
    );
    const line = new RegExp(String.raw`^odd\toffset ${offset}\tparked [\dT:.-]+Z\tattempts 1\tno such account\n$`);
    expect(await cli('parked', 'list', '--name', 'odd')).toEqual([0, expect.stringMatching(line)]);
  });

  it('compares a projection with the ledger at the offset of the projection', async () => {
    const verify = () => cli('project', 'verify', '--ledger', world.sandbox.url);
    world.sandbox.generate(20, { seed: 2 });
    const [code, text] = await verify();
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(/^the schema contracts has the \d+ active contracts of the ledger at offset \d+\n$/),
    ]);
    await pool.query(
      'UPDATE contracts.projection_contracts SET contract_id = contract_id || $1 WHERE contract_id = (SELECT min(contract_id) FROM contracts.active())',
      ['x'],
    );
    const [differs, lines] = await verify();
    expect(differs).toBe(1);
    expect(lines).toMatch(
      /^missing (\S+)\nextra \1x\nthe schema contracts lacks 1 and has 1 more than the \d+ active contracts/,
    );
    await pool.query(
      `UPDATE contracts.projection_contracts SET contract_id = rtrim(contract_id, 'x');
      INSERT INTO contracts.projection_contracts SELECT * FROM contracts.projection_contracts
        WHERE contract_id = (SELECT max(contract_id) FROM contracts.active())`,
    );
    const [repeats, repeatedLines] = await verify();
    expect(repeats).toBe(1);
    expect(repeatedLines).toMatch(
      /^repeated \S+\nthe schema contracts lacks 0 and has 0 more than the \d+ active contracts .*, and repeats 1\n$/,
    );
  });

  it('does not miss a contract that is archived on its target before it leaves its source', async () => {
    const schema = 'moving';
    const latest = `SELECT ${schema}.latest_offset()::text AS reached`;
    const projectAll = async (): Promise<void> => {
      const { subscription } = project(schema, schema);
      const offset = async (): Promise<string> => `${(await pool.query<{ reached: string }>(latest)).rows[0]?.reached}`;
      await until(async () => (await offset().catch(() => '')) === String(world.sandbox.ledgerEnd));
      subscription.unsubscribe();
    };
    const [source = '', target = ''] = world.sandbox.synchronizers;
    const move = { source, target, reassignmentCounter: 1 };
    const created = (contractId: string): WireUpdateInput => ({
      Transaction: { value: { synchronizerId: source, events: [{ CreatedEvent: { contractId } }] } },
    });
    const assigned = (contractId: string): WireUpdateInput => ({
      Reassignment: { value: { events: [{ JsAssignmentEvent: { ...move, createdEvent: { contractId } } }] } },
    });
    const unassigned = (contractId: string): WireUpdateInput => ({
      Reassignment: { value: { events: [{ JsUnassignedEvent: { value: { ...move, contractId } } }] } },
    });
    const archived = (contractId: string): WireUpdateInput => ({
      Transaction: { value: { synchronizerId: target, events: [{ ArchivedEvent: { contractId } }] } },
    });
    world.sandbox.append(...['00a1', '00b1', '00c1'].map(created));
    world.sandbox.append(assigned('00a1'), archived('00a1'), assigned('00b1'), unassigned('00c1'));
    await projectAll();
    const verify = () => cli('project', 'verify', '--schema', schema, '--ledger', world.sandbox.url);
    expect((await verify())[1]).toMatch(/^the schema moving has the \d+ active contracts/);
    world.sandbox.append(unassigned('00a1'), unassigned('00b1'), assigned('00c1'));
    // a real difference stays one: a contract that is assigned, and one in flight, are contracts of the ledger
    world.sandbox.append(created('00d1'), assigned('00d1'), created('00e1'), unassigned('00e1'), created('00f1'));
    world.sandbox.append(assigned('00f1'), archived('00f1'));
    await projectAll();
    await pool.query(`DELETE FROM ${schema}.projection_contracts WHERE contract_id IN ('00d1', '00e1')`);
    await pool.query(`UPDATE ${schema}.projection_contracts SET archived_at_offset = NULL WHERE contract_id = '00f1'`);
    const [code, text] = await verify();
    expect(code).toBe(1);
    expect(text).toMatch(/^missing 00d1\nmissing 00e1\nextra 00f1\nthe schema moving lacks 2 and has 1 more/);
  });

  it('compares nothing before the first load is complete, or without the ledger', async () => {
    await lastValueFrom(migrateProjection({ pool, schema: 'empty' }));
    expect(await cli('project', 'verify', '--schema', 'empty', '--ledger', world.sandbox.url)).toEqual([
      6,
      expect.stringContaining('the first load of the schema empty is not complete'),
    ]);
    const [code, text] = await cli('project', 'verify', '--ledger', 'http://127.0.0.1:1');
    expect(code).toBe(3);
    expect(text).not.toContain('PostgreSQL');
    expect(text).toContain('✗ reachable');
  });

  it('names what is wrong with the arguments and the database', async () => {
    expect(await cli('processors')).toEqual([
      2,
      expect.stringContaining('processors requires list, pause, resume, rewind, reset or skip first'),
    ]);
    expect(await cli('processors', 'reset')).toEqual([2, expect.stringContaining('--name is required')]);
    expect(await cli('processors', 'list', '--schema', 'nowhere')).toEqual([6, expect.stringContaining('nowhere')]);
    expect(await cli('processors', 'list', '--database', 'postgres://postgres@127.0.0.1:1/x')).toEqual([
      6,
      expect.stringContaining('connection refused: nothing listens on this port'),
    ]);
  });
});
