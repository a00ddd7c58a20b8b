import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import type { Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import type { Sandbox, SandboxOptions, WireEventInput, WireUpdate } from '../../../../src/sandbox/index.js';
import { launchChromium, timeoutMs } from '../../../helpers/browser.js';
import { sandboxes } from '../../../helpers/localServers.js';
import { eventually, until } from '../../../helpers/time.js';
import { readOffsets } from './screen.js';

const root = join(import.meta.dirname, '..', '..', '..', '..');
const example = join(root, 'docs', 'examples', 'angular');
/** A folder with the examples, installed and built already, and the output of that. */
const examples = process.env['CANTON_RX_EXAMPLES'];

/** The explorer's settings at its start. */
interface ExplorerSettings {
  readonly baseUrl?: string;
  readonly sandbox?: boolean;
  readonly capacity?: number;
}

let folder: string;
let output: string;
let browser: Browser | undefined;
const contexts: BrowserContext[] = [];
const servers: Server[] = [];
const complaints: string[] = [];
const newSandbox = sandboxes();

// beyond that of several operations, each of which may take its own time limit on a machine that stalls
jest.setTimeout(480_000);

// once for a test file that imports this one; and no page may complain in any of its tests
beforeAll(async () => {
  ({ folder, output } = examples === undefined ? await install() : await findInstalled(examples));
  browser = await launchChromium();
}, 400_000);

afterEach(async () => {
  for (const context of contexts.splice(0)) await context.close();
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  expect(complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  if (examples === undefined) await rm(folder, { recursive: true, force: true });
});

/** The folder of the built explorer, the output of its build, and the browser. */
export const installation = () => ({ folder, output, browser });

/** Installs the example next to the packed library, and builds it. */
async function install(): Promise<{ readonly folder: string; readonly output: string }> {
  const target = await mkdtemp(join(tmpdir(), 'canton-rx-explorer-'));
  const script = join(root, 'docs', 'examples', 'install.mjs');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script, 'angular', target], { cwd: root });
  return { folder: target, output: stdout + stderr };
}

const findInstalled = async (folder: string) => ({
  folder: join(folder, 'angular'),
  output: await readFile(join(folder, 'angular.log'), 'utf8'),
});

/** Starts a sandbox, and an explorer for it. */
export async function start(
  options: SandboxOptions = {},
  settings: (sandbox: Sandbox) => ExplorerSettings = ({ url }) => ({ baseUrl: url, sandbox: true }),
): Promise<{ sandbox: Sandbox; url: string }> {
  const sandbox = await newSandbox({ cors: true, ...options });
  const { server, url } = await serve(sandbox, settings(sandbox));
  servers.push(server);
  if (browser !== undefined) contexts.push(await browser.newContext({ viewport: { width: 1280, height: 800 } }));
  return { sandbox, url };
}

interface ExplorerServer {
  readonly server: Server;
  readonly url: string;
}

/** Serves the built explorer as the example's `npm start` does. */
async function serve(sandbox: Sandbox, settings: ExplorerSettings): Promise<ExplorerServer> {
  const { serveExplorer } = (await import(join(example, 'server', 'serve-explorer.mjs'))) as {
    serveExplorer: (options: object) => Promise<ExplorerServer>;
  };
  const { controlOf } = (await import(join(example, 'server', 'control-of.mjs'))) as {
    controlOf: (sandbox: Sandbox, traffic: object) => unknown;
  };
  let rate = 5;
  // a rate without traffic: a test generates its own
  const traffic = { rate: () => rate, setRate: (next: number) => void (rate = next) };
  return serveExplorer({ folder: join(folder, 'dist'), settings, control: controlOf(sandbox, traffic) });
}

/** A blank page, which must not log errors or warnings. */
export async function newPage(): Promise<Page> {
  const page = await contexts.at(-1)?.newPage();
  if (page === undefined) throw new Error('there is no browser');
  page.setDefaultTimeout(timeoutMs);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // the browser logs failed requests, which the tests provoke
    const isNetwork = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isNetwork) complaints.push(message.text());
  });
  return page;
}

export async function open(url: string): Promise<Page> {
  const page = await newPage();
  await page.goto(url);
  return page;
}

/** A number of generated updates, or what else is on the ledger before the explorer is opened. */
type Given = number | ((sandbox: Sandbox) => unknown);

/** An explorer, opened at the page of updates. */
interface Opened {
  readonly sandbox: Sandbox;
  readonly url: string;
  readonly page: Page;
}

async function openAt(hash: string, given: Given): Promise<Opened> {
  const { sandbox, url } = await start();
  if (typeof given === 'function') given(sandbox);
  else if (given > 0) sandbox.generate(given);
  return { sandbox, url, page: await open(`${url}/${hash}`) };
}

/** Opens the page of updates, and waits until it has caught up and shows the newest. */
export async function openExplorer(given: Given = 0): Promise<Opened> {
  const opened = await openAt('', given);
  const { page, sandbox } = opened;
  await caughtUp(page);
  if (sandbox.updates.length > 0) await row(page, sandbox.ledgerEnd).waitFor();
  return opened;
}

