import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import process from 'node:process';
import { expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { firstValueFrom } from 'rxjs';
import { create } from '../../../src/codecs/Command.js';
import { contractType } from '../../../src/codecs/ContractType.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { until } from '../../helpers/time.js';
import { writeProgram } from './examples.js';

const root = join(import.meta.dirname, '..', '..', '..');

const Offer = contractType(
  '#sandbox-assets:Main:Offer',
  t.type({ seller: t.string, buyer: t.string, price: t.string, kind: t.type({ tag: t.string, value: t.type({}) }) }),
);
const Task = contractType(
  '#sandbox-tasks:Tasks.Model:Task',
  t.type({ owner: t.string, title: t.string, due: t.string, steps: t.array(t.string) }),
);

it('the service of the automation guide acts, reports its health, and ends on SIGTERM', async () => {
  const sandbox = await startSandbox();
  const desk = sandbox.hostedParty('desk');
  const offers = ['80.0', '120.0'].map((price) =>
    create(Offer, { seller: desk, buyer: desk, price, kind: { tag: 'Fixed', value: {} } }),
  );
  const tasks = ['2020-01-31', '2999-12-31'].map((due) => create(Task, { owner: desk, title: 'task', due, steps: [] }));
  const intent = { userId: 'app', actAs: [desk] } as const;
  const ledger = createLedger({ baseUrl: sandbox.url });
  await firstValueFrom(ledger.submitAndWaitForTransaction({ ...intent, commands: [...offers, ...tasks] }));

  const child = spawn(process.execPath, [writeProgram(root, 'desk.mts')], {
    env: { ...process.env, LEDGER_URL: sandbox.url, PARTY: desk, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  const read = (data: Buffer): void => void (output += data.toString());
  child.stdout.on('data', read);
  child.stderr.on('data', read);
  const over = once(child, 'close');
  await until(() => /port: \d+\D/.test(output) || child.exitCode !== null);
  const health = async () => fetch(`http://127.0.0.1:${/port: (\d+)/.exec(output)?.[1] ?? ''}`);
  await until(async () => (await health()).status === 200 && sandbox.updates.length === 3);
  const reports = (await (await health()).json()) as readonly { readonly rule: string }[];
  expect(reports.toSorted((a, b) => a.rule.localeCompare(b.rule))).toMatchObject([
    { rule: 'accept-offers', role: 'leader', state: 'running', due: 0, failed: 0 },
    { rule: 'expire-tasks', role: 'leader', state: 'running', due: 0, failed: 0, waiting: 1 },
  ]);

  child.kill('SIGTERM');
  expect(await over).toEqual([0, null]);
  expect(output).toMatch(/stopped\n$/);
  expect(sandbox.updates).toHaveLength(3);
  await sandbox.close();
});
