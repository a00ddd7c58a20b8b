import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import type { Sandbox, SandboxRequest } from '../../../src/sandbox/index.js';
import { sandboxes, switchableProxy } from '../../helpers/localServers.js';
import {
  describeWithPostgres,
  hasPostgres,
  postgresServer,
  type PostgresServer,
} from '../../helpers/postgresServer.js';
import { eventually, until } from '../../helpers/time.js';
import { world } from '../crash/world.js';
import { countContracts, readExpected, readUpdates } from './nest/expected.js';
import { killParameters, type Kills, runWithKills, type Service, startService } from './nest/service.js';
import { openSlowStream, openStream, type Stream } from './nest/stream.js';

const exec = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..');
const canary = 'canary-7f3a';
const clientCanary = 'canary-of-a-client-91bd';

/** The longest that a service may take to end, in milliseconds: for its work, for its pool, and for a slow machine. */
const stopLimitMs = 5_000 + 1_000 + 10_000;

let folder: string;
let server: PostgresServer;
let pool: Pool;
const services: Service[] = [];
const newSandbox = sandboxes();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'canton-rx-nest-'));
  const install = join(root, 'docs', 'examples', 'install.mjs');
  const env = { ...process.env, npm_config_prefer_offline: 'true' };
  await exec(process.execPath, [install, 'nest', join(folder, 'service')], { cwd: root, env });
  await writeFile(join(folder, 'token'), `${canary}-1\n`);
  if (!hasPostgres) return;
  server = await postgresServer();
  pool = new Pool({ connectionString: server.url });
  pool.on('error', () => undefined);
}, 400_000);

afterEach(async () => {
  await Promise.all(services.filter(({ isOver }) => !isOver()).map(({ kill }) => kill('SIGKILL')));
  // the logs of every service, in every test
  const logs = services.splice(0).map((service) => service.logs());
  expect(logs.every((text) => text.includes('Starting Nest') || text === '')).toBe(true);
  expect(logs.join('')).not.toContain(canary);
  expect(logs.join('')).not.toContain(clientCanary);
});

afterAll(async () => {
  if (hasPostgres) {
    await pool.end();
    await server.stop();
  }
  await rm(folder, { recursive: true, force: true });
});