/** Opens the page of contracts. */
export const openContracts = (given: Given = 0): Promise<Opened> => openAt('#contracts', given);

/** Holds the requests of a page until the returned function is called. */
export async function hold(page: Page, path: string | RegExp): Promise<() => void> {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  await page.route(path, (route) => released.then(() => route.continue()));
  return release;
}

/** Commits a transaction. Returns its offset. */
export const transact = (sandbox: Sandbox, events: readonly WireEventInput[], fields: object = {}): number =>
  sandbox.append({ Transaction: { value: { events, ...fields } } });

/** Cuts a page off from its ledger; the returned function restores the connection. */
export async function cutOff(page: Page): Promise<() => Promise<void>> {
  await page.route('**/v2/**', (route) => route.abort());
  return () => page.unroute('**/v2/**');
}

/** The value at a path of keys in the first entry of an IndexedDB store. Read in the page, which a key cannot leave. */
export const readStored = (page: Page, database: string, store: string, keys: readonly string[]): Promise<unknown> =>
  page.evaluate(
    (path) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open(path.database);
        opening.onerror = reject;
        opening.onsuccess = () => {
          const reading = opening.result.transaction(path.store).objectStore(path.store).getAll();
          reading.onsuccess = () => {
            opening.result.close();
            resolve(
              path.keys.reduce<unknown>((value, key) => Reflect.get(Object(value) as object, key), reading.result[0]),
            );
          };
        };
      }),
    { database, store, keys },
  );

/** Waits until the tabs' shared position has reached an offset, and expects that it is there. */
export const expectSaved = async (page: Page, offset: number): Promise<void> => {
  const savedOffset = async (): Promise<number> =>
    Number((await readStored(page, 'explorer-places', 'cursors', ['offset'])) ?? -1);
  await until(async () => (await savedOffset()) >= offset);
  expect(await savedOffset()).toBe(offset);
};

/** The offset and the id of an update of the sandbox. */
export function valueOf(update: WireUpdate): { readonly offset: number; readonly updateId: string } {
  const [content] = Object.values(update) as {
    readonly value: { readonly offset: number; readonly updateId: string };
  }[];
  if (content === undefined) throw new Error('an update has a variant');
  return content.value;
}

/** The offsets of a sandbox's updates, the newest first. */
export const offsetsOf = (sandbox: Sandbox): number[] =>
  sandbox.updates.map((update) => valueOf(update).offset).reverse();

/** The beginExclusive of a request's body, if it has one. */
export const beginOf = (body: unknown): number[] =>
  typeof body === 'object' && body !== null && 'beginExclusive' in body ? [Number(body.beginExclusive)] : [];

export const row = (page: Page, offset: number) => page.locator(`#row-${offset}`);
/** The panel next to the table. */
export const panelOf = (page: Page): Locator => page.getByRole('complementary');
export const press = (page: Page, name: string | RegExp): Promise<void> => page.getByRole('button', { name }).click();
/** Leads to another page of the explorer. */
export const goTo = (page: Page, name: string): Promise<void> => page.getByRole('link', { name }).click();
export const expectFocus = (page: Page, selector: string): Promise<void> =>
  until(() => page.evaluate((within) => Boolean(document.activeElement?.closest(within)), selector));
export const waitForStatus = (page: Page, text: string): Promise<void> =>
  page.getByRole('status').filter({ hasText: text }).waitFor();
export const caughtUp = (page: Page): Promise<void> => waitForStatus(page, 'Caught up');

/** Expects the table to have these rows in the end. Fails at once where an update is in it twice. */
export const expectShown = (page: Page, offsets: readonly number[]): Promise<void> =>
  eventually(() => readOffsets(page), offsets);

/** Opens the submission panel and makes a key. */
export async function makeKey(page: Page, algorithm = 'Ed25519'): Promise<void> {
  await page.getByRole('button', { name: 'Submit…' }).click();
  await page.getByRole('combobox', { name: /^Key/ }).selectOption(algorithm);
  await page.getByRole('button', { name: 'Make a key and host the party' }).click();
}

export const submit = (page: Page): Promise<void> =>
  page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).click();

/** What is entered in the form of connections beside the address. */
interface Connection {
  readonly token?: string;
  readonly parties?: string;
  readonly begin?: 'end';
}

/** Opens a ledger in the form of connections, which is there. */
export async function enterLedger(page: Page, address: string, connection: Connection = {}): Promise<void> {
  const { token, parties, begin } = connection;
  await page.getByLabel('Address of the JSON Ledger API').fill(address);
  if (token !== undefined) await page.getByLabel('Token').fill(token);
  if (parties !== undefined) await page.getByLabel('Parties').fill(parties);
  if (begin !== undefined) await page.getByRole('combobox').selectOption(begin);
  await press(page, /^Open$/);
}

/** Opens another ledger. */
export async function connectTo(page: Page, address: string, connection?: Connection): Promise<void> {
  await page.getByTitle('Connection').click();
  await enterLedger(page, address, connection);
}

/** Waits for the outcome of the latest submission. */
export const outcome = (page: Page, word: string): Promise<void> =>
  page.getByRole('log').first().getByText(word, { exact: true }).waitFor();
