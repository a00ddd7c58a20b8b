import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { request, type IncomingMessage, type RequestOptions, type Server } from 'node:http';
import { join } from 'node:path';
import process from 'node:process';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';
import { cantonError, type Sandbox, type SandboxOptions } from '../../../src/sandbox/index.js';
import { comesToBe } from '../../helpers/comesToBe.js';
import { itInChromium } from '../../helpers/inChromium.js';
import { sandboxes } from '../../helpers/sandboxes.js';
import { until } from '../../helpers/servers.js';
import { installExplorer, serveExplorer, type ExplorerSettings } from './explorer/explorer.js';
import { offsetsOnScreen } from './explorer/offsetsOnScreen.js';
import { placeOf } from './explorer/placeOf.js';
import { scrolled } from './explorer/scrolled.js';
import { takeScreenshots } from './explorer/takeScreenshots.js';
import { violationsOn } from './explorer/violationsOn.js';

// an explorer that is installed and built already, while one works on these tests
const built = process.env['CANTON_RX_EXPLORER'];
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

let folder: string;
let printed: string;
let browser: Browser | undefined;
let context: BrowserContext | undefined;
const servers: Server[] = [];
const complaints: string[] = [];
const newSandbox = sandboxes();

beforeAll(async () => {
  ({ folder, printed } = built === undefined ? await installExplorer() : { folder: built, printed: '' });
  const args = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'];
  if (existsSync(executablePath)) browser = await chromium.launch({ executablePath, args });
}, 400_000);

afterEach(async () => {
  await context?.close();
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
  expect(complaints.splice(0)).toEqual([]);
});

afterAll(async () => {
  await browser?.close();
  if (built === undefined) await rm(folder, { recursive: true, force: true });
});

async function start(
  options: SandboxOptions = {},
  settings: (sandbox: Sandbox) => ExplorerSettings = ({ url }) => ({ baseUrl: url, sandbox: true }),
): Promise<{ sandbox: Sandbox; url: string }> {
  const sandbox = await newSandbox({ cors: true, ...options });
  const { server, url } = await serveExplorer(folder, sandbox, settings(sandbox));
  servers.push(server);
  context = await browser?.newContext({ viewport: { width: 1280, height: 800 } });
  return { sandbox, url };
}

async function open(url: string, before?: (page: Page) => Promise<void>): Promise<Page> {
  const page = await context?.newPage();
  if (page === undefined) throw new Error('there is no browser');
  page.setDefaultTimeout(60_000);
  page.on('pageerror', ({ message }) => complaints.push(message));
  page.on('console', (message) => {
    // the browser itself tells of answers that are no good; those are what the tests are about
    const isNetwork = message.text().startsWith('Failed to load resource');
    if (['error', 'warning'].includes(message.type()) && !isNetwork) complaints.push(message.text());
  });
  await before?.(page);
  await page.goto(url);
  return page;
}

/** Cuts a page off from its ledger; to be called once it is to have it back. */
async function cutOff(page: Page): Promise<() => Promise<void>> {
  await page.route('**/v2/**', (route) => route.abort());
  return () => page.unroute('**/v2/**');
}

/** What the first entry of a store in IndexedDB has at a path of keys: a key itself cannot leave the page. */
const stored = (page: Page, database: string, store: string, keys: readonly string[]): Promise<unknown> =>
  page.evaluate(
    (asked) =>
      new Promise((resolve, reject) => {
        const opening = indexedDB.open(asked.database);
        opening.onerror = reject;
        opening.onsuccess = () => {
          const reading = opening.result.transaction(asked.store).objectStore(asked.store).getAll();
          reading.onsuccess = () => {
            opening.result.close();
            resolve(
              asked.keys.reduce<unknown>((value, key) => Reflect.get(Object(value) as object, key), reading.result[0]),
            );
          };
        };
      }),
    { database, store, keys },
  );

/** The place that the tabs share. */
const savedOffset = async (page: Page): Promise<number> =>
  Number((await stored(page, 'explorer-places', 'cursors', ['offset'])) ?? -1);

const expectSaved = async (page: Page, offset: number): Promise<void> => {
  await until(async () => (await savedOffset(page)) >= offset);
  expect(await savedOffset(page)).toBe(offset);
};

const row = (page: Page, offset: number) => page.locator(`#row-${offset}`);
const offsetsOf = (sandbox: Sandbox): number[] => sandbox.updates.map((update) => placeOf(update).offset).reverse();
const caughtUp = (page: Page) => page.getByRole('status').filter({ hasText: 'Caught up' }).waitFor();

/** What can be scrolled to, in the end; an update that stands there twice on the way is found as well. */
const expectShown = (page: Page, offsets: readonly number[]): Promise<void> =>
  comesToBe(() => offsetsOnScreen(page), offsets);

