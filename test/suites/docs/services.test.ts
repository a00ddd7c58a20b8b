import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { Pool } from 'pg';
import { lastValueFrom, map, toArray } from 'rxjs';
import { activeContracts } from '../../../src/contracts/index.js';
import { contractType, create, createLedger, type Ledger } from '../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { until } from '../../helpers/time.js';
import { writeProgram } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

/** What a service reports of its parts. */
interface Health {
  readonly processors: readonly { readonly state: string; readonly offset?: number }[];
  readonly rules: readonly { readonly rule: string }[];
}

describeWithPostgres('a service of the guides', () => {
  let database: TestServer;
  let pool: Pool;
  let sandbox: Sandbox;
  let ledger: Ledger;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    database = await postgresServer();
    pool = new Pool({ connectionString: database.url });
  });
  beforeEach(async () => {
    sandbox = await startSandbox();
    ledger = createLedger({ baseUrl: sandbox.url });
  });
  afterEach(async () => {
    for (const child of children.splice(0)) child.kill('SIGKILL');
    await sandbox.close();
  });
  afterAll(async () => {
    await pool.end();
    await database.stop();
  });

  /** Starts a program of a guide, with the ledger and the database. */
  const start = (file: string, env: object = {}, ...args: readonly string[]) => {
    const { hostname, port, username } = new URL(database.url);
    const server = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: 'postgres' };
    const child = spawn(process.execPath, [file, ...args], {
      env: { ...process.env, ...server, LEDGER_URL: sandbox.url, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    children.push(child);
    let output = '';
    child.stdout.on('data', (data: Buffer) => (output += data.toString()));
    const over = once(child, 'close');
    /** Reads the health that the program serves. */
    const health = async (): Promise<{ readonly http: number; readonly body: Health }> => {
      await until(() => /http:\S+:\d+:/.test(output) || child.exitCode !== null);
      const url = /http:\S+:\d+/.exec(output)?.[0] ?? '';
      const { status } = await fetch(`${url}/readyz`);
      return { http: status, body: (await (await fetch(`${url}/status`)).json()) as Health };
    };
    return { child, health, over, output: () => output };
  };

  it('acts by rules, reports its health, and ends on SIGTERM', async () => {
    const kind = t.type({ tag: t.string, value: t.type({}) });
    const Offer = contractType(
      '#sandbox-assets:Main:Offer',
      t.type({ seller: t.string, buyer: t.string, price: t.string, kind }),
    );
    const Task = contractType(
      '#sandbox-tasks:Tasks.Model:Task',
      t.type({ owner: t.string, title: t.string, due: t.string, steps: t.array(t.string) }),
    );
    const desk = sandbox.hostedParty('desk');
    const offers = ['80.0', '120.0'].map((price) =>
      create(Offer, { seller: desk, buyer: desk, price, kind: { tag: 'Fixed', value: {} } }),
    );
    const tasks = ['2020-01-31', '2999-12-31'].map((due) =>
      create(Task, { owner: desk, title: 'task', due, steps: [] }),
    );
    const request = { userId: 'app', actAs: [desk], commands: [...offers, ...tasks] } as const;
    await lastValueFrom(ledger.submitAndWaitForTransaction(request));

    const { child, health, over, output } = start(writeProgram(root, 'desk.mts'), { PARTY: desk });
    await until(async () => (await health()).http === 200 && sandbox.updates.length === 3);
    const { body } = await health();
    expect(body.rules).toMatchObject([
      { rule: 'accept-offers', role: 'leader', state: 'running', due: 0, failed: 0 },
      { rule: 'expire-tasks', role: 'leader', state: 'running', due: 0, failed: 0, waiting: 1 },
    ]);

    child.kill('SIGTERM');
    expect(await over).toEqual([0, null]);
    expect(output()).toMatch(/the service has ended: SIGTERM\n$/);
    expect(sandbox.updates).toHaveLength(3);
  });

  it('keeps contracts in SQL, acts by a rule and submits by an outbox in one process', async () => {
    const Asset = contractType('#sandbox-assets:Main:Asset', t.unknown);
    const Offer = contractType('#sandbox-assets:Main:Offer', t.unknown);
    const party = sandbox.hostedParty('all');
    const kind = { tag: 'Fixed', value: {} };
    const offers = ['80.0', '120.0'].map((price) => create(Offer, { seller: party, buyer: party, price, kind }));
    const commands = [...offers, create(Asset, { owner: party, amount: '1.0', serial: '7' })] as const;
    await lastValueFrom(ledger.submitAndWaitForTransaction({ userId: 'app', actAs: [party], commands }));

    const { child, health, over, output } = start(writeProgram(root, 'all.mts'), { PARTY: party });
    const active$ = activeContracts(ledger, { parties: [party] }).pipe(
      map((entry) => JSON.stringify(entry._tag === 'ActiveContract' && entry.createdEvent.createArgument)),
      toArray(),
    );
    await until(async () => {
      const contracts = (await lastValueFrom(active$)).join();
      return contracts.includes('Thanks for 7') && !contracts.includes('80.0');
    });
    const prices = async (): Promise<readonly unknown[]> => {
      const sql = "SELECT payload ->> 'price' AS price FROM contracts.active('Main:Offer')";
      return (await pool.query<{ price: string }>(sql)).rows;
    };
    await until(async () => (await prices()).length === 1);
    expect(await prices()).toEqual([{ price: '120.0000000000' }]);
    await until(async () => (await health()).http === 200);
    child.kill('SIGTERM');
    expect(await over).toEqual([0, null]);
    expect(output()).toMatch(/the service has ended: SIGTERM\n$/);
  });

  it('with an outbox creates one receipt for each payment, whatever crashes', async () => {
    sandbox.uploadPackage('shop', { templates: ['Main:Payment', 'Main:Receipt'] });
    const payee = sandbox.hostedParty('shop');
    const pay = (amount: string): Promise<unknown> => {
      const command = { CreateCommand: { templateId: '#shop:Main:Payment', createArguments: { payee, amount } } };
      const request = { commands: [command], actAs: [payee], userId: 'payer' } as const;
      return lastValueFrom(ledger.submitAndWaitForTransaction(request));
    };
    const Receipt = contractType('#shop:Main:Receipt', t.unknown);
    const receipts = (): Promise<readonly unknown[]> =>
      lastValueFrom(
        activeContracts(ledger, { types: { Receipt }, parties: 'any' }).pipe(
          map((entry) => entry._tag === 'ActiveContract' && entry.createdEvent.createArgument),
          toArray(),
        ),
      );
    const file = writeProgram(root, 'receipts.mts');
    const amounts = Array.from({ length: 20 }, (_, n) => `${n}.0`);

    const first = start(file);
    for (const amount of amounts.slice(0, 10)) await pay(amount);
    await until(async () => (await receipts()).length > 0);
    first.child.kill('SIGKILL');
    await first.over;
    start(file);
    for (const amount of amounts.slice(10)) await pay(amount);
    await until(async () => (await receipts()).length === amounts.length);
    expect(await receipts()).toMatchObject(amounts.map((amount) => ({ payee, amount })));
  });

  it('works in one replica while the other stands by, takes over, parks and replays', async () => {
    const file = writeProgram(root, 'service.mts');
    const isAtEnd = async ({ health }: ReturnType<typeof start>): Promise<void> => {
      await until(async () => {
        const { http, body } = await health();
        const [processor] = body.processors;
        return http === 200 && processor?.state === 'caughtUp' && processor.offset === sandbox.ledgerEnd;
      });
      const rows = await pool.query<{ id: string }>('SELECT id FROM contracts WHERE NOT is_archived');
      const active$ = activeContracts(ledger, { parties: 'any' }).pipe(
        map((entry) => entry._tag === 'ActiveContract' && entry.createdEvent.contractId),
        toArray(),
      );
      expect(rows.rows.map(({ id }) => id).sort()).toEqual([...(await lastValueFrom(active$))].sort());
    };
    sandbox.generate(500, { seed: 3, variants: ['Transaction'] });
    const first = start(file);
    await isAtEnd(first);

    const second = start(file);
    await until(async () => (await second.health()).http === 200);
    expect(await second.health()).toMatchObject({ body: { processors: [{ role: 'standby', state: 'waiting' }] } });
    first.child.kill('SIGTERM');
    expect(await first.over).toEqual([0, null]);
    expect(first.output()).toMatch(/\nthe service has ended: SIGTERM\n$/);
    sandbox.generate(300, { seed: 4, variants: ['Transaction'] });
    await isAtEnd(second);

    // the database rejects this contract every time
    await pool.query(`ALTER TABLE contracts ADD CONSTRAINT sound CHECK (template NOT LIKE '%:Poison')`);
    const poison = { contractId: '00dead', templateId: `${'ab'.repeat(32)}:Main:Poison` };
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: poison }] } } });
    const poisoned = sandbox.ledgerEnd;
    sandbox.append({ Transaction: { value: { events: [{ ArchivedEvent: poison }] } } });
    await isAtEnd(second);

    const replay = async (): Promise<string> => {
      const { over, output } = start(file, {}, 'replay');
      expect(await over).toEqual([0, null]);
      return output().trim();
    };
    expect(await replay()).toMatch(new RegExp(`^${poisoned}: error: .* violates check constraint`));
    await pool.query('ALTER TABLE contracts DROP CONSTRAINT sound');
    expect(await replay()).toBe(`${poisoned}: handled`);
    expect(await replay()).toBe('');
    await isAtEnd(second);

    second.child.kill('SIGTERM');
    expect(await second.over).toEqual([0, null]);
  });
});
