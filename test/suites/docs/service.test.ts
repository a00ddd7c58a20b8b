import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { concatMap, defer, filter, firstValueFrom, from, lastValueFrom, repeat, tap } from 'rxjs';
import { acsDelta, createLedger, ofVariant } from '../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { until as untilTrue } from '../../helpers/time.js';
import { writeProgram } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

/** The health that a replica serves, and its HTTP status. */
interface Health {
  readonly http: number;
  readonly state?: string;
  readonly offset?: number;
}

describeWithPostgres('the service of the guide', () => {
  let database: TestServer;
  let sandbox: Sandbox;
  let pool: Pool;
  let file: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    file = writeProgram(root, 'service.ts');
    database = await postgresServer();
    pool = new Pool({ connectionString: database.url });
    sandbox = await startSandbox();
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await pool.end();
    await database.stop();
    await sandbox.close();
  });

  const run = (...args: readonly string[]): ChildProcess => {
    const { hostname, port, username, pathname } = new URL(database.url);
    const child = spawn(process.execPath, [file, ...args], {
      env: {
        ...process.env,
        LEDGER_URL: sandbox.url,
        PORT: '0',
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGDATABASE: pathname.slice(1) || 'postgres',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    children.push(child);
    return child;
  };
  /** Starts a replica; `until` waits for an expected health. */
  const replica = async () => {
    const child = run();
    let output = '';
    child.stdout?.on('data', (data: Buffer) => (output += data.toString()));
    await untilTrue(() => /port: \d+\D/.test(output) || child.exitCode !== null);
    const port = /port: (\d+)/.exec(output)?.[1] ?? '';
    const readHealth = async (): Promise<Health> => {
      const response = await fetch(`http://127.0.0.1:${port}/ready`);
      const text = await response.text();
      return { http: response.status, ...(text === '' ? {} : (JSON.parse(text) as object)) };
    };
    const until = (isExpected: (health: Health) => boolean): Promise<Health> =>
      firstValueFrom(defer(() => from(readHealth())).pipe(repeat({ delay: 20 }), filter(isExpected)));
    return { child, until, output: () => output };
  };
  const rows = async (): Promise<readonly string[]> =>
    (await pool.query<{ id: string }>('SELECT id FROM contracts WHERE NOT is_archived ORDER BY id')).rows.map(
      ({ id }) => id,
    );
  const isAtEnd = ({ state, offset }: Health): boolean => state === 'caughtUp' && offset === sandbox.ledgerEnd;

  /** The active contracts, computed from the ledger's updates. */
  const readActive = async (): Promise<readonly string[]> => {
    const request = { beginExclusive: 0, endInclusive: sandbox.ledgerEnd, updateFormat: acsDelta({ parties: 'any' }) };
    const ids = new Set<string>();
    await lastValueFrom(
      createLedger({ baseUrl: sandbox.url })
        .updates(request)
        .pipe(
          ofVariant('Transaction'),
          concatMap(({ events }) => events),
          tap((event) => {
            if (event._tag === 'CreatedEvent') ids.add(event.contractId);
            if (event._tag === 'ArchivedEvent') ids.delete(event.contractId);
          }),
        ),
    );
    return [...ids].sort();
  };

  it('works in one replica while the other stands by, takes over, parks and replays', async () => {
    sandbox.generate(500, { seed: 3 });
    const first = await replica();
    expect((await first.until(isAtEnd)).http).toBe(200);
    expect(await rows()).toEqual(await readActive());

    const second = await replica();
    await second.until(({ state, http }) => state === 'waiting' && http === 200);
    const saved = sandbox.ledgerEnd;
    first.child.kill('SIGTERM');
    // after its end, when its whole output has arrived
    expect(await once(first.child, 'close')).toEqual([0, null]);
    expect(first.output()).toMatch(new RegExp(`\\nstopped; saved up to offset ${saved}\\n$`));
    sandbox.generate(300, { seed: 4 });
    await second.until(isAtEnd);
    expect(await rows()).toEqual(await readActive());

    // the database rejects this contract every time
    await pool.query(`ALTER TABLE contracts ADD CONSTRAINT sound CHECK (template NOT LIKE '%:Poison')`);
    const poison = { contractId: '00dead', templateId: `${'ab'.repeat(32)}:Main:Poison` };
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: poison }] } } });
    const poisoned = sandbox.ledgerEnd;
    sandbox.append({ Transaction: { value: { events: [{ ArchivedEvent: poison }] } } });
    await second.until(isAtEnd);
    expect(await rows()).toEqual(await readActive());

    const replay = async (): Promise<string> => {
      const child = run('replay');
      const printed: string[] = [];
      child.stdout?.on('data', (data: Buffer) => printed.push(data.toString()));
      expect(await once(child, 'close')).toEqual([0, null]);
      return printed.join('').trim();
    };
    expect(await replay()).toMatch(new RegExp(`^${poisoned}: error: .* violates check constraint`));
    await pool.query('ALTER TABLE contracts DROP CONSTRAINT sound');
    expect(await replay()).toBe(`${poisoned}: handled`);
    expect(await replay()).toBe('');
    expect(await rows()).toEqual(await readActive());

    second.child.kill('SIGTERM');
    expect(await once(second.child, 'exit')).toEqual([0, null]);
  });
});
