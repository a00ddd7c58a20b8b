import { describe, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import { asset, contractRow, count } from './contractsPage.js';
import {
  caughtUp,
  connectTo,
  goTo,
  newPage,
  openExplorer,
  panelOf,
  press,
  row,
  start,
  transact,
  waitForStatus,
} from './explorer.js';
import { inEachScreen } from './screen.js';

/** Tests of what each page shows of a ledger that cannot be read, or not in full: light and dark, wide and narrow. */
describe('every page', () => {
  itInChromium(
    'says what to do about a ledger that cannot be read, with a button that leads there',
    async () => {
      const { sandbox, page } = await openExplorer(30);
      let answer: Answer | undefined;
      await page.route('**/v2/**', (route) =>
        answer === undefined || route.request().method() === 'OPTIONS'
          ? route.continue()
          : route.fulfill({ ...answer, headers: { 'access-control-allow-origin': '*' } }),
      );
      // the ledger's own words would not help anyone
      for (const { token = '', parties = '', given, text, action, field } of problems) {
        answer = given;
        await connectTo(page, sandbox.url, { token, parties });
        for (const name of ['Contracts', 'Commands', 'Updates'])
          await inEachScreen(page, async () => {
            await goTo(page, name);
            await page.getByRole('heading', { name: text }).waitFor();
            expect(await page.getByRole('heading', { name: /answered|security-sensitive/ }).count()).toBe(0);
            expect(await page.getByText(/^0$/).count()).toBe(0);
          });
        await press(page, action);
        await page.getByRole('textbox', { name: field }).waitFor();
        await until(() => page.getByRole('textbox', { name: field }).evaluate((e) => e === document.activeElement));
        await page.keyboard.press('Escape');
      }
      answer = undefined;
      await page.getByRole('button', { name: 'Try again' }).last().click();
      await caughtUp(page);
    },
    120_000,
  );

  itInChromium('names the parties that are read, keeps them, and says which the ledger does not know', async () => {
    const { sandbox, page } = await openExplorer(60);
    const [alice = '', bob = ''] = sandbox.parties;
    await page.getByTitle('Connection').getByText('as any party').waitFor();
    await connectTo(page, sandbox.url, { token: 'canary', parties: `${alice}\n${bob}` });
    await page.getByTitle('Connection').getByText('as alice and bob').waitFor();
    expect(new URL(page.url()).hash).toContain('as=alice');
    await goTo(page, 'Contracts');
    await page.locator('app-contracts-page').waitFor();
    expect(new URL(page.url()).hash).toContain('as=alice');
    await page.reload();
    await page.getByTitle('Connection').click();
    await eventually(() => page.getByLabel('Parties').inputValue(), `${alice}\n${bob}`);
    expect(await page.getByLabel('Token').inputValue()).toBe('');
    await page.keyboard.press('Escape');

    await connectTo(page, sandbox.url, { parties: `${alice}\nnobody::1220ab` });
    await page.getByText('This participant does not know the party nobody::1220ab').waitFor();
    await page.locator('app-contract-cells').first().waitFor();
    await connectTo(page, sandbox.url, { parties: 'nobody::1220ab' });
    for (const name of ['Contracts', 'Updates', 'Commands'])
      await inEachScreen(page, async () => {
        await goTo(page, name);
        await page.getByText('This participant does not know the party nobody::1220ab').waitFor();
      });
    await press(page, 'Change the parties');
    await until(() => page.getByLabel('Parties').evaluate((field) => field === document.activeElement));
  });

  itInChromium(
    'has its filters and what is open in its address, and closes that with Back of the browser',
    async () => {
      const { sandbox, page } = await openExplorer(60);
      const mine = asset(sandbox, { tag: 'mine' });
      const panel = panelOf(page);
      await row(page, sandbox.ledgerEnd).click();
      await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor();
      expect(new URL(page.url()).hash).toBe(`#updates?update=${sandbox.ledgerEnd}`);
      await panel.getByRole('button', { name: /^Contract / }).click();
      await panel.getByRole('button', { name: `Back to Update ${sandbox.ledgerEnd}` }).click();
      await page.getByRole('heading', { name: `Update ${sandbox.ledgerEnd}` }).waitFor();
      await page.goBack();
      await panel.waitFor({ state: 'detached' });

      await goTo(page, 'Contracts');
      await page.getByLabel('Filter by text').fill('mine');
      await contractRow(page, mine).click();
      await panel.getByText('Active on sync1').waitFor();
      const link = await panel.getByRole('link', { name: 'Link' }).getAttribute('href');
      // closing a panel keeps a filter that was set while it was open
      await page.getByLabel('Filter by text').fill('mine bob');
      await panel.getByRole('button', { name: 'Close' }).click();
      await panel.waitFor({ state: 'detached' });
      await until(() => new URL(page.url()).hash === '#contracts?text=mine+bob');
      await page.reload();
      await eventually(() => page.getByLabel('Filter by text').inputValue(), 'mine bob');

      const other = await page.context().newPage();
      await other.goto(link ?? '');
      await other.getByRole('complementary').locator('code', { hasText: mine }).first().waitFor();
      await other.getByRole('complementary').getByText('Active on sync1').waitFor();
    },
  );

  itInChromium('lists what it cannot decode of the contracts, and shows the others', async () => {
    const { sandbox, url } = await start();
    const [bad, good] = [asset(sandbox, { tag: 'bad' }), asset(sandbox, { tag: 'good' })];
    const page = await newPage();
    await page.route('**/v2/state/active-contracts*', async (route) => {
      const response = await route.fetch();
      const answer: unknown = await response.json();
      for (const event of eventsIn(answer)) if (event.contractId === bad) event.createdAt = 7;
      await route.fulfill({ response, json: answer });
    });
    await page.goto(`${url}/#contracts`);
    await contractRow(page, good).waitFor();
    await eventually(() => count(page, 'Active contracts'), '1');
    await inEachScreen(page, async () => {
      await page.getByText('One entry of the ledger cannot be decoded').waitFor();
    });
    await page.getByText('One entry of the ledger cannot be decoded').click();
    await page.getByText(bad).waitFor();
    await page.getByText(/expected .* at JsActiveContract\.createdEvent\.createdAt/).waitFor();
  });

  itInChromium('shows long texts in part, long names in full, and cuts off no control', async () => {
    const { sandbox, page } = await openExplorer();
    const entity = `Long${'Name'.repeat(30)}`;
    const contractId = `00${'ab'.repeat(40)}`;
    const note = 'lorem ipsum '.repeat(300);
    const steps = Array.from({ length: 60 }, (_, at) => ({ step: `step ${at}` }));
    const created = { templateId: `#long-${'package'.repeat(12)}:Main:${entity}`, contractId };
    const createArgument = { note, [`field${'name'.repeat(20)}`]: 'short', steps };
    for (const [at, synchronizerId] of sandbox.synchronizers.entries()) {
      const recordTime = new Date(Date.now() - (at + 1) * 2_000 * 86_400_000).toISOString();
      const events = [{ CreatedEvent: at === 0 ? { ...created, createArgument } : {} }];
      transact(sandbox, events, { synchronizerId, recordTime });
    }
    await inEachScreen(page, async ({ width }) => {
      await page.keyboard.press('Escape');
      await goTo(page, 'Updates');
      await page.getByText(',000 d ago').first().waitFor();
      await eventually(() => findOverlaps(page, '.clock dd'), []);
      await row(page, 1).click();
      await press(page, 'Show all');
      await press(page, 'Show less');
      await page.locator('.panel summary').filter({ hasText: entity }).waitFor();
      await eventually(() => findCutOff(page, width), []);
    });
    await inEachScreen(page, async ({ width }) => {
      await page.keyboard.press('Escape');
      await goTo(page, 'Contracts');
      await contractRow(page, contractId).click();
      await page.getByRole('button', { name: 'Show all' }).first().waitFor();
      await eventually(() => findCutOff(page, width), []);
    });
    await page.getByRole('button', { name: 'Show all' }).first().click();
    await page.locator('app-payload-view').getByText(note.trim()).waitFor();
  });

  itInChromium('can be read with the colours of the system, and at twice the size', async () => {
    const { sandbox, page } = await openExplorer(60);
    await page.emulateMedia({ forcedColors: 'active' });
    await row(page, sandbox.ledgerEnd).click();
    // what is chosen differs
    for (const state of ['[aria-selected=', '.variants [aria-pressed=']) {
      const [chosen, other] = [page.locator(`${state}true]`).first(), page.locator(`${state}false]`).first()];
      expect(await backgroundOf(chosen)).not.toBe(await backgroundOf(other));
    }
    await page.keyboard.press('Escape');
    // 1 280 by 800 pixels, magnified
    await page.setViewportSize({ width: 640, height: 400 });
    for (const name of ['Contracts', 'Updates']) {
      await goTo(page, name);
      await waitForStatus(page, name === 'Updates' ? 'Caught up' : 'Live');
      await eventually(() => findCutOff(page, 640), []);
      await until(async () => {
        const grid = await page.locator('cdk-virtual-scroll-viewport').boundingBox();
        return (grid?.height ?? 0) > 150;
      });
    }
  });
});

const backgroundOf = (element: Locator): Promise<string> =>
  element.evaluate((shown) => getComputedStyle(shown).backgroundColor);

/** An answer in the place of the ledger's. */
interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
}

