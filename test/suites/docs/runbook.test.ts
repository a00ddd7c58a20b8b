import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Pool, type PoolClient } from 'pg';
import { finalize, NEVER, Subscription } from 'rxjs';
import { acsDelta, createLedger, isLedgerError, type Ledger, type LedgerOptions, logTo } from '../../../src/index.js';
import { RelayError } from '../../../src/nats/index.js';
import { contractsProjection, postgresStore, projectionSql } from '../../../src/postgres/index.js';
import {
  contractsFeed,
  type Handler,
  isReady,
  processFeed,
  type Processor,
  type ProcessOptions,
  type ProcessStatus,
  updatesFeed,
} from '../../../src/process/index.js';
import { cantonError, type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.js';
import { describeWithPostgres, postgresServer, type PostgresServer } from '../../helpers/postgresServer.js';
import { until } from '../../helpers/servers.js';

const root = join(import.meta.dirname, '../../..');
const runbook = await readFile(join(root, 'docs/runbook.md'), 'utf8');

/** A row of the table of log lines. */
interface Row {
  readonly situation: string;
  /** The text of a log line, with `…` for anything. */
  readonly line: string;
  readonly ready: '200' | '503' | 'ended';
  readonly remedy: string;
}

const cellsOf = (line: string): readonly string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

const rows: readonly Row[] = runbook
  .split('\n')
  .filter((line) => /^\| `[a-z-]+` +\| `/.test(line))
  .map((line) => {
    const [situation = '', text = '', , ready, remedy = ''] = cellsOf(line);
    return { situation: situation.slice(1, -1), line: text.slice(1, -1), ready: ready as Row['ready'], remedy };
  });

const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .split('…')
      .map((part) => part.trim().replaceAll(/[\\^$.*+?()[\]{}|/-]/g, String.raw`\$&`))
      .join('.*'),
  );

const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const anchors = new Set([...runbook.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugOf(heading)));

describe('the runbook', () => {
  it('has at least 25 situations, each with a remedy that exists', () => {
    expect(new Set(rows.map(({ situation }) => situation)).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(25);
    for (const { remedy, ready } of rows) {
      expect(['200', '503', 'ended']).toContain(ready);
      expect(remedy).not.toBe('');
    }
    for (const [, anchor = ''] of runbook.matchAll(/\]\(#([^)]*)\)/g)) expect(anchors).toContain(anchor);
  });

  it('has the section that each error names', async () => {
    const sources = ['errors/process.ts', 'errors/feed.ts', 'errors/ApiError.ts', 'nats/RelayError.ts'];
    const texts = await Promise.all(sources.map((source) => readFile(join(root, 'src', source), 'utf8')));
    const calls = texts.flatMap((text) => Array.from(text.matchAll(/runbook\(([^`]*?)\)/g), ([, call = '']) => call));
    const named = calls.flatMap((call) => Array.from(call.matchAll(/'([\w-]+)'/g), ([, anchor = '']) => anchor));
    expect(named.length).toBeGreaterThan(8);
    const reasons = ['unreadable', 'participant', 'selection', 'ledger', 'conflict'].map(
      (each) => `cursorerror-${each}`,
    );
    for (const anchor of [...named, ...reasons]) expect(anchors).toContain(anchor);
  });

  it('has a line that a person finds by the line of each error', () => {
    // an error of a store that is not tested below, because it needs a server of NATS
    const { message } = new RelayError('stream', 'ledger', 'the stream does not exist');
    const line = rows.find(({ situation }) => situation === 'relay-broken')?.line ?? '';
    expect(`ended with an error: ${message.replaceAll('\n', '; ')}`).toMatch(patternOf(line));
  });
});

/** Ends what tests have started. */
const ends: (() => unknown)[] = [];

/** What is observed of a service. */
class Service {
  readonly lines: string[] = [];
  readonly running = new Subscription();
  status: ProcessStatus | undefined;
  error: unknown;
  isEnded = false;

