import process from 'node:process';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { createLedger } from '../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { updateValue } from '../../../src/sandbox/wire/WireUpdate.js';
import { describeWithPostgres, postgresServer } from '../../helpers/postgresServer.js';
import type { TestServer } from '../../helpers/servers.js';
import { until } from '../../helpers/time.js';
import { writeProgram } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

describeWithPostgres('the outbox of the guide', () => {
  let database: TestServer;
  let sandbox: Sandbox;
  let file: string;
  const children: ChildProcess[] = [];

  beforeAll(async () => {
    file = writeProgram(root, 'receipts.mts');
    database = await postgresServer();
    sandbox = await startSandbox();
    sandbox.uploadPackage('shop', { templates: ['Main:Payment', 'Main:Receipt'] });
  });
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL');
    await database.stop();
    await sandbox.close();
  });

  const start = (): ChildProcess => {
    const { hostname, port, username } = new URL(database.url);
    const server = { PGHOST: hostname, PGPORT: port, PGUSER: username, PGDATABASE: 'postgres' };
    const child = spawn(process.execPath, [file], {
      env: { ...process.env, LEDGER_URL: sandbox.url, ...server },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    children.push(child);
    return child;
  };
  const pay = (payee: string, amount: string): Promise<unknown> => {
    const command = { CreateCommand: { templateId: '#shop:Main:Payment', createArguments: { payee, amount } } };
    const request = { commands: [command], actAs: [payee], userId: 'payer' } as const;
    return lastValueFrom(createLedger({ baseUrl: sandbox.url }).submitAndWaitForTransaction(request));
  };
  const receipts = (): readonly unknown[] =>
    sandbox.updates.flatMap((update) =>
      updateValue(update).events.flatMap((event) =>
        'CreatedEvent' in event && event.CreatedEvent.templateId.endsWith(':Receipt')
          ? [event.CreatedEvent.createArgument]
          : [],
      ),
    );

  it('creates one receipt for each payment, whatever crashes', async () => {
    const shop = sandbox.hostedParty('shop');
    const first = start();
    const amounts = Array.from({ length: 20 }, (_, n) => `${n}.0`);
    for (const amount of amounts.slice(0, 10)) await pay(shop, amount);
    await until(() => receipts().length > 0);
    first.kill('SIGKILL');
    await once(first, 'close');
    start();
    for (const amount of amounts.slice(10)) await pay(shop, amount);
    await until(() => receipts().length === amounts.length);
    expect(receipts()).toMatchObject(amounts.map((amount) => ({ payee: shop, amount })));
  });
});
