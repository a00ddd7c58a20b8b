import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { isDeepStrictEqual, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import type { Browser } from 'playwright-core';
import { firstValueFrom } from 'rxjs';
import { contractType, create, createLedger } from '../../../src/index.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { findAccessibilityViolations } from '../../helpers/accessibility.js';
import { itInChromium, launchChromium } from '../../helpers/browser.js';
import { sendSignal } from '../../helpers/servers.js';
import { until } from '../../helpers/time.js';
import { openStream, type Stream } from './nest/stream.js';

const root = join(import.meta.dirname, '..', '..', '..');
/** A folder with the examples, installed and built already. */
const examples = process.env['CANTON_RX_EXAMPLES'];
const next = join('node_modules', 'next', 'dist', 'bin', 'next');
const servers: ChildProcess[] = [];
let folder: string;
let sandbox: Sandbox;
let address: string;
let browser: Browser | undefined;

beforeAll(async () => {
  folder = examples === undefined ? await mkdtemp(join(tmpdir(), 'canton-rx-next-')) : join(examples, 'next');
  const script = join(root, 'docs', 'examples', 'install.mjs');
  if (examples === undefined) await promisify(execFile)(process.execPath, [script, 'next', folder], { cwd: root });
  sandbox = await startSandbox();
  await addTask('alice', 'Sweep');
  await addTask('bob', 'Polish');
  address = await serve([next, 'start', '--hostname', '127.0.0.1', '--port', '0'], { LEDGER_URL: sandbox.url });
  browser = await launchChromium();
}, 400_000);

afterAll(async () => {
  await browser?.close();
  for (const server of servers) {
    const over = once(server, 'exit');
    if (server.exitCode !== null || server.signalCode !== null) continue;
    // with the processes that it has started: they would keep the output of this process open
    sendSignal([-(server.pid ?? 0)], 'SIGKILL');
    await over;
  }
  await sandbox.close();
  if (examples === undefined) await rm(folder, { recursive: true, force: true });
});

/** Starts the application, and returns its address. */
async function serve(args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { ...process.env, NEXT_TELEMETRY_DISABLED: '1', ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  servers.push(child);
  for await (const line of createInterface(child.stdout)) {
    const found = /Local: +(http:\S+)/.exec(line)?.[1];
    if (found !== undefined) return found;
  }
  throw new Error('the application has ended');
}

const Task = contractType('#sandbox-tasks:Tasks.Model:Task', t.type({ title: t.string }));

/** Creates a task of a user. */
function addTask(user: string, title: string): Promise<unknown> {
  const owner = sandbox.parties.find((party) => party.startsWith(`${user}::`)) ?? '';
  const command = create(Task, { owner, title, due: '2030-01-01', steps: [] } as { title: string });
  const ledger = createLedger({ baseUrl: sandbox.url });
  return firstValueFrom(ledger.submitAndWaitForTransaction({ userId: 'tests', actAs: [owner], commands: [command] }));
}

/** Signs in by the form of the page, as a browser without scripts does, and returns the cookie. */
async function signIn(user: string): Promise<string> {
  const page = await (await fetch(address)).text();
  const form = new FormData();
  form.set(/\$ACTION_ID_[0-9a-f]+/.exec(page)?.[0] ?? '', '');
  form.set('user', user);
  const response = await fetch(address, { method: 'POST', body: form, headers: { origin: address } });
  return response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
}

const open = (cookie: string, headers: Readonly<Record<string, string>> = {}, query = ''): Promise<Stream> =>
  openStream(`${address}/api/contracts${query}`, { cookie, ...headers });

const textOf = ({ messages }: Stream): string => JSON.stringify(messages);

/** Opens the page as a user, and collects what it complains about. */
async function openPage(url: string, user: string) {
  const page = await browser?.newPage();
  if (page === undefined) throw new Error('there is no browser');
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
  });
  page.on('pageerror', ({ message }) => complaints.push(message));
  await page.goto(url);
  await page.getByRole('button', { name: `Sign in as ${user}` }).click();
  await page.getByRole('heading', { name: `Tasks of ${user}` }).waitFor();
  await page.locator('table.live').waitFor();
  const titles = () => page.locator('tbody td:first-child').allTextContents();
  return { page, complaints, titles };
}

