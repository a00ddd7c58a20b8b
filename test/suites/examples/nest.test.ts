import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { effort } from '../../helpers/effort.js';
import { httpServer, sandboxes, switchableProxy } from '../../helpers/localServers.js';
import { describeWithPostgres } from '../../helpers/postgresServer.js';
import { eventually, until } from '../../helpers/time.js';
import { world } from '../crash/world.js';
import { becomes, canary, type Database, lockContracts, nestExample, readStatus, statusOf } from './nest/example.js';
import { readExpected, readStored, readUpdates } from './nest/expected.js';
import { killParameters, type Kills, runWithKills, type Service, startService } from './nest/service.js';
import { describeUpdateStream } from './nest/updateStream.js';

/** The longest that a service may take to end, in milliseconds: for its work, for its pool, and much for a slow machine. */
const stopLimitMs = 5_000 + 1_000 + 40_000;

const example = nestExample();
const { folder, installedAt, server, newDatabase, start, given } = example;
const newSandbox = sandboxes();

const isUnready = async (one: Service): Promise<void> => {
  await becomes(one, '/readyz', 503);
  expect(await statusOf(one, '/livez')).toBe(200);
};

function expectGoodEnds({ terms }: Kills): void {
  const listening = terms.filter(({ wasListening }) => wasListening);
  expect(listening.length).toBeGreaterThan(0);
  expect(listening.filter(({ code }) => code !== 0)).toEqual([]);
  // a service that has just started may not handle the signal yet
  expect(terms.filter(({ code, signal }) => code !== 0 && signal !== 'SIGTERM')).toEqual([]);
  expect(Math.max(...terms.map(({ tookMs }) => tookMs))).toBeLessThan(stopLimitMs);
}

const latestOffset = async ({ pool }: Database): Promise<number> => {
  const { rows } = await pool.query<{ latest: string | null }>('SELECT contracts.latest_offset() AS latest');
  return Number(rows[0]?.latest ?? 0);
};

/** Waits until the tables have what the ledger has. */
const hasAll = async ({ pool }: Database, sandbox: Sandbox): Promise<void> => {
  const { active } = await readExpected(sandbox.url, sandbox.ledgerEnd);
  await eventually(async () => (await readStored(pool)).active, active);
};

describeWithPostgres('the projection', () => {
  const many = killParameters({ kills: effort(20, 20, 6), updates: effort(8_000, 8_000, 2_400) });
  it(
    'has each contract, archival and exercise once, however often it is ended, by either signal (G51)',
    async () => {
      const database = await newDatabase();
      const given = await world(many);
      try {
        const settings = { LEDGER_URL: given.sandbox.url, DATABASE_URL: database.url };
        const { last, ...ends } = await runWithKills(() => start(settings), given, many);
        expectGoodEnds(ends);
        await given.entries();
        await becomes(last, '/readyz', 200);
        await hasAll(database, given.sandbox);
        const { oldest, ...stored } = await readStored(database.pool);
        expect(stored).toEqual(await readExpected(given.sandbox.url, given.end(), oldest));
      } finally {
        await given.close();
      }
    },
    many.timeoutMs,
  );

  it('fails /readyz, but not /livez, while the ledger or the database is down or a statement hangs', async () => {
    const { sandbox, ledger, database, one } = await given();
    ledger.disconnect();
    await isUnready(one);
    ledger.reconnect();
    await becomes(one, '/readyz', 200);

    const unlock = await lockContracts(database);
    sandbox.generate(5);
    await isUnready(one);
    await unlock();
    await becomes(one, '/readyz', 200);

    await server().crash();
    await isUnready(one);
    sandbox.generate(5);
    await server().start();
    await becomes(one, '/readyz', 200);
    // within READY_BEHIND_MS it is ready before it has caught up
    await hasAll(database, sandbox);
  });

  it('says what it waits for while the ledger is down, and no lag', async () => {
    const { ledger, one } = await given();
    ledger.disconnect();
    await becomes(one, '/readyz', 503);
    const { waitsFor } = (await (await fetch(`${one.statusUrl}/readyz`)).json()) as { waitsFor: readonly object[] };
    expect(waitsFor).toEqual([expect.objectContaining({ name: 'processor contracts' })]);
    expect(await readStatus(one)).not.toContain('lagOffsets');
  });

  it('is ready for a while after it has seen the ledger, but its lag is unknown', async () => {
    const { sandbox, ledger, one } = await given(() => ({ READY_UNSEEN_MS: '60000' }));
    ledger.disconnect();
    sandbox.generate(5);
    await until(async () => !(await readStatus(one)).includes('lagOffsets'));
    expect(await statusOf(one, '/readyz')).toBe(200);
    ledger.reconnect();
    await until(async () => (await readStatus(one)).includes('"lagOffsets":0'));
  });

  it('finishes its current update on SIGTERM, and handles no other (G51)', async () => {
    const { sandbox, database, one } = await given();
    const before = await latestOffset(database);

    const unlock = await lockContracts(database);
    sandbox.generate(5);
    const current = sandbox.ledgerEnd;
    await until(async () => {
      const found = await database.pool.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
      return found.rows.length > 0;
    });
    sandbox.generate(5);
    const ending = one.kill('SIGTERM');
    await becomes(one, '/readyz', 503);
    expect(one.isOver()).toBe(false);
    await unlock();
    expect(await ending).toMatchObject({ code: 0 });
    const after = await latestOffset(database);
    // the first of the five may be handled in a commit of its own
    expect(after).toBeGreaterThan(before);
    expect(after).toBeLessThanOrEqual(current);
  });

  it('may start before its database and its ledger', async () => {
    const database = await newDatabase();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const ledger = await switchableProxy(sandbox.url);
    ledger.disconnect();
    await server().crash();
    const one = await start({ LEDGER_URL: ledger.url, DATABASE_URL: database.url });
    await isUnready(one);
    await server().start();
    ledger.reconnect();
    await becomes(one, '/readyz', 200);
    await hasAll(database, sandbox);
    ledger.close();
  });

  it('stands by while another instance works, and takes over', async () => {
    const { sandbox, database, settings, one: first } = await given();
    const second = await start(settings);
    await second.ready();
    sandbox.generate(50);
    await hasAll(database, sandbox);
    await until(async () => (await readStatus(second)).includes('"role":"standby"'));
    await becomes(second, '/readyz', 200);
    await first.kill('SIGKILL');
    sandbox.generate(50);
    await becomes(second, '/readyz', 200);
    await hasAll(database, sandbox);
  });

  it('ends in time while the database hangs, with the code 1 if it aborts a commit that is in flight', async () => {
    const { sandbox, one } = await given(() => ({ STOP_WITHIN_MS: '1000' }));
    const pages = () => one.logs().split(/"processor":"contracts","msg":"PageReceived"/).length;
    await server().pause();
    try {
      const before = pages();
      sandbox.generate(5);
      await until(() => pages() > before);
      const { code, tookMs } = await one.kill('SIGTERM');
      // the page is received, and its commit may not have begun
      expect([0, 1]).toContain(code);
      expect(one.logs().includes('and was aborted')).toBe(code === 1);
      expect(tookMs).toBeLessThan(stopLimitMs);
    } finally {
      await server().resume();
    }
  });

  it('ends in time while the database is down', async () => {
    const { sandbox, one } = await given(() => ({ STOP_WITHIN_MS: '1000' }));
    await server().crash();
    try {
      // updates that cannot be committed
      sandbox.generate(5);
      const { code, tookMs } = await one.kill('SIGTERM');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(stopLimitMs);
    } finally {
      await server().start();
    }
  });

  it('ends in time while the ledger is down or does not answer', async () => {
    const sandbox = await newSandbox();
    for (const breakIt of [() => void sandbox.restart({ downMs: 60_000 }), () => undefined]) {
      sandbox.fault({ kind: 'hang' }, { times: 1_000 });
      const one = await start({ LEDGER_URL: sandbox.url, DATABASE_URL: (await newDatabase()).url });
      await one.ready();
      breakIt();
      await becomes(one, '/readyz', 503);
      const ending = await one.kill('SIGTERM');
      expect(ending.code).toBe(0);
      expect(ending.tookMs).toBeLessThan(stopLimitMs);
    }
  });
});

