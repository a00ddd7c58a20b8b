import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { Pool, type PoolClient } from 'pg';
import { lastValueFrom, map, type Observable, toArray } from 'rxjs';
import { acsDelta, createLedger, type Diagnostic, type Ledger } from '../../src/index.js';
import {
  type Committed,
  type Handler,
  processFeed,
  type ProcessOptions,
  type StoreOptions,
  updatesFeed,
  type UpdatesFeedRequest,
  type WorkOptions,
} from '../../src/process/index.js';
import { postgresStore } from '../../src/postgres/index.js';
import type { Sandbox } from '../../src/sandbox/index.js';
import { sandboxes, tcpProxy, type TcpProxy } from '../helpers/localServers.js';
import { postgresServer, type PostgresServer } from '../helpers/postgresServer.js';

/** Options of a processor that may replace its name and its store. */
type MoreOptions = WorkOptions & Partial<StoredOptions> & Pick<ProcessOptions, 'commitEvery'>;
type StoredOptions = Extract<StoreOptions<PoolClient>, { readonly name: string }>;

/** One database server for the tests of a `describe`. Each test has a pool of its own, and the tables are new. */
export interface Database {
  readonly server: PostgresServer;
  readonly pool: Pool;
  /** Runs a statement, and returns its rows. */
  readonly read: (sql: string, values?: readonly unknown[]) => Promise<readonly Record<string, unknown>[]>;
  /** The ids of the contracts of a function or table of a projection, in order. */
  readonly ids: (sql: string, values?: readonly unknown[]) => Promise<readonly unknown[]>;
  /** The offsets in the table `seen`, in the order in which they were inserted. */
  readonly seen: () => Promise<readonly number[]>;
}

/** Starts a database server for the tests of a `describe`. */
export function withDatabase(): Database {
  let server: PostgresServer | undefined;
  let pool: Pool | undefined;
  const database: Database = {
    get server() {
      if (server === undefined) throw new Error('the server is not started');
      return server;
    },
    get pool() {
      if (pool === undefined) throw new Error('the pool is not open');
      return pool;
    },
    read: async (sql, values = []) => (await database.pool.query<Record<string, unknown>>(sql, [...values])).rows,
    ids: async (sql, values) =>
      (await database.read(`SELECT contract_id FROM ${sql} ORDER BY 1`, values)).map((row) => row['contract_id']),
    seen: async () => {
      const sql = 'SELECT "offset"::text AS "offset" FROM seen ORDER BY n';
      const { rows } = await database.pool.query<{ offset: string }>(sql);
      return rows.map(({ offset }) => Number(offset));
    },
  };
  beforeAll(async () => {
    server = await postgresServer();
  });
  afterAll(async () => {
    await server?.stop();
  });
  beforeEach(async () => {
    pool = poolOf(database.server.url, 12);
    await pool.query('DROP TABLE IF EXISTS canton_rx_cursors, canton_rx_parked, seen, total, owner');
    await pool.query('CREATE TABLE seen (n serial, "offset" bigint PRIMARY KEY, who text)');
    await pool.query('CREATE TABLE total (id int PRIMARY KEY, n int NOT NULL)');
    await pool.query('INSERT INTO total VALUES (1, 0), (2, 0)');
  });
  afterEach(async () => {
    await pool?.end();
  });
  return database;
}

/** A pool whose broken connections do not end the test. */
export function poolOf(connectionString: string, max: number, options: { readonly query_timeout?: number } = {}): Pool {
  const pool = new Pool({ connectionString, max, ...options });
  pool.on('error', () => undefined);
  return pool;
}

/** A handler that inserts offsets into the table `seen`. */
export const insert =
  (who = 'one'): Handler<PoolClient> =>
  ({ offset }, tx) =>
    tx.query('INSERT INTO seen ("offset", who) VALUES ($1, $2)', [offset, who]);

/** A request for all updates of a sandbox. */
export const request = (endInclusive?: number): UpdatesFeedRequest => ({
  beginExclusive: 0,
  updateFormat: acsDelta({ parties: 'any' }),
  ...(endInclusive !== undefined && { endInclusive }),
});

/** A sandbox with updates, a ledger that retries soon, and a processor of it. */
export interface SandboxWorld {
  readonly service: Sandbox;
  readonly ledger: Ledger;
  /** The offsets of all updates. */
  readonly all: readonly number[];
  /** What the ledger has reported so far. */
  readonly diagnostics: readonly Diagnostic[];
  /** A processor that inserts offsets into `seen`, until the present end of the ledger. */
  readonly process$: (handler?: Handler<PoolClient>, options?: MoreOptions, end?: number) => Observable<Committed>;
  /** Runs it to its end. */
  readonly work: (...args: Parameters<SandboxWorld['process$']>) => Promise<Committed>;
}

/** Starts sandboxes, which stop after the tests of the file. */
export function sandboxWorlds(database: Database): (updates: number) => Promise<SandboxWorld> {
  const sandbox = sandboxes();
  return async (updates) => {
    const service = await sandbox();
    service.generate(updates, { seed: 5 });
    const ledger = createLedger({ baseUrl: service.url, retry: { baseDelayMs: 5, maxDelayMs: 50 } });
    const all = await offsetsOf(ledger, service.ledgerEnd);
    const diagnostics: Diagnostic[] = [];
    ledger.diagnostics$.subscribe((diagnostic) => diagnostics.push(diagnostic));
    const process$: SandboxWorld['process$'] = (handler = insert(), more = {}, end = service.ledgerEnd) => {
      const feed = updatesFeed(ledger, request(end === Infinity ? undefined : end));
      const options: ProcessOptions<PoolClient> = {
        name: 'seen',
        store: postgresStore({ pool: database.pool, pollMs: 20 }),
        ...more,
      };
      return processFeed(feed, handler, options);
    };
    return { service, ledger, all, diagnostics, process$, work: (...args) => lastValueFrom(process$(...args)) };
  };
}

/** The offsets of all updates up to an offset. */
export const offsetsOf = (ledger: Ledger, endInclusive: number): Promise<readonly number[]> =>
  lastValueFrom(
    ledger.updates(request(endInclusive)).pipe(
      map(({ offset }) => offset),
      toArray(),
    ),
  );

/** A proxy between a process and its PostgreSQL that cuts connections at a COMMIT. */
export interface CuttingProxy extends TcpProxy {
  readonly cuts: () => number;
}

const commit = Buffer.from('COMMIT\0');

/** Cuts a connection at every nth COMMIT: before the database receives it, or after that, so that the response is lost. */
export async function cuttingProxy(url: string, when: 'before' | 'after', every: number): Promise<CuttingProxy> {
  let commits = 0;
  let cuts = 0;
  const proxy = await tcpProxy(url, (client, server) => {
    client.on('data', (bytes) => {
      const isCut = bytes.includes(commit) && (commits += 1) % every === 0;
      if (!isCut) {
        server.write(bytes);
        return;
      }
      cuts += 1;
      if (when === 'before') client.destroy();
      else
        server.write(bytes, () => {
          client.destroy();
        });
    });
    server.on('data', (bytes) => {
      if (!client.destroyed) client.write(bytes);
    });
  });
  return { ...proxy, cuts: () => cuts };
}