describe('the route handler of the Next example', () => {
  it('sends each user their own contracts, whatever else is in the request', async () => {
    const [alice, bob] = [await signIn('alice'), await signIn('bob')];
    const [ofAlice, ofBob] = [await open(alice), await open(bob)];
    await until(() => textOf(ofAlice).includes('Sweep'));
    await until(() => textOf(ofBob).includes('Polish'));
    const stolen = { 'last-event-id': String(ofBob.messages.at(-1)?.id), authorization: 'Bearer bob' };
    const curious = await open(alice, stolen, '?user=bob&parties=bob');
    await addTask('bob', 'Secret of bob');
    await until(() => textOf(ofBob).includes('Secret of bob'));
    await addTask('alice', 'Mop');
    for (const stream of [ofAlice, curious]) {
      await until(() => textOf(stream).includes('Mop'));
      expect(textOf(stream)).not.toMatch(/Polish|Secret of bob|bob::/);
    }
    expect(textOf(ofBob)).not.toMatch(/Sweep|Mop|alice::/);
    // one snapshot for both users
    expect(sandbox.requests.filter(({ path }) => path.startsWith('/v2/state/active-contracts'))).toHaveLength(1);
    for (const stream of [ofAlice, ofBob, curious]) stream.close();
  });

  it('answers as a stream that no proxy may change, and 401 without a session', async () => {
    const controller = new AbortController();
    const request = (cookie: string) =>
      fetch(`${address}/api/contracts`, { headers: { cookie, 'accept-encoding': 'gzip' }, signal: controller.signal });
    const { status, headers } = await request(await signIn('alice'));
    const names = ['content-type', 'cache-control', 'content-encoding'];
    expect([status, ...names.map((name) => headers.get(name))]).toEqual([
      200,
      'text/event-stream',
      'no-store, no-transform',
      null,
    ]);
    controller.abort();
    expect((await fetch(`${address}/api/contracts`)).status).toBe(401);
    expect((await open('session=forged')).status).toBe(401);
  });

  it('ends its feed when the last client has left', async () => {
    const isOver = (): boolean => sandbox.requests.some(({ aborted }) => aborted);
    const [first, second] = [await open(await signIn('alice')), await open(await signIn('bob'))];
    await until(() => first.messages.length > 0 && second.messages.length > 0);
    first.close();
    second.close();
    await until(isOver);
  });
});

describe('the page of the Next example', () => {
  it('is rendered on the server without contracts', async () => {
    const response = await fetch(address, { headers: { cookie: await signIn('alice') } });
    const html = (await response.text()).replaceAll('<!-- -->', '');
    expect(html).toContain('<h1>Tasks of alice</h1>');
    expect(html).toContain('<p>Counting</p>');
    expect(html).toContain('<p>Loading</p>');
    expect(html).not.toContain('Sweep');
  });

  itInChromium('becomes a live table without a complaint, and shows another user their own', async () => {
    const { page, complaints, titles } = await openPage(address, 'alice');
    await page.reload();
    await page.getByRole('cell', { name: 'Sweep' }).waitFor();
    await addTask('alice', 'Water the plants');
    await until(async () => (await titles())[0] === 'Water the plants');
    await page.getByText(`${(await titles()).length} tasks`).waitFor();
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await findAccessibilityViolations(page)).toEqual([]);
    }
    expect(complaints).toEqual([]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in as bob' }).click();
    await page.getByRole('cell', { name: 'Polish' }).waitFor();
    expect(await titles()).not.toContain('Water the plants');
    await page.close();
  });

  itInChromium('is started with a ledger that has traffic, and stops while a page is open', async () => {
    const url = await serve(['start.mjs', 'start'], { PORT: '0', SANDBOX_PORT: '0' });
    const { page, complaints, titles } = await openPage(url, 'bob');
    // a task of bob's may be the first that the traffic creates
    await page.locator('tbody tr').first().waitFor();
    const before = await titles();
    await until(async () => !isDeepStrictEqual(await titles(), before));
    expect(complaints).toEqual([]);
    const server = servers.at(-1);
    server?.kill();
    await until(() => server?.exitCode !== null);
    expect(server?.exitCode).toBe(0);
    await page.locator('table.stale').waitFor();
    await page.close();
  });
});