async function makeKey(page: Page, algorithm = 'Ed25519'): Promise<void> {
  await page.getByRole('button', { name: 'Submit…' }).click();
  await page.getByRole('combobox', { name: /^Key/ }).selectOption(algorithm);
  await page.getByRole('button', { name: 'Make a key and host the party' }).click();
}

const submit = (page: Page) => page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).click();
const stepsOf = (page: Page) => page.getByRole('log').first().locator('li > span').allInnerTexts();
const outcome = (page: Page, word: string) => page.getByRole('log').first().getByText(word, { exact: true }).waitFor();

describe('the explorer', () => {
  it('is built without a warning, and the library is a small part of it', async () => {
    if (built === undefined) expect(printed).toContain('Application bundle generation complete');
    expect(printed).not.toMatch(/WARNING|CommonJS/);
    const { outputs } = JSON.parse(await readFile(join(folder, 'dist', 'stats.json'), 'utf8')) as {
      outputs: Record<
        string,
        { bytes: number; entryPoint?: string; inputs: Record<string, { bytesInOutput: number }> }
      >;
    };
    const main = Object.values(outputs).find(({ entryPoint }) => entryPoint?.includes('main.ts'));
    const bytesOf = (name: string): number =>
      Object.entries(main?.inputs ?? {})
        .filter(([path]) => path.includes(`node_modules/${name}/`))
        .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0);
    const library = bytesOf('canton-rx');
    console.log(
      `main ${kB(main?.bytes ?? 0)}, of which canton-rx ${kB(library)}, io-ts and fp-ts ${kB(bytesOf('io-ts') + bytesOf('fp-ts'))}, ky ${kB(bytesOf('ky'))}`,
    );
    expect(library).toBeGreaterThan(10_000);
    expect(library).toBeLessThan(120_000);
  });

  it('is served alone, and obeys no other page', async () => {
    const { url } = await start();
    const asked = (path: string, options: RequestOptions = {}) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        // not `fetch`, which would put the path in order first
        request(url, { path, ...options }, resolve)
          .on('error', reject)
          .end(options.method === 'POST' ? '{"count":1}' : undefined);
      });
    const outside = [
      '/../package.json',
      // as to a proxy
      'http://x/../../../package.json',
      '/..%2fpackage.json',
      '/%2e%2e/package.json',
      '/%zz',
      '//',
      '/server',
      '/control/x',
    ];
    const answers = await Promise.all(outside.map((path) => asked(path)));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(outside.map(() => 404));

    const form = { method: 'POST', headers: { 'content-type': 'text/plain' } };
    expect((await asked('/control/generate', form)).statusCode).toBe(405);
    const preflight = await asked('/control/generate', { method: 'OPTIONS', headers: { origin: 'http://elsewhere' } });
    expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    const page = await asked('/');
    expect(page.headers['content-security-policy']).toContain("default-src 'self'");
  });

  itInChromium('shows the updates there are and those that come, the newest first', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(120);
    const page = await open(url);
    await caughtUp(page);
    await expectShown(page, offsetsOf(sandbox));

    await page.getByRole('button', { name: /Newest/ }).click();
    sandbox.generate(5);
    await row(page, sandbox.ledgerEnd).waitFor();
    expect(await page.getByRole('row').first().getAttribute('id')).toBe(`row-${sandbox.ledgerEnd}`);
  });

  for (const profile of ['3.4', '3.6'] as const) {
    itInChromium(`goes on after a reload on Canton ${profile}`, async () => {
      const { sandbox, url } = await start({ profile });
      sandbox.generate(60);
      const page = await open(url);
      await caughtUp(page);
      await row(page, sandbox.ledgerEnd).waitFor();
      await expectSaved(page, sandbox.ledgerEnd);
      await page.goto('about:blank');
      sandbox.generate(30);
      await page.goto(url);
      // the one cannot be read backward
      const shown = profile === '3.4' ? 30 : 90;
      await expectShown(page, offsetsOf(sandbox).slice(0, shown));
      await comesToBe(() => page.getByText('cannot be read backward').count(), profile === '3.4' ? 1 : 0);
    });
  }

  itInChromium('narrows the table by variant, party, template, synchronizer and text', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(200);
    const page = await open(url);
    await caughtUp(page);
    const wanted = (is: (text: string, variant: string) => boolean): number[] =>
      sandbox.updates
        .filter((update) => is(JSON.stringify(update), Object.keys(update)[0] ?? ''))
        .map((update) => placeOf(update).offset)
        .reverse();

    await page.getByRole('button', { name: 'Reassignments' }).click();
    await expectShown(
      page,
      wanted((_, variant) => variant === 'Reassignment'),
    );
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByLabel('Template').selectOption('Tasks.Model:Task');
    await page.getByRole('button', { name: 'Transactions' }).click();
    const tasks = wanted((text, variant) => variant === 'Transaction' && text.includes(':Tasks.Model:Task"'));
    expect(tasks.length).toBeGreaterThan(0);
    await expectShown(page, tasks);
    await page.getByRole('button', { name: 'Clear' }).click();

    await page.getByLabel('Party').selectOption({ label: 'dora' });
    await page.getByLabel('Synchronizer').selectOption({ label: 'sync2' });
    const ofSync2 = `"synchronizerId":"${sandbox.synchronizers[1] ?? '?'}"`;
    await expectShown(
      page,
      wanted((text) => text.includes('dora::') && text.includes(ofSync2)),
    );
    await page.getByRole('button', { name: 'Clear' }).click();

    // `/` goes to the filter; an id is found by its beginning
    await page.keyboard.press('/');
    const [first] = sandbox.updates.map(placeOf);
    await page.keyboard.type(first?.updateId.slice(0, 20) ?? '');
    await expectShown(page, offsetsOf(sandbox).slice(-1));
  });

  itInChromium('has every filter within reach on a page of any width', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(40);
    const page = await open(url);
    await caughtUp(page);
    for (const width of [1280, 1000, 800]) {
      await page.setViewportSize({ width, height: 800 });
      await until(async () => {
        const filter = await page.getByLabel('Synchronizer').boundingBox();
        return filter !== null && filter.x + filter.width <= width;
      });
    }
  });

  itInChromium('tells parties of one name apart', async () => {
    const { sandbox, url } = await start();
    const [one, other] = [sandbox.externalParty('frank').party, sandbox.externalParty('frank').party];
    for (const party of [one, other, one])
      sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { signatories: [party] } }] } } });
    const page = await open(url);
    await caughtUp(page);
    const fingerprint = other.slice('frank::1220'.length);
    await page.getByLabel('Party').selectOption({ label: `frank · ${fingerprint.slice(0, 10)}…` });
    await expectShown(page, offsetsOf(sandbox).slice(1, 2));
  });

  itInChromium('has no trouble with thousands of parties', async () => {
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    for (let n = 0; n < 5_000; n += 1) {
      const signatories = [`party${n}::1220${String(n).padStart(64, '0')}`];
      sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { signatories } }] } } });
    }
    const page = await open(url, async (opened) => {
      await opened.addInitScript(() => {
        const tasks: number[] = [];
        Object.assign(window, { tasks });
        new PerformanceObserver((list) => {
          tasks.push(...list.getEntries().map(({ duration }) => duration));
        }).observe({ entryTypes: ['longtask'] });
      });
    });
    await page.getByText('5,000 here').waitFor();
    await row(page, sandbox.ledgerEnd).waitFor();
    // each of them compared with all others, it is twenty seconds and not a tenth of one
    const busyMs = await page.evaluate(() =>
      (window as unknown as { tasks: number[] }).tasks.reduce((sum, each) => sum + each, 0),
    );
    expect(busyMs).toBeLessThan(10_000);
    await page.getByLabel('Party').selectOption({ label: 'party4321' });
    await expectShown(page, [4_322]);
  });

  itInChromium('shows an update and the life of a contract, by keys alone', async () => {
    const { sandbox, url } = await start();
    const key = sandbox.externalParty('frank');
    sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: { createArgument: { motto: 'once & for <all>' } } }] } },
    });
    const created = sandbox.ledgerEnd;
    sandbox.generate(40);
    const page = await open(url);
    await caughtUp(page);
    expect(key.party).toContain('frank');

    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary');
    await panel.getByText('once & for <all>').waitFor();
    expect(await panel.getByRole('heading', { level: 2 }).innerText()).toBe(`Update ${created}`);

    // the panel goes along, up and down
    await page.keyboard.press('ArrowUp');
    const [, second] = offsetsOf(sandbox).reverse();
    await panel.getByRole('heading', { name: `Update ${second ?? '?'}` }).waitFor();
    await page.keyboard.press('ArrowDown');
    await panel.getByText('once & for <all>').waitFor();

    const contract = panel.getByRole('button', { name: /^Contract / });
    await contract.focus();
    await page.keyboard.press('Enter');
    await panel.getByText('1 event seen').waitFor();
    // the button is gone, and the keyboard is still in the panel
    await focusComesTo(page, '.panel');
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await focusComesTo(page, '[role=grid]');
    // and once more to the newest
    await page.keyboard.press('Escape');
    await row(page, sandbox.ledgerEnd).waitFor();
  });

  itInChromium('leads the keyboard from the filter to what it found, and into what is opened', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(60);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('asset');
    await page.keyboard.press('ArrowDown');
    await focusComesTo(page, '[role=grid]');
    expect(await page.getByRole('row', { selected: true }).getAttribute('aria-rowindex')).toBe('1');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary').getByText('Update id').waitFor();
    await focusComesTo(page, '[role=grid]');

    await page.getByRole('button', { name: 'Submit…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name of the party').waitFor();
    await focusComesTo(page, '.panel');
  });

  itInChromium('reads an update again once the ledger is back', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await open(url);
    await caughtUp(page);
    sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /updates/, times: 3 });
    await page.getByRole('row').first().click();
    await page.getByRole('complementary').getByText('Update id').waitFor();
  });

  itInChromium('says why an update cannot be read, and reads it when it can', async () => {
    let isKnown = true;
    const { sandbox, url } = await start({ checkToken: () => isKnown });
    sandbox.generate(60);
    const page = await open(url);
    await caughtUp(page);
    const panel = page.getByRole('complementary');
    isKnown = false;
    await page.getByRole('row').first().click();
    await panel.getByText('The ledger service refuses the token.').waitFor();
    isKnown = true;
    await panel.getByRole('button', { name: 'Try again' }).click();
    await panel.getByText('Update id').waitFor();

    sandbox.prune(sandbox.ledgerEnd);
    await page.getByRole('row').nth(1).click();
    await panel.getByText('It has been pruned.').waitFor();
    expect(await panel.getByRole('button', { name: 'Try again' }).count()).toBe(0);
  });

  for (const algorithm of ['Ed25519', 'P-256']) {
    itInChromium(`signs with a key of ${algorithm}, and shows each step and the transaction`, async () => {
      const { sandbox, url } = await start();
      sandbox.generate(20);
      const page = await open(url);
      await caughtUp(page);
      await makeKey(page, algorithm);
      await submit(page);
      await outcome(page, 'committed');
      await comesToBe(
        () => stepsOf(page),
        ['Prepared', 'Verified', 'Signed', 'Sent', `Committed at ${sandbox.ledgerEnd}.`],
      );
      await row(page, sandbox.ledgerEnd).getByText('erin').waitFor();

      // and away with it again, by way of the contract
      await page.getByRole('button', { name: 'Show' }).click();
      await page.getByRole('button', { name: /^Contract / }).click();
      await page.getByRole('button', { name: 'Archive…' }).click();
      const options = page.getByRole('combobox', { name: /^Contract/ }).locator('option:not([disabled])');
      await options.waitFor({ state: 'attached' });
      const before = sandbox.ledgerEnd;
      await submit(page);
      await row(page, before + 1)
        .getByText('Asset.Archive')
        .waitFor();
    });
  }

  itInChromium('keeps the key over a reload, where nobody can read it', async () => {
    const { sandbox, url } = await start();
    const page = await open(url);
    await caughtUp(page);
    await makeKey(page);
    await page.getByRole('button', { name: 'New key' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Submit…' }).click();
    await submit(page);
    await outcome(page, 'committed');
    expect(sandbox.updates).toHaveLength(1);
    const isReadable = await stored(page, 'explorer-keys', 'identities', ['key', 'privateKey', 'extractable']);
    expect(isReadable).toBe(false);
  });

  itInChromium('finds out that a submission was committed whose answer was lost, and commits it once', async () => {
    const { sandbox, url } = await start();
    const page = await open(url);
    await caughtUp(page);
    await makeKey(page);
    await page.getByRole('button', { name: 'Lose the next answer' }).click();
    await page.getByRole('button', { name: 'Will lose the next answer' }).waitFor();
    await submit(page);
    await outcome(page, 'committed');
    await comesToBe(
      () => stepsOf(page),
      ['Prepared', 'Verified', 'Signed', 'Sent', 'Unclear', 'Asked again', `Committed at ${sandbox.ledgerEnd}.`],
    );
    await page.getByRole('button', { name: 'Lose the next answer' }).waitFor();
    expect(sandbox.updates).toHaveLength(1);
    await expectShown(page, [sandbox.ledgerEnd]);
  });

  itInChromium('says why a submission was refused', async () => {
    const { sandbox, url } = await start();
    const page = await open(url);
    await caughtUp(page);
    await makeKey(page);
    const body = cantonError('LOCAL_VERDICT_INACTIVE_CONTRACTS');
    sandbox.fault({ kind: 'status', status: 404, body }, { path: /executeAndWaitForTransaction$/ });
    await submit(page);
    await outcome(page, 'rejected');
    await page.getByText('The ledger refused it: LOCAL_VERDICT_INACTIVE_CONTRACTS.').waitFor();
    expect(sandbox.updates).toHaveLength(0);
  });

  itInChromium('says why a submission could not be prepared', async () => {
    const { sandbox, url } = await start();
    const page = await open(url);
    await caughtUp(page);
    await makeKey(page);
    const body = cantonError('CONTRACT_NOT_FOUND');
    sandbox.fault({ kind: 'status', status: 404, body }, { path: /prepare$/ });
    await submit(page);
    await outcome(page, 'failed');
    await page.getByText('CONTRACT_NOT_FOUND. Nothing was done.').waitFor();
  });

  itInChromium('submits once where somebody clicks twice', async () => {
    const { sandbox, url } = await start();
    const page = await open(url);
    await caughtUp(page);
    await makeKey(page);
    await page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).dblclick();
    await outcome(page, 'committed');
    expect(await page.getByRole('log').count()).toBe(1);
    expect(sandbox.updates).toHaveLength(1);
    await submit(page);
    await comesToBe(() => page.getByRole('log').getByText('committed', { exact: true }).count(), 2);
  });

  itInChromium('asks before a page is left whose submission goes on', async () => {
    const { url } = await start();
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const page = await open(url, async (opened) => {
      await opened.route(/executeAndWaitForTransaction$/, (route) => answered.then(() => route.continue()));
    });
    await caughtUp(page);
    await makeKey(page);
    await submit(page);
    await page.getByRole('log').getByText('Sent').waitFor();
    const asked = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const dialog = await asked;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    answer();
    await outcome(page, 'committed');
    // and now it does not
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
  });

  itInChromium('signs in each tab with a key that one of them has made', async () => {
    const { sandbox, url } = await start();
    const [one, other] = [await open(url), await open(url)];
    await other.getByRole('button', { name: 'Submit…' }).click();
    await other.getByRole('button', { name: 'Make a key and host the party' }).waitFor();
    await makeKey(one);
    await Promise.all([submit(one), submit(other)]);
    await Promise.all([outcome(one, 'committed'), outcome(other, 'committed')]);
    expect(sandbox.updates).toHaveLength(2);
  });

  itInChromium('misses and doubles nothing while the ledger goes down and comes back', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(50);
    const page = await open(url);
    await caughtUp(page);
    const letThrough = await cutOff(page);
    await sandbox.restart({ downMs: 200 });
    await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    sandbox.generate(60);
    await letThrough();
    sandbox.fault({ kind: 'truncate', bytes: 900 }, { path: /updates/, times: 2 });
    sandbox.generate(40);
    await caughtUp(page);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('is not taken for retrying because of a panel that was closed', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    const { offset } = placeOf(sandbox.updates[10] ?? raise());
    // what comes before the feed's place is the panel's
    await page.route(/updates/, async (route) => {
      const isFeeds = beginOf(route.request().postDataJSON()).every((begin) => begin >= sandbox.ledgerEnd);
      await (isFeeds ? route.continue() : route.fulfill({ status: 503, body: 'not yet' }));
    });
    await row(page, offset).click();
    await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    await page.keyboard.press('Escape');
    await caughtUp(page);
  });

  itInChromium('is not taken for retrying because the ledger was away when it was opened, or resumed', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    let letThrough = (): Promise<void> => Promise.resolve();
    const page = await open(url, async (opened) => {
      letThrough = await cutOff(opened);
    });
    await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    await letThrough();
    await caughtUp(page);

    letThrough = await cutOff(page);
    await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    for (let times = 0; times < 2; times += 1) {
      await page.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    }
    await letThrough();
    await caughtUp(page);
  });

  itInChromium('has no updates to show of a ledger that cannot be read', async () => {
    const { sandbox, url } = await start();
    sandbox.fault({ kind: 'status', status: 503, body: 'not yet' }, { path: /updates/, times: 1_000 });
    sandbox.generate(30);
    const page = await open(url);
    await page.getByRole('status').filter({ hasText: 'Retrying' }).waitFor();
    await page.getByText('No updates yet.').waitFor();
  });

  itInChromium('goes on where it was paused', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('status').filter({ hasText: 'Paused' }).waitFor();
    const before = offsetsOf(sandbox);
    const asked = () => sandbox.requests.filter(({ path }) => path.includes('/updates')).length;
    sandbox.generate(30);
    const polls = asked();
    await expectShown(page, before);
    expect(asked()).toBe(polls);
    await page.getByRole('button', { name: /Newest|new/ }).click();
    await page.getByRole('button', { name: 'Resume' }).click();
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('tells neither lag nor rate while it is paused', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await open(url);
    await caughtUp(page);
    const numbers = () => page.locator('.lag dd, .rate dd').allInnerTexts();
    await until(async () => (await numbers())[0] === '0');
    await page.getByRole('button', { name: 'Pause' }).click();
    await comesToBe(numbers, ['–', '–/s']);
    await page.getByRole('button', { name: 'Resume' }).click();
    await until(async () => (await numbers())[0] === '0');
  });

  itInChromium('draws its chart on, rather than another each second', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(30);
    const page = await open(url, ({ clock }) => clock.install());
    await caughtUp(page);
    await page.clock.runFor(3_000);
    const chart = await page.locator('canvas').elementHandle();
    await page.clock.runFor(3_000);
    expect(await chart.evaluate((canvas) => canvas.isConnected)).toBe(true);
  });

  itInChromium('has each update once, however often it is paused and resumed in the midst of them', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(4_000);
    const page = await open(url);
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.evaluate(async () => {
      for (let times = 0; times < 25; times += 1) {
        for (const click of ['pause', 'resume']) {
          document.querySelector<HTMLButtonElement>('app-status-strip .toggle')?.click();
          await new Promise((resolve) => setTimeout(resolve, click === 'pause' ? 15 : 30));
        }
      }
    });
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.getByText('4,000 here').waitFor();
  });

  itInChromium('goes on from its place after a reload, and reads what was before it when asked', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(700);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    const place = sandbox.ledgerEnd;
    await page.goto('about:blank');
    sandbox.generate(20);
    const asked = sandbox.requests.length;
    await page.goto(url);
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.getByRole('button', { name: 'Load earlier' }).waitFor();
    const shown = await offsetsOnScreen(page);
    // the two hundred before the place, and all behind it
    expect(shown).toEqual(offsetsOf(sandbox).slice(0, shown.length));
    expect(shown.length).toBeGreaterThanOrEqual(220);
    expect(shown.length).toBeLessThan(700);
    const begins = sandbox.requests.slice(asked).flatMap(({ body }) => beginOf(body));
    expect(begins.filter((begin) => begin > 0 && begin < place - 600)).toEqual([]);

    await page.getByRole('button', { name: 'Load earlier' }).click();
    await page.getByRole('button', { name: 'Load earlier' }).waitFor({ state: 'detached' });
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('lets a second tab begin at the place of the first, each with a display of its own', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(300);
    const first = await open(url);
    await caughtUp(first);
    await row(first, sandbox.ledgerEnd).waitFor();
    await first.getByRole('button', { name: 'Pause' }).click();
    sandbox.generate(100);
    const second = await open(url);
    await row(second, sandbox.ledgerEnd).waitFor();
    const behind = await offsetsOnScreen(second);
    expect(behind).toEqual(offsetsOf(sandbox).slice(0, behind.length));
    // the second is ahead now: the first goes on from its own place all the same
    await first.bringToFront();
    await first.getByRole('button', { name: 'Resume' }).click();
    await expectShown(first, offsetsOf(sandbox));
  });

  itInChromium('never moves the place back that the tabs share', async () => {
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    sandbox.generate(100);
    const first = await open(url);
    await caughtUp(first);
    await row(first, sandbox.ledgerEnd).waitFor();
    await first.getByRole('button', { name: 'Pause' }).click();
    const place = sandbox.ledgerEnd;
    sandbox.generate(1_200);
    const second = await open(url);
    await row(second, sandbox.ledgerEnd).waitFor();
    await expectSaved(second, sandbox.ledgerEnd);
    await second.close();

    // the first gets one page of what it lacks, and no more comes
    await first.route(/updates/, async (route) => {
      if (beginOf(route.request().postDataJSON()).every((begin) => begin <= place)) await route.continue();
    });
    await first.bringToFront();
    await first.getByRole('button', { name: 'Resume' }).click();
    await first.getByText('600 here').waitFor();
    // it has saved its place once it has told of it
    await first.getByText('Catching up').waitFor();
    await expectSaved(first, sandbox.ledgerEnd);
  });

  itInChromium('begins anew on a ledger that was restored', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(100);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.goto('about:blank');
    sandbox.restore(40);
    sandbox.generate(120, { seed: 9 });
    await page.goto(url);
    await page.getByRole('alert').getByText('not the ledger that it was').waitFor();
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('keeps nothing of the ledger that it was: neither a filter nor the place in the table', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(40);
    const { party } = sandbox.externalParty('frank');
    for (let times = 0; times < 60; times += 1)
      sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { signatories: [party] } }] } } });
    const page = await open(url);
    await caughtUp(page);
    await page.getByLabel('Party').selectOption({ label: 'frank' });
    await row(page, sandbox.ledgerEnd).click();
    await page.getByRole('button', { name: 'Newest' }).waitFor();

    await page.getByRole('button', { name: 'Pause' }).click();
    sandbox.restore(40);
    sandbox.generate(120, { seed: 9 });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('alert').getByText('not the ledger that it was').waitFor();
    await row(page, sandbox.ledgerEnd).waitFor();
    await page.getByRole('button', { name: 'Newest' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('option', { name: 'frank' }).count()).toBe(0);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('says which updates were pruned, and goes on behind them', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(100);
    sandbox.prune(60);
    const page = await open(url);
    await page.getByRole('alert').getByText('have been pruned').waitFor();
    await expectShown(
      page,
      offsetsOf(sandbox).filter((offset) => offset > 60),
    );
  });

  itInChromium('says which update it cannot read, and shows the others', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(20);
    const place = sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: { createdAt: 'once upon a time' } }] } },
    });
    sandbox.generate(20);
    const page = await open(url);
    await page.getByRole('alert').getByText(`Update ${place} cannot be read`).waitFor();
    await expectShown(
      page,
      offsetsOf(sandbox).filter((offset) => offset !== place),
    );
  });

  itInChromium('is light or dark as the system is, until somebody chooses', async () => {
    const { url } = await start();
    const page = await open(url);
    const isDark = async (): Promise<boolean> => {
      const colour = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
      return Number(/\d+/.exec(colour)?.[0]) < 128;
    };
    expect(await isDark()).toBe(false);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await isDark()).toBe(true);
    await page.getByRole('button', { name: 'Theme: auto' }).click();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    expect(await isDark()).toBe(false);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: light' }).waitFor();
    expect(await isDark()).toBe(false);
  });

  itInChromium('lets the oldest updates go when the page is full, and nothing else', async () => {
    const { sandbox, url } = await start({}, ({ url: baseUrl }) => ({ baseUrl, sandbox: true, capacity: 200 }));
    sandbox.generate(150);
    const page = await open(url);
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).waitFor();
    for (let more = 0; more < 4; more += 1) {
      sandbox.generate(40);
      await row(page, sandbox.ledgerEnd).waitFor();
    }
    await page.getByText('This page is full').waitFor();
    const shown = await offsetsOnScreen(page);
    expect(shown.length).toBeGreaterThanOrEqual(180);
    expect(shown.length).toBeLessThanOrEqual(200);
    expect(shown).toEqual(offsetsOf(sandbox).slice(0, shown.length));
  });

  itInChromium('explores any participant, and keeps its token in memory alone', async () => {
    const token = 'canary-of-a-token';
    const { sandbox, url } = await start({ checkToken: (given) => given === token }, () => ({}));
    sandbox.generate(30);
    const page = await open(url);
    const connect = async (given: string): Promise<void> => {
      await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
      await page.getByLabel('Token').fill(given);
      await page.getByRole('button', { name: 'Open' }).click();
    };
    await connect('another');
    await page.getByRole('status').filter({ hasText: 'Stopped' }).waitFor();
    await page.getByRole('button', { name: sandbox.url.slice('http://'.length) }).click();
    await connect(token);
    await expectShown(page, offsetsOf(sandbox));
    expect(await page.getByRole('region', { name: 'Sandbox' }).count()).toBe(0);

    const kept = await page.evaluate(() =>
      JSON.stringify([Object.entries(sessionStorage), Object.entries(localStorage), location.href]),
    );
    expect(kept).toContain(sandbox.url);
    expect(kept).not.toContain(token);
    await page.reload();
    await page.getByRole('status').filter({ hasText: 'Stopped' }).waitFor();
  });

  itInChromium('begins at the end of a ledger where it is told to, with the last few before it', async () => {
    const { sandbox, url } = await start({}, () => ({}));
    sandbox.generate(500);
    const page = await open(url);
    await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
    await page.getByRole('combobox').selectOption('end');
    await page.getByRole('button', { name: 'Open' }).click();
    await caughtUp(page);
    await page.getByText('200 here').waitFor();
    sandbox.generate(10);
    await expectShown(page, offsetsOf(sandbox).slice(0, 210));
  });

  itInChromium('waits for a ledger that is away where it is to begin at its end', async () => {
    const { sandbox, url } = await start({}, () => ({}));
    sandbox.generate(20);
    const page = await open(url);
    const letThrough = await cutOff(page);
    await page.getByLabel('Address of the JSON Ledger API').fill(sandbox.url);
    await page.getByRole('combobox').selectOption('end');
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('status').filter({ hasText: 'Connecting' }).waitFor();
    await letThrough();
    await caughtUp(page);
    await expectShown(page, offsetsOf(sandbox));
  });

  itInChromium('says so where an address is none of a ledger, and still asks after a reload', async () => {
    const { sandbox, url } = await start({}, () => ({}));
    const page = await open(url);
    const address = page.getByLabel('Address of the JSON Ledger API');
    for (const given of ['localhost:7575', 'ftp://127.0.0.1', 'http://127.0.0.1:7575?tenant=1']) {
      await address.fill(given);
      await page.getByRole('button', { name: 'Open' }).click();
      await page.getByRole('alert').getByText('http://').waitFor();
      await page.reload();
    }
    await address.fill(sandbox.url);
    await page.getByRole('button', { name: 'Open' }).click();
    await caughtUp(page);
  });

  itInChromium('shows what it has on a phone, a panel over all of it', async () => {
    const { sandbox, url } = await start();
    sandbox.generate(40);
    const page = await open(url);
    await page.setViewportSize({ width: 390, height: 844 });
    await caughtUp(page);
    await expectShown(page, offsetsOf(sandbox));
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
    expect(await page.getByText(sandbox.url.slice('http://'.length), { exact: true }).isVisible()).toBe(true);
    await page.getByRole('row').last().click();
    const panel = page.getByRole('dialog');
    await panel.getByText('Update id').waitFor();
    expect(await panel.boundingBox()).toEqual({ x: 0, y: 0, width: 390, height: 844 });
    await panel.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });
  });

  itInChromium.each(['light', 'dark'] as const)('keeps the rules of accessibility: %s', async (colorScheme) => {
    const { sandbox, url } = await start();
    sandbox.generate(300);
    const page = await open(url);
    await page.emulateMedia({ colorScheme });
    await caughtUp(page);
    await row(page, sandbox.ledgerEnd).click();
    await page.getByText('Update id').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await makeKey(page);
    await submit(page);
    await outcome(page, 'committed');
    expect(await violationsOn(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Close' }).click();
    expect(await violationsOn(page)).toEqual([]);
  });

  itInChromium('shows the traffic that the sandbox has, also after a reload', async () => {
    const { url } = await start();
    const page = await open(url);
    const traffic = page.getByLabel('Traffic');
    await comesToBe(() => traffic.inputValue(), '5');
    await traffic.selectOption('20');
    await page.getByRole('button', { name: '+ 1 000' }).click();
    await page.reload();
    await page.getByRole('option', { name: '20/s', selected: true }).waitFor({ state: 'attached' });
  });

  itInChromium('shows the traffic that there is where another could not be set', async () => {
    const { url } = await start();
    const page = await open(url, async (opened) => {
      await opened.route(/control\/traffic/, (route) =>
        route.request().postData() === '{}'
          ? route.continue()
          : route.fulfill({ status: 400, json: { error: 'not now' } }),
      );
    });
    const traffic = page.getByLabel('Traffic');
    await comesToBe(() => traffic.inputValue(), '5');
    await traffic.selectOption('20');
    await page.getByText('not now').waitFor();
    await comesToBe(() => traffic.inputValue(), '5');
  });

  itInChromium('shows no traffic while it does not know what there is', async () => {
    const { url } = await start();
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const page = await open(url, async (opened) => {
      await opened.route(/control\/traffic/, (route) => told.then(() => route.continue()));
    });
    await caughtUp(page);
    const traffic = page.getByLabel('Traffic');
    expect(await traffic.isDisabled()).toBe(true);
    expect(await traffic.inputValue()).toBe('');
    tell();
    await comesToBe(() => traffic.inputValue(), '5');
    expect(await traffic.isEnabled()).toBe(true);
  });

  itInChromium(
    'stays smooth with a hundred thousand updates',
    async () => {
      const { sandbox, url } = await start({ maxListElements: 1_000 });
      sandbox.generate(100_000);
      const begun = performance.now();
      const page = await open(url);
      await row(page, sandbox.ledgerEnd).waitFor({ timeout: 100_000 });
      const filledMs = performance.now() - begun;
      const traffic = setInterval(() => sandbox.generate(2), 100);
      try {
        const { frames, tasks, rows, reached } = await scrolled(page);
        const at = (share: number): number => Math.round(frames[Math.floor(share * (frames.length - 1))] ?? 0);
        console.log(
          `100 000 updates: there after ${(filledMs / 1_000).toFixed(1)} s; scrolled, frames took ${at(0.5)} ms (median), ` +
            `${at(0.95)} ms (95 %), ${at(1)} ms (longest); ${rows} rows in the page at most`,
        );
        expect(reached).toBe(offsetsOf(sandbox).at(-1));
        expect(rows).toBeLessThan(100);
        expect(at(0.5)).toBeLessThan(250);
        expect(Math.max(0, ...tasks)).toBeLessThan(5_000);
      } finally {
        clearInterval(traffic);
      }
    },
    150_000,
  );

  const itDraws = process.env['CANTON_RX_SCREENSHOTS'] === undefined ? it.skip : itInChromium;
  itDraws(
    'is drawn for the documentation',
    async () => {
      const { sandbox, url } = await start();
      if (browser !== undefined) await takeScreenshots(browser, sandbox, url);
      expect(sandbox.ledgerEnd).toBeGreaterThan(2_400);
    },
    150_000,
  );
});

const focusComesTo = (page: Page, selector: string): Promise<void> =>
  until(() => page.evaluate((within) => Boolean(document.activeElement?.closest(within)), selector));

const raise = (): never => {
  throw new Error('there is none');
};

const kB = (bytes: number): string => `${Math.round(bytes / 1_000)} kB`;

const beginOf = (body: unknown): number[] =>
  typeof body === 'object' && body !== null && 'beginExclusive' in body ? [Number(body.beginExclusive)] : [];