/** What keeps a ledger from being read. */
interface Trouble {
  readonly token?: string;
  readonly parties?: string;
  readonly given: Answer;
  readonly text: string;
  readonly action: string;
  readonly field: string;
}

const json = (status: number, body: object): Answer => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});
const withheld = { code: 'NA', cause: 'A security-sensitive error has been received', errorCategory: -1, context: {} };

const token = { action: 'Enter a token', field: 'Token' };
const address = { action: 'Change the address', field: 'Address' };

const problems: readonly Trouble[] = [
  { given: json(401, withheld), text: 'This ledger requires a token. Enter one.', ...token },
  { token: 'x', given: json(401, withheld), text: 'The ledger refuses this token. Enter another one.', ...token },
  {
    token: 'x',
    given: json(403, withheld),
    text: 'This token may not read as any party. Name your parties.',
    ...{ action: 'Name your parties', field: 'Parties' },
  },
  {
    ...{ token: 'x', parties: 'alice::1220ab' },
    given: json(403, withheld),
    text: 'This token may not read as these parties. Name others',
    ...{ action: 'Change the parties', field: 'Parties' },
  },
  {
    token: 'x',
    given: { status: 404, contentType: 'text/html', body: '<h1>Not found</h1>' },
    text: 'This is not the address of a JSON Ledger API.',
    ...address,
  },
];