/** Starts a service with timeouts for tests. */
async function start(settings: Readonly<Record<string, string>>): Promise<Service> {
  const one = await startService(join(folder, 'service'), {
    LEDGER_TOKEN_FILE: join(folder, 'token'),
    LEDGER_TIMEOUT_MS: '1000',
    STATUS_EVERY_MS: '200',
    READY_UNSEEN_MS: '1000',
    READY_BEHIND_MS: '2000',
    HEARTBEAT_MS: '200',
    ...settings,
  });
  services.push(one);
  return one;
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const statusOf = async ({ url }: Service, path: string): Promise<number> => {
  const { status, body } = await fetch(`${url}${path}`);
  await body?.cancel();
  return status;
};

const becomes = (one: Service, path: string, status: number): Promise<void> =>
  until(async () => (await statusOf(one, path).catch(() => 0)) === status);

const active = async ({ url }: Service): Promise<unknown> => (await fetch(`${url}/contracts`)).json();

function expectGoodEnds({ terms }: Kills): void {
  const listening = terms.filter(({ wasListening }) => wasListening);
  expect(listening.length).toBeGreaterThan(0);
  expect(listening.filter(({ code }) => code !== 0)).toEqual([]);
  // a service that has just started may not handle the signal yet
  expect(terms.filter(({ code, signal }) => code !== 0 && signal !== 'SIGTERM')).toEqual([]);
  expect(Math.max(...terms.map(({ tookMs }) => tookMs))).toBeLessThan(stopLimitMs);
}

describeWithPostgres('with PostgreSQL', () => {
  const url = (): string => server.url;

  const freshTables = (): Promise<unknown> =>
    pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, history, contracts');

  const offsets = async (): Promise<readonly number[]> => {
    const { rows } = await pool.query<{ offset: number }>('SELECT "offset"::int AS "offset" FROM history ORDER BY n');
    return rows.map(({ offset }) => offset);
  };

  const many = killParameters({ kills: 20, updates: 8_000 });
  it(
    'has each update take effect once, however often it is ended, by either signal',
    async () => {
      await freshTables();
      const given = await world(many);
      try {
        const settings = { LEDGER_URL: given.sandbox.url, DATABASE_URL: url() };
        const { last, ...ends } = await runWithKills(() => start(settings), given, many);
        expectGoodEnds(ends);
        await given.entries();
        await becomes(last, '/ready', 200);
        const { history, contracts } = await readExpected(given.sandbox.url, given.end());
        await until(async () => {
          const { rows } = await pool.query<{ last: number | null }>('SELECT max("offset")::int AS last FROM history');
          return rows[0]?.last === history.at(-1)?.offset;
        });
        const { rows } = await pool.query(
          `SELECT "offset"::int AS "offset", update_id AS "updateId", kind, changes FROM history ORDER BY n`,
        );
        expect(rows).toEqual(history);
        const kept = await pool.query<{ key: string; templateId: string; payload: unknown }>(
          `SELECT contract_id || ' ' || synchronizer_id AS key, template_id AS "templateId", payload FROM contracts`,
        );
        expect(new Map(kept.rows.map(({ key, ...rest }) => [key, rest]))).toEqual(contracts);
      } finally {
        await given.close();
      }
    },
    many.timeoutMs,
  );

  it('fails /ready, but not /health, while the ledger or the database is down or a statement hangs', async () => {
    await freshTables();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const ledger = await switchableProxy(sandbox.url);
    const one = await start({ LEDGER_URL: ledger.url, DATABASE_URL: url() });
    await becomes(one, '/ready', 200);

    ledger.disconnect();
    await becomes(one, '/ready', 503);
    expect(await statusOf(one, '/health')).toBe(200);
    ledger.reconnect();
    await becomes(one, '/ready', 200);

    const client = await pool.connect();
    await client.query('BEGIN; LOCK TABLE history');
    sandbox.generate(5);
    await becomes(one, '/ready', 503);
    expect(await statusOf(one, '/health')).toBe(200);
    await client.query('COMMIT');
    client.release();
    await becomes(one, '/ready', 200);

    await server.crash();
    await becomes(one, '/ready', 503);
    expect(await statusOf(one, '/health')).toBe(200);
    sandbox.generate(5);
    await server.start();
    await becomes(one, '/ready', 200);
    const { history } = await readExpected(sandbox.url, sandbox.ledgerEnd);
    // within READY_BEHIND_MS it is ready before it has caught up
    await eventually(
      offsets,
      history.map(({ offset }) => offset),
    );
    ledger.close();
  });

  it('finishes its current update on SIGTERM, and handles no other', async () => {
    await freshTables();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const one = await start({ LEDGER_URL: sandbox.url, DATABASE_URL: url() });
    await becomes(one, '/ready', 200);
    const before = await offsets();

    const client = await pool.connect();
    await client.query('BEGIN; LOCK TABLE history IN EXCLUSIVE MODE');
    const waiting = async (): Promise<boolean> => {
      const found = await client.query(`SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'`);
      return found.rows.length > 0;
    };
    sandbox.generate(5);
    const current = await readUpdates(sandbox.url, sandbox.ledgerEnd, before.at(-1));
    await until(waiting);
    sandbox.generate(5);
    const ending = one.kill('SIGTERM');
    await becomes(one, '/ready', 503);
    expect(one.isOver()).toBe(false);
    await client.query('COMMIT');
    client.release();
    expect(await ending).toMatchObject({ code: 0 });
    const after = await offsets();
    // the first of the five may be handled in a commit of its own
    expect(after.length).toBeGreaterThan(before.length);
    expect(after).toEqual([...before, ...current.map(({ offset }) => offset)].slice(0, after.length));
  });

  it('may start before its database and its ledger', async () => {
    await freshTables();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const ledger = await switchableProxy(sandbox.url);
    ledger.disconnect();
    await server.crash();
    const one = await start({ LEDGER_URL: ledger.url, DATABASE_URL: url() });
    await becomes(one, '/ready', 503);
    expect(await statusOf(one, '/health')).toBe(200);
    await server.start();
    ledger.reconnect();
    await becomes(one, '/ready', 200);
    const all = await readUpdates(sandbox.url, sandbox.ledgerEnd);
    await eventually(
      offsets,
      all.map(({ offset }) => offset),
    );
    ledger.close();
  });

  it('stands by while another instance works, and takes over', async () => {
    await freshTables();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const settings = { LEDGER_URL: sandbox.url, DATABASE_URL: url() };
    const first = await start(settings);
    await becomes(first, '/ready', 200);
    const second = await start(settings);
    await second.ready();
    sandbox.generate(50);
    const all = (await readUpdates(sandbox.url, sandbox.ledgerEnd)).map(({ offset }) => offset);
    await until(async () => (await offsets()).length === all.length);
    expect(await (await fetch(`${second.url}/ready`)).json()).toMatchObject({
      details: { ledger: { state: 'waiting' } },
    });
    await first.kill('SIGKILL');
    sandbox.generate(50);
    await becomes(second, '/ready', 200);
    const more = (await readUpdates(sandbox.url, sandbox.ledgerEnd)).map(({ offset }) => offset);
    await until(async () => (await offsets()).length >= more.length);
    expect(await offsets()).toEqual(more);
  });

  it.each([
    ['the database hangs', () => server.pause(), () => server.resume()],
    ['the database is down', () => server.crash(), () => server.start()],
  ])('ends in time while %s', async (_, breakIt, repair) => {
    await freshTables();
    const sandbox = await newSandbox();
    sandbox.generate(50);
    const one = await start({ LEDGER_URL: sandbox.url, DATABASE_URL: url(), STOP_WITHIN_MS: '1000' });
    await becomes(one, '/ready', 200);
    await breakIt();
    try {
      // updates that cannot be committed
      sandbox.generate(5);
      const { code, tookMs } = await one.kill('SIGTERM');
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(stopLimitMs);
    } finally {
      await repair();
    }
  });
});

describe('with files', () => {
  const journal = async (data: string): Promise<readonly unknown[]> =>
    (await readFile(join(data, 'contracts.jsonl'), 'utf8'))
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));

  const some = killParameters({ kills: 6, updates: 3_000 });
  it(
    'loses nothing and ends cleanly, no matter how often it is ended',
    async () => {
      const given = await world(some);
      const data = await mkdtemp(join(folder, 'data-'));
      try {
        const settings = { LEDGER_URL: given.sandbox.url, DATA_FOLDER: data };
        const { last, ...ends } = await runWithKills(() => start(settings), given, some);
        expectGoodEnds(ends);
        await given.entries();
        const kept = await readExpected(given.sandbox.url, given.end());
        await until(async () => (await journal(data)).length >= kept.history.length);
        expect(await journal(data)).toEqual(kept.history);
        await becomes(last, '/ready', 200);
        expect(await active(last)).toEqual(countContracts(kept));
      } finally {
        await given.close();
      }
    },
    some.timeoutMs,
  );

  it('repeats nothing after a crash between the journal and the saved position, or within a line', async () => {
    const data = await mkdtemp(join(folder, 'data-'));
    const sandbox = await newSandbox();
    const position = join(data, 'contracts.json');
    const run = async (): Promise<unknown> => {
      sandbox.generate(50);
      const one = await start({ LEDGER_URL: sandbox.url, DATA_FOLDER: data });
      await becomes(one, '/ready', 200);
      const counts = await active(one);
      expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
      return counts;
    };
    await run();
    const before = await readFile(position, 'utf8');
    await run();
    await writeFile(position, before);
    await appendFile(join(data, 'contracts.jsonl'), `{"offset":7,"changes":"${'x'.repeat(1_000_000)}`);
    const counts = await run();
    const kept = await readExpected(sandbox.url, sandbox.ledgerEnd);
    expect(await readFile(join(data, 'contracts.jsonl'), 'utf8')).toMatch(/\}\n$/);
    expect(await journal(data)).toEqual(kept.history);
    expect(counts).toEqual(countContracts(kept));
  });

  it('ends in time while the ledger is down or does not answer', async () => {
    const sandbox = await newSandbox();
    for (const breakIt of [() => void sandbox.restart({ downMs: 60_000 }), () => undefined]) {
      sandbox.fault({ kind: 'hang' }, { times: 1_000 });
      const one = await start({ LEDGER_URL: sandbox.url, DATA_FOLDER: await mkdtemp(join(folder, 'data-')) });
      await one.ready();
      breakIt();
      await becomes(one, '/ready', 503);
      const ending = await one.kill('SIGTERM');
      expect(ending.code).toBe(0);
      expect(ending.tookMs).toBeLessThan(stopLimitMs);
    }
  });
});