describeUpdateStream(example);

describeWithPostgres('the token', () => {
  it('is read for every request, and occurs in no log, metric or span', async () => {
    const spans: string[] = [];
    const collector = await httpServer((_, response, body) => {
      spans.push(body);
      response.end('{}');
    });
    const file = join(folder(), 'token-that-changes');
    await writeFile(file, `${canary}-old`);
    let valid = `${canary}-old`;
    const sandbox = await newSandbox({ checkToken: (token) => token === valid });
    sandbox.generate(20);
    const database = await newDatabase();
    const one = await start({
      LEDGER_URL: sandbox.url,
      DATABASE_URL: database.url,
      LEDGER_TOKEN_FILE: file,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    });
    await becomes(one, '/readyz', 200);
    await writeFile(file, `${canary}-new`);
    valid = `${canary}-new`;
    sandbox.generate(20);
    const changes = (await readUpdates(sandbox.url, sandbox.ledgerEnd, 0, valid)).filter(
      ({ _tag }) => _tag === 'Transaction',
    );
    const last = changes.at(-1)?.offset ?? Infinity;
    await until(async () => (await latestOffset(database)) >= last);

    const metrics = await (await fetch(`${one.statusUrl}/metrics`)).text();
    expect(metrics).toMatch(/^canton_rx_handler_duration_seconds_count\{.*\} [1-9]/m);
    expect(metrics).not.toContain(canary);
    expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
    await collector.close();
    expect(spans.join('')).toContain('traceId');
    expect(spans.join('')).not.toContain(canary);
  });

  it('ends the service with an error when the ledger refuses it', async () => {
    const sandbox = await newSandbox({ checkToken: () => false });
    const one = await start({ LEDGER_URL: sandbox.url, DATABASE_URL: (await newDatabase()).url });
    await until(one.isOver);
    expect(one.exitCode()).toBe(1);
    expect(one.logs()).toContain('UnauthorizedError');
  });
});

describeWithPostgres('the configuration', () => {
  it('is validated at the start', async () => {
    for (const name of ['PORT', 'LEDGER_URL', 'READY_BEHIND_MS']) {
      const one = await startService(installedAt(), { [name]: 'nonsense' });
      await until(one.isOver);
      expect(one.exitCode()).toBe(1);
      expect(one.logs()).toContain(name);
    }
  });

  it('ignores empty variables and spaces', async () => {
    const names = ['LEDGER_TOKEN_FILE', 'LEDGER_TOKEN', 'PARTY', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
    const parties: string[] = [];
    const { sandbox } = await given((ledger) => {
      parties.push(...['frank', 'grace'].map((hint) => ledger.externalParty(hint).party));
      return { ...Object.fromEntries(names.map((name) => [name, ''])), PARTIES: parties.join(', ') };
    });
    const bodies = JSON.stringify(sandbox.requests.map(({ body }) => body));
    for (const party of parties) expect(bodies).toContain(JSON.stringify(party));
    await given(() => ({ PARTIES: '' }));
  });
});