/** The controls of which a part is beyond the edge of what contains them. */
const findCutOff = (page: Page, width: number): Promise<readonly string[]> =>
  page.evaluate(
    (edge) =>
      [...document.querySelectorAll('main button, main input, main select, .panel button, .panel a')]
        .filter((element) => {
          const { left, right, width: own } = element.getBoundingClientRect();
          const container = element.closest('main, .panel')?.getBoundingClientRect();
          // a panel over the page hides it
          if (own === 0 || container === undefined || element.closest('[role=grid]') !== null) return false;
          return left < container.left - 1 || right > Math.min(edge, container.right) + 1;
        })
        .map((element) => element.outerHTML.slice(0, 80)),
    width,
  );

/** The elements that overlap the next one, or are wider than their own box. */
const findOverlaps = (page: Page, selector: string): Promise<readonly string[]> =>
  page.locator(selector).evaluateAll((elements) =>
    elements
      .filter((element, at) => {
        const [box, next] = [element.getBoundingClientRect(), elements[at + 1]?.getBoundingClientRect()];
        if (element.scrollWidth > element.clientWidth + 1) return true;
        return next !== undefined && next.top < box.bottom && next.left < box.right && next.left > box.left;
      })
      .map((element) => element.textContent),
  );

/** The created events in an answer with active contracts. */
function eventsIn(answer: unknown): { contractId?: string; createdAt?: unknown }[] {
  if (typeof answer !== 'object' || answer === null) return [];
  if ('contractId' in answer) return [answer as { contractId?: string }];
  return Object.values(answer).flatMap(eventsIn);
}