describe('the stream of updates', () => {
  let sandbox: Sandbox;
  let one: Service;
  const idsOf = ({ messages }: Stream): readonly number[] =>
    messages.filter(({ data }) => data !== undefined).map(({ id }) => Number(id));
  const offsetsAfter = async (begin: number): Promise<readonly number[]> =>
    (await readUpdates(sandbox.url, sandbox.ledgerEnd, begin)).map(({ offset }) => offset);
  const given = async (more: Readonly<Record<string, string>> = {}): Promise<Record<string, string>> => {
    sandbox = await newSandbox();
    sandbox.generate(300);
    const settings = { LEDGER_URL: sandbox.url, DATA_FOLDER: await mkdtemp(join(folder, 'data-')), ...more };
    one = await start(settings);
    await becomes(one, '/ready', 200);
    return { ...settings, PORT: new URL(one.url).port };
  };

  it('resumes by Last-Event-ID without loss or repetition, over a reconnection and a restart of the service', async () => {
    const settings = await given();
    const begin = 100;
    const seen: number[] = [];
    const live = await openStream(`${one.url}/updates`);
    await until(() => live.messages.length > 0);
    const first = await openStream(`${one.url}/updates?after=${begin}`, { authorization: `Bearer ${clientCanary}` });
    expect(first.status).toBe(200);
    const end = sandbox.ledgerEnd;
    sandbox.generate(40);
    await until(() => first.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    seen.push(...idsOf(first));
    first.close();
    // without a position, new updates only
    await until(() => live.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    live.close();
    expect(idsOf(live)).toEqual(await offsetsAfter(end));

    sandbox.generate(40);
    const second = await openStream(`${one.url}/updates`, { 'last-event-id': String(first.messages.at(-1)?.id) });
    await until(() => idsOf(second).length > 10);
    expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
    await second.over;
    seen.push(...idsOf(second));

    sandbox.generate(1_500);
    one = await start(settings);
    await one.ready();
    const third = await openStream(`${one.url}/updates`, { 'last-event-id': String(second.messages.at(-1)?.id) });
    sandbox.generate(10);
    await until(() => third.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    seen.push(...idsOf(third));
    expect(seen).toEqual(await offsetsAfter(begin));
  });

  it('has the selected updates, and reports its position where there are none', async () => {
    await given();
    const all = await readUpdates(sandbox.url, sandbox.ledgerEnd);
    const expectSelected = async (query: string, wanted: (update: (typeof all)[number]) => boolean): Promise<void> => {
      const selected = await openStream(`${one.url}/updates?after=0&${query}`);
      await until(() => selected.messages.at(-1)?.id === String(sandbox.ledgerEnd));
      selected.close();
      expect(idsOf(selected)).toEqual(all.filter(wanted).map(({ offset }) => offset));
      expect(idsOf(selected).length).toBeGreaterThan(0);
    };
    const [synchronizer = ''] = sandbox.synchronizers;
    await expectSelected('variant=Reassignment&variant=TopologyTransaction', ({ _tag }) => _tag !== 'Transaction');
    await expectSelected(
      `synchronizer=${encodeURIComponent(synchronizer)}`,
      (update) => 'synchronizerId' in update && update.synchronizerId === synchronizer,
    );
    await expectSelected('variant=Transaction&template=Tasks.Model:Task', (update) =>
      update._tag === 'Transaction' ? JSON.stringify(update.events).includes(':Tasks.Model:Task"') : false,
    );
    for (const bad of ['variant=Nonsense', 'template=Nonsense', 'after=-1']) {
      expect(await statusOf(one, `/updates?${bad}`)).toBe(400);
    }
    const badly = await fetch(`${one.url}/updates`, { headers: { 'last-event-id': 'nonsense' } });
    expect(badly.status).toBe(400);
  });

  it('reports a position that the ledger has pruned', async () => {
    await given();
    sandbox.prune(100);
    const late = await openStream(`${one.url}/updates?after=5`);
    await late.over;
    expect(late.messages.at(-1)).toEqual({
      id: '5',
      type: 'failure',
      data: JSON.stringify({ reason: 'PrunedError', earliestOffset: 100 }),
    });
  });

  it('makes a client for new updates reconnect while the ledger is down', async () => {
    sandbox = await newSandbox();
    sandbox.generate(300);
    const ledger = await switchableProxy(sandbox.url);
    one = await start({ LEDGER_URL: ledger.url, DATA_FOLDER: await mkdtemp(join(folder, 'data-')) });
    await becomes(one, '/ready', 200);
    ledger.disconnect();
    const early = await openStream(`${one.url}/updates`);
    expect(early.status).toBe(200);
    await early.over;
    // a browser does not send an empty id
    const data = JSON.stringify({ reason: 'ConnectionError' });
    expect(early.messages).toEqual([{ id: '', type: 'failure', data }]);
    ledger.reconnect();
    const later = await openStream(`${one.url}/updates`);
    await until(() => later.messages.length > 0);
    expect(later.messages[0]).toMatchObject({ id: String(sandbox.ledgerEnd), data: undefined });
    later.close();
    ledger.close();
  });

  it('needs one request to the ledger for many clients, and none without clients', async () => {
    await given();
    const polls = (): number =>
      sandbox.requests.filter((request) => {
        const isPoll = request.path.startsWith('/v2/updates') && 'stream_idle_timeout_ms' in request.query;
        return isPoll && request.status === undefined && !request.aborted;
      }).length;
    // the projection's poll
    await until(() => polls() === 1);
    const clients = await Promise.all(Array.from({ length: 10 }, () => openStream(`${one.url}/updates`)));
    await until(() => polls() === 2);
    sandbox.generate(1);
    await until(() => clients.every((client) => idsOf(client).length === 1));
    await until(() => polls() === 2);
    for (const { close } of clients) close();
    await until(() => polls() === 1);
  });

  it('aborts the request of a client that disconnects while it catches up', async () => {
    // not by a timeout
    await given({ LEDGER_TIMEOUT_MS: '60000' });
    sandbox.fault({ kind: 'hang' }, { path: /^\/v2\/updates/, times: 100 });
    const late = await openStream(`${one.url}/updates?after=5`);
    const request = (): SandboxRequest | undefined =>
      sandbox.requests.find(({ body }) => isObject(body) && body['beginExclusive'] === 5);
    await until(() => request() !== undefined);
    expect(request()?.aborted).toBe(false);
    late.close();
    await until(() => request()?.aborted === true);
  });

  it('waits for a slow client, and buffers nothing that the ledger has', async () => {
    await given();
    const begin = sandbox.ledgerEnd;
    sandbox.generate(8_000);
    // more than Nest buffers for a client before it closes the connection
    expect(JSON.stringify(sandbox.updates).length).toBeGreaterThan(10_000_000);
    const pages = (): number => sandbox.requests.filter(({ body }) => isObject(body) && 'endInclusive' in body).length;
    const slow = await openSlowStream(`${one.url}/updates?after=${begin}`, async () => {
      // until the service stops reading, which has no event
      for (let before = -1; before < pages();) {
        before = pages();
        await wait(200);
      }
    });
    await until(() => slow.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    expect(idsOf(slow)).toEqual(await offsetsAfter(begin));
    slow.close();
  });

  it('serves a client that lags by less than is kept without another request', async () => {
    await given();
    const begin = sandbox.ledgerEnd;
    const first = await openStream(`${one.url}/updates`);
    await until(() => first.messages.length > 0);
    sandbox.generate(700);
    await until(() => first.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    const before = sandbox.requests.length;
    const second = await openStream(`${one.url}/updates?after=${begin}`);
    await until(() => second.messages.at(-1)?.id === String(sandbox.ledgerEnd));
    expect(idsOf(second)).toEqual(await offsetsAfter(begin));
    expect(idsOf(first)).toEqual(idsOf(second));
    const requests = sandbox.requests
      .slice(before)
      .filter(({ body }) => isObject(body) && body['beginExclusive'] === begin);
    // the test's own request
    expect(requests.length).toBeLessThanOrEqual(1);
  });
});

describe('the token', () => {
  it('is read for every request, and occurs in no log, metric or span', async () => {
    const spans: string[] = [];
    const collector = createServer((request, response) => {
      request.setEncoding('utf8').on('data', (text: string) => spans.push(text));
      request.on('end', () => response.end('{}'));
    }).listen(0, '127.0.0.1');
    await once(collector, 'listening');
    const address = collector.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const file = join(folder, 'token-that-changes');
    await writeFile(file, `${canary}-old`);
    let valid = `${canary}-old`;
    const sandbox = await newSandbox({ checkToken: (token) => token === valid });
    sandbox.generate(20);
    const settings = { LEDGER_URL: sandbox.url, DATA_FOLDER: await mkdtemp(join(folder, 'data-')) };
    const one = await start({
      ...settings,
      LEDGER_TOKEN_FILE: file,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    });
    await becomes(one, '/ready', 200);
    await writeFile(file, `${canary}-new`);
    valid = `${canary}-new`;
    sandbox.generate(20);
    const last = (await readUpdates(sandbox.url, sandbox.ledgerEnd, 0, valid)).at(-1)?.offset;
    const journal = join(settings.DATA_FOLDER, 'contracts.jsonl');
    await until(async () => (await readFile(journal, 'utf8')).includes(`{"offset":${last},`));

    const metrics = await (await fetch(`${one.url}/metrics`)).text();
    expect(metrics).toMatch(/^canton_rx_updates_total\{.*\} [1-9]/m);
    expect(metrics).not.toContain(canary);
    expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
    collector.close();
    expect(spans.join('')).toContain('traceId');
    expect(spans.join('')).not.toContain(canary);
  });

  it('ends the service with an error when the ledger refuses it', async () => {
    const sandbox = await newSandbox({ checkToken: () => false });
    const one = await start({ LEDGER_URL: sandbox.url, DATA_FOLDER: await mkdtemp(join(folder, 'data-')) });
    await until(one.isOver);
    expect(one.exitCode()).toBe(1);
    expect(one.logs()).toContain('UnauthorizedError');
  });
});

describe('the configuration', () => {
  it('is validated at the start', async () => {
    for (const name of ['PORT', 'LEDGER_URL', 'READY_BEHIND_MS']) {
      const one = await startService(join(folder, 'service'), { [name]: 'nonsense' });
      await until(one.isOver);
      expect(one.exitCode()).toBe(1);
      expect(one.logs()).toContain(name);
    }
  });

  it('ignores empty variables and spaces', async () => {
    const sandbox = await newSandbox();
    sandbox.generate(20);
    const parties = ['frank', 'grace'].map((hint) => sandbox.externalParty(hint).party);
    const one = await start({
      LEDGER_URL: sandbox.url,
      DATA_FOLDER: await mkdtemp(join(folder, 'data-')),
      ...Object.fromEntries(
        ['LEDGER_TOKEN_FILE', 'LEDGER_TOKEN', 'DATABASE_URL', 'OTEL_EXPORTER_OTLP_ENDPOINT'].map((name) => [name, '']),
      ),
      PARTIES: parties.join(', '),
    });
    await becomes(one, '/ready', 200);
    const bodies = JSON.stringify(sandbox.requests.map(({ body }) => body));
    for (const party of parties) expect(bodies).toContain(JSON.stringify(party));
    const other = await start({
      LEDGER_URL: sandbox.url,
      DATA_FOLDER: await mkdtemp(join(folder, 'data-')),
      PARTIES: '',
    });
    await becomes(other, '/ready', 200);
  });
});