  constructor(ledger: Ledger, processor: Processor) {
    ends.push(() => {
      this.running.unsubscribe();
    });
    const write = (line: string): unknown => this.lines.push(line);
    this.running.add(ledger.diagnostics$.subscribe(logTo({ info: write, warn: write, error: write })));
    this.running.add(
      processor.status$.subscribe((status) => {
        this.status = status;
      }),
    );
    this.running.add(
      processor.pipe(finalize(() => (this.isEnded = !this.running.closed))).subscribe({
        error: (error: unknown) => {
          this.error = error;
        },
      }),
    );
  }

  /** What a readiness probe sees. */
  get ready(): Row['ready'] {
    if (this.isEnded) return 'ended';
    return this.status !== undefined && isReady(this.status) ? '200' : '503';
  }
}

describeWithPostgres('a broken service', () => {
  let server: PostgresServer;
  let admin: Pool;
  let sandbox: Sandbox;

  beforeAll(async () => {
    server = await postgresServer();
    admin = new Pool({ connectionString: server.url, max: 4 });
    await admin.query(
      'CREATE ROLE guest NOLOGIN; CREATE ROLE reader LOGIN; CREATE ROLE guarded LOGIN PASSWORD $$right$$',
    );
    sandbox = await newSandbox();
  }, 60_000);
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
    await admin.end();
    await server.stop();
  }, 60_000);

  async function newSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
    const started = await startSandbox(options);
    ends.push(() => started.close());
    started.generate(20, { seed: 1 });
    return started;
  }

  const newPool = (url = server.url, max = 4): Pool => {
    const pool = new Pool({ connectionString: url, max });
    pool.on('error', () => undefined);
    ends.push(() => pool.end());
    return pool;
  };

  /** A schema for each situation, so that all run at the same time. */
  const newSchema = async (situation: string): Promise<string> => {
    const schema = situation.replaceAll('-', '_');
    await admin.query(`CREATE SCHEMA ${schema}`);
    return schema;
  };

  interface Parts extends Partial<LedgerOptions> {
    readonly schema: string;
    readonly pool?: Pool;
    readonly url?: string;
    readonly handler?: Handler<PoolClient>;
    readonly options?: Omit<ProcessOptions<PoolClient>, 'name' | 'store'>;
    readonly parties?: readonly string[] | 'any';
    readonly createTables?: boolean;
    readonly timeoutMs?: number;
    readonly begin?: number;
  }

  const start = (parts: Parts): Service => {
    const { schema, pool = newPool(), url = sandbox.url, handler = () => undefined, options, token } = parts;
    const { parties = 'any', createTables = true, begin = 0, timeoutMs = 30_000 } = parts;
    const ledger = createLedger({ baseUrl: url, token, retry: { maxDelayMs: 200 } });
    const request = { beginExclusive: begin, updateFormat: acsDelta({ parties }) };
    const store = postgresStore({ pool, schema, createTables, timeoutMs, pollMs: 50 });
    const processOptions = { ...options, name: 'balances', store } as ProcessOptions<PoolClient>;
    return new Service(ledger, processFeed(updatesFeed(ledger, request), handler, processOptions));
  };

  const project = (schema: string, name: string): Service => {
    const ledger = createLedger({ baseUrl: sandbox.url });
    const query = { parties: 'any' } as const;
    const pool = newPool();
    const store = postgresStore({ pool, schema: 'public', pollMs: 50 });
    const handler = contractsProjection({ pool, schema, query });
    return new Service(ledger, processFeed(contractsFeed(ledger, query), handler, { name, store }));
  };

  const caughtUp = (service: Service): Promise<void> =>
    until(() => service.status?.state === 'caughtUp' && service.ready === '200');
  /** Starts a service, stops it when it has caught up, changes its cursor by SQL, and starts it again. */
  const startWith = async (schema: string, cursor: string): Promise<Service> => {
    const service = start({ schema });
    await caughtUp(service);
    service.running.unsubscribe();
    await admin.query(`UPDATE ${schema}.canton_rx_cursors SET cursor = ${cursor}`);
    return start({ schema });
  };
  const fails = (): never => {
    throw new Error('the account does not exist');
  };

  /** Breaks a service, and returns it. */
  const situations: Readonly<Record<string, (schema: string) => Service | Promise<Service>>> = {
    standby: async (schema) => {
      await caughtUp(start({ schema }));
      return start({ schema });
    },
    'name-lost': async (schema) => {
      const leader = start({ schema });
      await caughtUp(leader);
      const standby = start({ schema });
      await until(() => standby.status?.role === 'standby');
      await admin.query(`SELECT pg_terminate_backend(pid) FROM ${schema}.canton_rx_leases WHERE name = 'balances'`);
      await until(() => standby.status?.role === 'leader');
      return leader;
    },
    'catching-up': (schema) =>
      start({
        schema,
        handler: ({ offset }) => (offset > 5 ? NEVER : undefined),
        options: { commitEvery: { updates: 1 } },
      }),
    'ledger-down': async (schema) => {
      const own = await startSandbox();
      await own.close();
      return start({ schema, url: own.url });
    },
    'ledger-silent': async (schema) => {
      const own = await newSandbox();
      own.fault({ kind: 'hang' }, { times: 1_000 });
      return start({ schema, url: own.url });
    },
    'token-refused': async (schema) => {
      const own = await newSandbox({ checkToken: (token) => token === 'right' });
      return start({ schema, url: own.url, token: 'wrong' });
    },
    'right-missing': async (schema) => {
      const own = await newSandbox();
      const body = cantonError('NA', { errorCategory: -1 });
      own.fault({ kind: 'status', status: 403, body }, { path: '/v2/updates/flats', times: 10 });
      return start({ schema, url: own.url, parties: ['alice::1220'] });
    },
    'ledger-pruned': async (schema) => {
      const own = await newSandbox();
      own.prune(10);
      return start({ schema, url: own.url, begin: 1 });
    },
    'other-participant': (schema) => startWith(schema, `jsonb_set(cursor::jsonb, '{participantId}', '"other"')`),
    'ledger-replaced': (schema) => startWith(schema, `jsonb_set(cursor::jsonb, '{lastUpdate,updateId}', '"gone"')`),
    'other-request': async (schema) => {
      const service = start({ schema });
      await caughtUp(service);
      // a standby, as in a rolling update
      return start({ schema, parties: ['alice::1220'] });
    },
    'cursor-unreadable': (schema) => startWith(schema, `jsonb_set(cursor::jsonb, '{version}', '2')`),
    'database-down': (schema) => start({ schema, pool: newPool('postgres://postgres@127.0.0.1:1/postgres') }),
    'password-refused': (schema) => start({ schema, pool: newPool(server.url.replace('postgres@', 'guarded:wrong@')) }),
    'password-rotated': async (schema) => {
      await admin.query(`CREATE ROLE rotated LOGIN; GRANT ALL ON SCHEMA ${schema} TO rotated`);
      const service = start({ schema, pool: newPool(server.url.replace('postgres@', 'rotated@')) });
      await caughtUp(service);
      await admin.query('ALTER ROLE rotated NOLOGIN');
      await admin.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'rotated'`);
      return service;
    },
    'user-refused': (schema) => start({ schema, pool: newPool(server.url.replace('postgres@', 'guest@')) }),
    'database-missing': (schema) => start({ schema, pool: newPool(server.url.replace(/[^/]*$/, 'missing')) }),
    'rights-missing': async (schema) => {
      const service = start({ schema });
      await caughtUp(service);
      await admin.query(
        `GRANT USAGE ON SCHEMA ${schema} TO reader; GRANT SELECT ON ALL TABLES IN SCHEMA ${schema} TO reader`,
      );
      // a standby, as in a rolling update
      return start({ schema, pool: newPool(server.url.replace('postgres@', 'reader@')) });
    },
    'tables-missing': (schema) => start({ schema, createTables: false }),
    'later-tables': async (schema) => {
      await admin.query(
        `DROP SCHEMA ${schema}; ${projectionSql(schema)}; INSERT INTO ${schema}.projection_versions VALUES (99)`,
      );
      return project(schema, 'later');
    },
    'pool-leaked': async (schema) => {
      const pool = newPool(server.url, 1);
      const leaked = await pool.connect();
      ends.push(() => {
        leaked.release();
      });
      return start({ schema, pool, timeoutMs: 500 });
    },
    'commit-waits': async (schema) => {
      const first = start({ schema, handler: () => undefined });
      await caughtUp(first);
      const own = await newSandbox();
      first.running.unsubscribe();
      await admin.query(`DELETE FROM ${schema}.canton_rx_cursors`);
      const client = await admin.connect();
      ends.push(async () => {
        await client.query('ROLLBACK');
        client.release();
      });
      let isLocked = false;
      return start({
        schema,
        url: own.url,
        options: { commitEvery: { updates: 1 } },
        handler: async () => {
          if (isLocked) return;
          isLocked = true;
          await client.query('BEGIN');
          await client.query(`LOCK TABLE ${schema}.canton_rx_cursors`);
        },
      });
    },
    'handler-fails': (schema) => start({ schema, handler: fails }),
    'handler-failed': (schema) => start({ schema, handler: fails, options: { handlerRetry: { giveUpAfterMs: 0 } } }),
    'handler-timeout': (schema) =>
      start({ schema, handler: (_, tx) => tx.query('SELECT pg_sleep(60)'), options: { handlerTimeoutMs: 300 } }),
    'update-parked': (schema) =>
      start({ schema, handler: fails, options: { onHandlerFailure: 'park', handlerRetry: { giveUpAfterMs: 0 } } }),
    'update-skipped': (schema) =>
      start({ schema, handler: fails, options: { onHandlerFailure: 'skip', handlerRetry: { giveUpAfterMs: 0 } } }),
    'stop-abandons': async (schema) => {
      const stopping = new AbortController();
      let isCalled = false;
      const service = start({
        schema,
        handler: () => {
          isCalled = true;
          return NEVER;
        },
        options: { signal: stopping.signal, stopWithinMs: 50 },
      });
      await until(() => isCalled);
      stopping.abort();
      return service;
    },
    'projection-replaced': async (schema) => {
      await admin.query(`DROP SCHEMA ${schema}`);
      const first = project(schema, 'replaced');
      await caughtUp(first);
      first.running.unsubscribe();
      await admin.query("DELETE FROM canton_rx_cursors WHERE name = 'replaced'");
      return project(schema, 'replaced');
    },
    'projection-taken': async (schema) => {
      await admin.query(`DROP SCHEMA ${schema}`);
      await caughtUp(project(schema, 'taken first'));
      return project(schema, 'taken second');
    },
  };

  it.concurrent.each(Object.keys(situations))(
    'logs the line, and has the readiness, of the row %s',
    async (situation) => {
      const row = rows.find((each) => each.situation === situation);
      const broken = situations[situation];
      if (row === undefined || broken === undefined) throw new Error(`the runbook has no row ${situation}`);
      const service = await broken(await newSchema(situation));
      const state = (): string => `${service.ready}\n${service.lines.join('\n')}`;
      await until(
        () => service.ready === row.ready && service.lines.some((line) => patternOf(row.line).test(line)),
        25_000,
      ).catch(() => {
        throw new Error(`expected ${row.ready} and ${row.line}, found ${state()}`);
      });
      if (service.error !== undefined && isLedgerError(service.error, 'CursorError', 'StoreError', 'HandlerError'))
        expect(service.error.message).toMatch(/^Runbook: https:\/\/\S+\/runbook\.md#[\w-]+$/m);
      service.running.unsubscribe();
    },
    60_000,
  );
});
