import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { acsDelta, createLedger } from '../../src/index.js';
import { commandOutbox, contractsProjection, postgresStore, postgresStoreSql } from '../../src/postgres/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { contractsFeed, isReady, processFeed, updatesFeed } from '../../src/process/index.js';
import { tcpProxy } from '../helpers/localServers.js';
import { observe } from '../helpers/observe.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../helpers/postgresServer.js';
import { until } from '../helpers/time.js';
import { cliWorld } from './cliWorld.js';
import { runCli } from './runCli.js';

describeWithPostgres('canton-rx processors pause, resume and rewind', () => {
  const world = cliWorld();
  let server: PostgresServer;
  let pool: pg.Pool;
  beforeAll(async () => {
    server = await postgresServer();
    pool = new pg.Pool({ connectionString: server.url });
    // as the guides say: a connection that breaks while the pool closes it must not end the program
    pool.on('error', () => undefined);
  }, 60_000);
  afterAll(async () => {
    await pool.end();
    await server.stop();
  });

  const cli = async (...line: readonly string[]): Promise<readonly [number, string]> => {
    const run = runCli(['processors', ...line], { env: { CANTON_RX_DATABASE_URL: server.url } });
    return [await run.code, run.out.text() + run.err.text()];
  };
  const lineOf = async (name: string, ...options: readonly string[]): Promise<string> =>
    new RegExp(String.raw`^${name}\t.*$`, 'm').exec((await cli('list', ...options))[1])?.[0] ?? '';

  /** Runs a processor that notes each update in a table, in the transaction of its cursor. */
  const start = async (name: string, { before = (): unknown => undefined, url = world.sandbox.url } = {}) => {
    await pool.query(`CREATE TABLE IF NOT EXISTS "${name}" (n serial, "offset" int)`);
    const processor = processFeed(
      updatesFeed(createLedger({ baseUrl: url }), { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
      async ({ offset }, tx: pg.PoolClient) => {
        await before();
        await tx.query(`INSERT INTO "${name}" ("offset") VALUES ($1)`, [offset]);
      },
      { name, store: postgresStore({ pool, pollMs: 20 }), commitEvery: { updates: 3 } },
    );
    const status = observe(processor.status$);
    const run = observe(processor);
    return {
      run,
      status: () => status.values.at(-1),
      isCaughtUp: () => run.values.at(-1)?.isCaughtUp === true && run.values.at(-1)?.role === undefined,
      stop: async () => {
        run.subscription.unsubscribe();
        status.subscription.unsubscribe();
        await until(async () => !/running|pausing/.test(await lineOf(name)));
      },
    };
  };
  const handled = async (name: string): Promise<readonly number[]> =>
    (await pool.query<{ offset: number }>(`SELECT "offset" FROM "${name}" ORDER BY n`)).rows.map(
      ({ offset }) => offset,
    );
  const end = (): string => String(world.sandbox.ledgerEnd);

  it.each(['BEGIN', 'FOR UPDATE'])('reports in one line that its connection breaks at %s', async (statement) => {
    await pool.query(postgresStoreSql());
    const proxy = await tcpProxy(server.url, (client, target) => {
      client.on('data', (bytes: Buffer) => {
        if (bytes.includes(statement)) client.destroy();
        else target.write(bytes);
      });
      target.pipe(client);
    });
    const run = runCli(['processors', 'rewind', '--name', 'cut', '--to', '1', '--database', proxy.url]);
    expect([await run.code, run.out.text() + run.err.text()]).toEqual([
      6,
      expect.stringMatching(/^canton-rx: the connection was closed; .*\n$/),
    ]);
    proxy.close();
  });

  it.each(['rewind --to 1', 'reset', 'skip --after 5 --offset 6', 'pause', 'resume'])(
    'says that %s may be done if the answer to its commit is lost',
    async (line) => {
      await pool.query(postgresStoreSql());
      const [name, cursor] = ['lost', JSON.stringify({ version: 1, offset: 5, selection: 'fnv1a:1' })];
      await pool.query(
        `INSERT INTO canton_rx_cursors (name, cursor, fence) VALUES ($1, $2, 1)
        ON CONFLICT (name) DO UPDATE SET cursor = excluded.cursor`,
        [name, cursor],
      );
      if (line === 'resume') expect((await cli('pause', '--name', name))[0]).toBe(0);
      let isAnswered = true;
      const proxy = await tcpProxy(server.url, (client, target) => {
        client.on('data', (bytes: Buffer) => {
          isAnswered &&= !bytes.includes('COMMIT');
          target.write(bytes);
        });
        target.on('data', (bytes: Buffer) => {
          if (isAnswered) client.write(bytes);
          else client.destroy();
        });
      });
      const run = runCli(['processors', ...line.split(' '), '--name', name, '--database', proxy.url]);
      expect([await run.code, run.out.text() + run.err.text()]).toEqual([
        6,
        expect.stringMatching(
          /^canton-rx: the connection was closed, and the change may have been made, .*processors list.*\n$/,
        ),
      ]);
      proxy.close();
    },
  );

  it('does not say of a processor without a cursor that it has caught up', async () => {
    await pool.query(postgresStoreSql());
    await pool.query(`INSERT INTO canton_rx_cursors (name, cursor, fence) VALUES ('begins', NULL, 1)`);
    expect(await cli('list', '--ledger', world.sandbox.url)).toEqual([
      0,
      expect.stringMatching(/^begins\toffset none\t.*\tlag unknown\tstopped$/m),
    ]);
  });

  it('writes the request of a list for the lag to stderr, with --verbose', async () => {
    expect(await cli('list', '--ledger', world.sandbox.url, '--verbose')).toEqual([
      0,
      expect.stringMatching(/^GET \/v2\/state\/ledger-end {2}200 {2}\d+ ms$/m),
    ]);
  });

  it('refuses to pause an outbox, which would send until it notices, and to reset one', async () => {
    const outbox = observe(commandOutbox({ pool }).submitAll(createLedger({ baseUrl: world.sandbox.url })));
    await until(async () => (await lineOf('outbox commands')).includes('running'));
    const [code, text] = await cli('pause', '--name', 'outbox commands');
    expect([code, text]).toEqual([1, expect.stringContaining('outbox commands is not a processor')]);
    const { rows } = await pool.query('SELECT FROM canton_rx_leases WHERE paused_at IS NOT NULL');
    expect(rows).toEqual([]);
    outbox.subscription.unsubscribe();
    await until(async () => (await lineOf('outbox commands')).includes('stopped'));
    expect(await cli('reset', '--name', 'outbox commands')).toEqual([
      1,
      expect.stringContaining('has no such cursor of the processor outbox commands'),
    ]);
  });

  it('pauses a running processor, which notices without a restart, and resumes it where it was', async () => {
    world.sandbox.generate(20, { seed: 1 });
    const processor = await start('paused');
    await until(() => processor.isCaughtUp());
    expect(await lineOf('paused')).toMatch(/\trunning\tleader a program, connected since [\d :-]+UTC( from [\d.:]+)?$/);
    expect(await cli('pause', '--name', 'paused')).toEqual([
      0,
      'the processor paused is paused: it ends its current batch, and commits nothing after that\n',
    ]);
    await until(() => processor.status()?.state === 'paused', 10_000);
    expect(processor.status()).toMatchObject({ role: 'standby' });
    expect(isReady(processor.status() as never)).toBe(true);
    await until(async () => (await lineOf('paused')).endsWith('\tpaused'));
    const before = await handled('paused');
    const [, cursor = ''] = /\toffset (\d+)\t/.exec(await lineOf('paused')) ?? [];
    world.sandbox.generate(5, { seed: 2 });
    const lag = Number(end()) - Number(cursor);
    expect(await lineOf('paused', '--ledger', world.sandbox.url)).toContain(`\tlag ${lag}\tpaused`);
    expect(await cli('resume', '--name', 'paused')).toEqual([
      0,
      expect.stringContaining('the processor paused works again'),
    ]);
    await until(async () => (await handled('paused')).length > before.length && processor.isCaughtUp());
    const all = await handled('paused');
    expect(all).toEqual([...new Set(all)].sort((a, b) => a - b));
    expect(await cli('resume', '--name', 'paused')).toEqual([
      1,
      expect.stringContaining('the processor paused is not paused'),
    ]);
    await processor.stop();
  });

  it('commits the batch in flight of a processor that is paused, and nothing after it (G83)', async () => {
    world.sandbox.generate(10, { seed: 3 });
    let release = (): void => undefined;
    let count = 0;
    const processor = await start('in flight', {
      before: () => {
        count += 1;
        return count === 3 ? new Promise<void>((resolve) => (release = resolve)) : undefined;
      },
    });
    await until(() => count === 3);
    await cli('pause', '--name', 'in flight');
    expect(await lineOf('in flight')).toContain('\tpausing\tleader ');
    release();
    await until(async () => (await lineOf('in flight')).endsWith('\tpaused'));
    const committed = await handled('in flight');
    expect(committed).toHaveLength(3);
    world.sandbox.generate(5, { seed: 4 });
    await until(() => processor.status()?.state === 'paused');
    expect(await handled('in flight')).toEqual(committed);
    await processor.stop();
    // nor does a process that starts meanwhile
    const other = await start('in flight');
    await until(() => other.status()?.state === 'paused');
    expect(await handled('in flight')).toEqual(committed);
    await other.stop();
  });

  it('moves a cursor back, and the handler gets exactly the later updates again (G84)', async () => {
    world.sandbox.generate(20, { seed: 5 });
    const processor = await start('rewound');
    await until(() => processor.isCaughtUp());
    const first = await handled('rewound');
    const to = first[4] ?? 0;
    expect(await cli('rewind', '--name', 'rewound', '--to', String(to))).toEqual([
      1,
      'canton-rx: the processor rewound is running; canton-rx processors pause --name rewound first, or stop all its replicas\n',
    ]);
    await cli('pause', '--name', 'rewound');
    expect(await cli('rewind', '--name', 'rewound', '--to', String(to))).toEqual([
      0,
      `the processor rewound continues after offset ${to}, and handles later updates again\n`,
    ]);
    expect(await lineOf('rewound')).toContain(`\toffset ${to}\t`);
    expect(await cli('rewind', '--name', 'rewound', '--to', String(to))).toEqual([
      1,
      expect.stringContaining(`the cursor is at offset ${to}, which is not after ${to}; rewind moves it back only`),
    ]);
    await cli('resume', '--name', 'rewound');
    const again = first.filter((offset) => offset > to);
    await until(async () => (await handled('rewound')).length === first.length + again.length);
    expect(await handled('rewound')).toEqual([...first, ...again]);
    // the cursor proves itself again, from what was read after the rewind
    await until(() => processor.isCaughtUp());
    const { rows } = await pool.query<{ cursor: object }>(
      `SELECT cursor FROM canton_rx_cursors WHERE name = 'rewound'`,
    );
    expect(rows[0]?.cursor).not.toHaveProperty('rewoundFrom');
    expect(rows[0]?.cursor).toMatchObject({ lastUpdate: { offset: first.at(-1) } });
    await processor.stop();
  });

  it('moves a cursor back to a time, which the ledger finds', async () => {
    world.sandbox.generate(12, { seed: 6 });
    const processor = await start('since');
    await until(() => processor.isCaughtUp());
    await processor.stop();
    const first = await handled('since');
    const target = first[6] ?? 0;
    const recordTime = await new Promise<string>((resolve, reject) => {
      createLedger({ baseUrl: world.sandbox.url })
        .updates({ beginExclusive: target - 1, endInclusive: target, updateFormat: acsDelta({ parties: 'any' }) })
        .subscribe({
          next: (update) => {
            if ('recordTime' in update) resolve(update.recordTime);
          },
          error: reject,
        });
    });
    const rewind = (...options: readonly string[]) => cli('rewind', '--name', 'since', ...options);
    expect(await rewind('--to', recordTime)).toEqual([2, expect.stringContaining('no ledger: use --ledger URL')]);
    expect(await rewind('--to', 'noon', '--ledger', world.sandbox.url)).toEqual([
      2,
      expect.stringContaining('--to must be a time such as'),
    ]);
    expect((await rewind('--to', recordTime, '--ledger', 'http://127.0.0.1:1'))[0]).toBe(3);
    const replica = await startSandbox({ replicaOf: world.sandbox });
    const elsewhere = await rewind('--to', recordTime, '--ledger', replica.url);
    await replica.close();
    expect(elsewhere).toEqual([1, expect.stringContaining('but the time was looked up at ')]);
    expect(await rewind('--to', recordTime, '--ledger', world.sandbox.url)).toEqual([
      0,
      expect.stringContaining(`continues after offset ${target - 1}, `),
    ]);
  });

  it('refuses a ledger that was replaced after a rewind, although the offset exists there', async () => {
    world.sandbox.generate(20, { seed: 7 });
    const processor = await start('replaced');
    await until(() => processor.isCaughtUp());
    await processor.stop();
    await cli('rewind', '--name', 'replaced', '--to', '3');
    const before = await handled('replaced');
    world.sandbox.restore(2);
    world.sandbox.generate(60, { seed: 8 });
    const next = await start('replaced');
    await until(() => next.run.error !== undefined);
    expect(next.run.error).toMatchObject({ _tag: 'CursorError', reason: 'ledger' });
    expect(await handled('replaced')).toEqual(before);
    await next.stop();
  });

  it('keeps the last update that is not after the offset, so that it proves the ledger also if nothing follows it', async () => {
    const lastUpdate = { offset: 4, updateId: '1220ab' };
    const cursor = { version: 1, offset: 9, lastUpdate, recordTimes: {}, selection: 'fnv1a:0' };
    await pool.query(`INSERT INTO canton_rx_cursors (name, fence, cursor) VALUES ('quiet', 1, $1)`, [
      JSON.stringify(cursor),
    ]);
    const moved = async () =>
      (await pool.query<{ cursor: object }>(`SELECT cursor FROM canton_rx_cursors WHERE name = 'quiet'`)).rows[0]
        ?.cursor;
    await cli('rewind', '--name', 'quiet', '--to', '6');
    expect(await moved()).toMatchObject({ offset: 6, lastUpdate, rewoundFrom: { offset: 9, lastUpdate } });
    await cli('rewind', '--name', 'quiet', '--to', '4');
    expect(await moved()).toMatchObject({ offset: 4, lastUpdate, rewoundFrom: { offset: 9 } });
    await cli('rewind', '--name', 'quiet', '--to', '3');
    expect(await moved()).not.toHaveProperty('lastUpdate');
  });

  // pasted without the schema, the advice would start over the processor of the same name in the default schema
  it('advises commands for the same schema and the same name, as a person pastes them', async () => {
    await pool.query('CREATE SCHEMA IF NOT EXISTS app');
    const name = "the shop's rows";
    const query = { parties: 'any' } as const;
    const store = postgresStore({ pool, schema: 'app' });
    const rows = observe(
      processFeed(contractsFeed(createLedger({ baseUrl: world.sandbox.url }), query), () => undefined, { name, store }),
    );
    await until(() => rows.values.at(-1)?.isCaughtUp === true);
    const pasted = String.raw`--schema app --name 'the shop'\''s rows'`;
    const to = ['rewind', '--schema', 'app', '--name', name, '--to', '1'];
    expect((await cli(...to))[1]).toContain(`; canton-rx processors pause ${pasted} first`);
    rows.subscription.unsubscribe();
    await until(async () => (await cli('list', '--schema', 'app'))[1].includes('\tstopped'));
    expect((await cli(...to))[1]).toContain(`; canton-rx processors reset ${pasted} loads them again`);
    expect((await cli('resume', '--schema', 'app', '--name', name))[1]).toContain(
      '; see canton-rx processors list --schema app\n',
    );
  });

  it('refuses a projection, a rule and what does not exist', async () => {
    world.sandbox.generate(5, { seed: 9 });
    const query = { parties: 'any' } as const;
    const ledger = createLedger({ baseUrl: world.sandbox.url });
    const projection = observe(
      processFeed(contractsFeed(ledger, query), contractsProjection({ pool, query }), {
        name: 'projection',
        store: postgresStore({ pool }),
      }),
    );
    await until(() => projection.values.at(-1)?.isCaughtUp === true);
    projection.subscription.unsubscribe();
    await until(async () => (await lineOf('projection')).endsWith('\tstopped'));
    expect(await cli('rewind', '--name', 'projection', '--to', '1')).toEqual([
      1,
      'canton-rx: the processor projection follows contracts, and its rows would be doubled; canton-rx processors reset --name projection loads them again\n',
    ]);
    await pool.query(
      `UPDATE canton_rx_cursors SET cursor = '{"version":1,"offset":9,"recordTimes":{},"selection":"fnv1a:0","actions":[]}' WHERE name = 'projection'`,
    );
    expect(await cli('rewind', '--name', 'projection', '--to', '1')).toEqual([
      1,
      expect.stringContaining('has no cursor of a feed of updates'),
    ]);
    await pool.query(
      `UPDATE canton_rx_cursors SET cursor = '{"version":1,"offset":9,"recordTimes":{},"selection":"fnv1a:0","seen":[{"updateFormat":{},"after":0},{"updateFormat":{},"after":0,"until":4}]}' WHERE name = 'projection'`,
    );
    expect(await cli('rewind', '--name', 'projection', '--to', '1')).toEqual([
      1,
      expect.stringContaining('has the selections of its backfills, which a rewind would make wrong'),
    ]);
    expect(await cli('skip', '--name', 'projection', '--after', '9', '--offset', '12')).toEqual([
      1,
      expect.stringContaining('handles the past of a changed request, and no later update yet'),
    ]);
    for (const line of [['pause'], ['rewind', '--to', '1']])
      expect(await cli(...line, '--name', 'nothing\u009b')).toEqual([
        1,
        expect.stringContaining('the schema public has no cursor of the processor nothing\\u{9b}'),
      ]);
    expect(await cli('pause')).toEqual([2, 'canton-rx: --name is required\n']);
    expect(await cli('rewind', '--name', 'projection')).toEqual([2, 'canton-rx: --to is required\n']);
  });
});
