import { execFile } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { Pool } from 'pg';
import type { Sandbox } from '../../../../src/sandbox/index.js';
import { sandboxes, type SwitchableProxy, switchableProxy } from '../../../helpers/localServers.js';
import { hasPostgres, postgresServer, type PostgresServer } from '../../../helpers/postgresServer.js';
import { until } from '../../../helpers/time.js';
import { type Service, startService } from './service.js';

const exec = promisify(execFile);
const root = join(import.meta.dirname, '..', '..', '..', '..');

/** A folder with the examples, installed and built already. */
const examples = process.env['CANTON_RX_EXAMPLES'];

/** What must not be in any log, metric or span: the tokens of the service, and that of a client. */
export const canary = 'canary-7f3a';
export const clientCanary = 'canary-of-a-client-91bd';

/** A database of a test. */
export interface Database {
  readonly url: string;
  readonly pool: Pool;
}

export type Settings = Readonly<Record<string, string>>;

/** A service that is ready, with its ledger and its database. */
export interface Given {
  readonly sandbox: Sandbox;
  /** The proxy by which the service reads the sandbox. */
  readonly ledger: SwitchableProxy;
  readonly database: Database;
  /** With which another process continues. */
  readonly settings: Settings;
  readonly one: Service;
}

/** The example, installed once for a file of tests, with a database server. */
export interface Example {
  /** A folder for the files of tests. */
  readonly folder: () => string;
  readonly installedAt: () => string;
  readonly server: () => PostgresServer;
  readonly newDatabase: () => Promise<Database>;
  /** Starts a service with timeouts for tests. */
  readonly start: (settings: Settings) => Promise<Service>;
  /** Starts a service on a ledger of its own, which has 50 generated updates by default. */
  readonly given: (settings?: (sandbox: Sandbox) => Settings, updates?: number) => Promise<Given>;
}

/** Installs the example before all tests of a file, and ends after each test what it has started. Call it at the top. */
export function nestExample(): Example {
  let folder: string;
  let server: PostgresServer;
  let databases = 0;
  const services: Service[] = [];
  const pools: Pool[] = [];
  const proxies: SwitchableProxy[] = [];
  const newSandbox = sandboxes();
  const installedAt = (): string => (examples === undefined ? join(folder, 'service') : join(examples, 'nest'));

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'canton-rx-nest-'));
    // the database of the example runs as a user of its own where the tests run as root
    await chmod(folder, 0o755);
    const install = join(root, 'docs', 'examples', 'install.mjs');
    const env = { ...process.env, npm_config_prefer_offline: 'true' };
    if (examples === undefined) await exec(process.execPath, [install, 'nest', installedAt()], { cwd: root, env });
    await writeFile(join(folder, 'token'), `${canary}-1\n`);
    if (hasPostgres) server = await postgresServer();
  }, 400_000);

  afterEach(async () => {
    await Promise.all(services.filter(({ isOver }) => !isOver()).map(({ kill }) => kill('SIGKILL')));
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
    for (const { close } of proxies.splice(0)) close();
    // the logs of every service, in every test
    const logs = services.splice(0).map((service) => service.logs());
    expect(logs.every((text) => text.includes('Starting Nest') || text === '')).toBe(true);
    expect(logs.join('')).not.toContain(canary);
    expect(logs.join('')).not.toContain(clientCanary);
  });

  afterAll(async () => {
    if (hasPostgres) await server.stop();
    await rm(folder, { recursive: true, force: true });
  });

  const newDatabase = async (): Promise<Database> => {
    databases += 1;
    const name = `nest_${databases}`;
    const admin = new Pool({ connectionString: server.url });
    await admin.query(`CREATE DATABASE ${name}`);
    await admin.end();
    const url = server.url.replace(/\/postgres$/, `/${name}`);
    const pool = new Pool({ connectionString: url });
    // tests end the server
    pool.on('error', () => undefined);
    pools.push(pool);
    return { url, pool };
  };

  const start = async (settings: Settings): Promise<Service> => {
    const one = await startService(installedAt(), {
      LEDGER_TOKEN_FILE: join(folder, 'token'),
      LEDGER_TIMEOUT_MS: '1000',
      READY_UNSEEN_MS: '5000',
      READY_BEHIND_MS: '2000',
      HEARTBEAT_MS: '200',
      ...settings,
    });
    services.push(one);
    return one;
  };

  const given: Example['given'] = async (more = () => ({}), updates = 50) => {
    const sandbox = await newSandbox();
    if (updates > 0) sandbox.generate(updates);
    const ledger = await switchableProxy(sandbox.url);
    proxies.push(ledger);
    const database = await newDatabase();
    const settings = { LEDGER_URL: ledger.url, DATABASE_URL: database.url, ...more(sandbox) };
    const one = await start(settings);
    await becomes(one, '/readyz', 200);
    // on an empty ledger there is nothing to wait for, but the first load
    await becomes(one, '/contracts', 200);
    return { sandbox, ledger, database, settings, one };
  };

  return { folder: () => folder, installedAt, server: () => server, newDatabase, start, given };
}

/** The status of the answer to a request, whose body is left unread. */
export const statusOf = async ({ url, statusUrl }: Service, path: string): Promise<number> => {
  const { status, body } = await fetch(`${path.endsWith('z') ? statusUrl : url}${path}`);
  await body?.cancel();
  return status;
};

/** The page `/status` of a service, as text. */
export const readStatus = async ({ statusUrl }: Service): Promise<string> =>
  (await fetch(`${statusUrl}/status`)).text();

/** Waits until a request is answered with a status. */
export const becomes = (one: Service, path: string, status: number): Promise<void> =>
  until(async () => (await statusOf(one, path).catch(() => 0)) === status);

/** Locks the table of the contracts against changes until the returned function is called. */
export const lockContracts = async ({ pool }: Database): Promise<() => Promise<void>> => {
  const client = await pool.connect();
  await client.query('BEGIN; LOCK TABLE contracts.projection_contracts IN EXCLUSIVE MODE');
  return async () => {
    await client.query('COMMIT');
    client.release();
  };
};
