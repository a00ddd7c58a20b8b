import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { firstValueFrom } from 'rxjs';
import { liveContracts } from '../../../../src/contracts/index.js';
import { createLedger } from '../../../../src/index.js';
import type { Sandbox } from '../../../../src/sandbox/index.js';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import { asset, assetTemplate, chooseTemplate, contractRow, count, sample, textsOf } from './contractsPage.js';
import { open, openContracts, press, start, transact } from './explorer.js';

/** Tests of the table of contracts. */
describe('the contracts', () => {
  itInChromium('are those of the ledger, counted by template, and change with it', async () => {
    const { sandbox, page } = await openContracts(300);
    const ids = async () => idsOf(await contractsOf(sandbox));
    await eventually(() => readIds(page), await ids());
    for (const entity of ['Asset', 'Offer', 'Task']) {
      const ofTemplate = (await contractsOf(sandbox)).filter(({ templateId }) => templateId.endsWith(`:${entity}`));
      await eventually(() => railCount(page, entity), String(ofTemplate.length));
    }
    sandbox.generate(60);
    await eventually(() => readIds(page), await ids());
    await eventually(() => count(page, 'Active contracts'), String((await ids()).length));
  });

  itInChromium('have a column for each field, typed by its values', async () => {
    const { sandbox, page } = await openContracts();
    const contract = sample(sandbox);
    await chooseTemplate(page, 'Sample');
    await eventually(
      async () => (await page.getByRole('columnheader').allInnerTexts()).map((head) => head.trim()),
      [...Object.keys(contract.createArgument), 'Synchronizer', 'Created (UTC)'],
    );
    const row = contractRow(page, contract.contractId);
    await eventually(
      async () => (await textsOf(row)).slice(0, -2),
      [
        'alice',
        'true',
        '977',
        '1,234,567.25',
        'a note',
        '3 Dec 2026',
        '22 Nov 2026, 14:03:07',
        '00c0ffeeab…',
        '["1.0", "2.5"]',
        '{"holder": "alice::…", "reason": null}',
        'Fixed 10.0',
        '–',
      ],
    );
    const align = (at: number) =>
      row
        .getByRole('gridcell')
        .nth(at)
        .evaluate((cell) => getComputedStyle(cell).textAlign);
    expect([await align(0), await align(2), await align(3)]).toEqual(['start', 'right', 'right']);
    // what a cell shortens is its title
    expect(await row.getByRole('gridcell').first().getAttribute('title')).toBe(sandbox.parties[0]);
  });

  itInChromium('are filtered by party, synchronizer, template and text of their payloads', async () => {
    const { sandbox, page } = await openContracts(300);
    const all = await contractsOf(sandbox);
    const expectIds = (isWanted: (contract: (typeof all)[number]) => boolean): Promise<void> =>
      eventually(() => readIds(page), idsOf(all.filter(isWanted)));
    await page.getByLabel('Party').selectOption({ label: 'dora' });
    const isOfDora = ({ signatories, observers }: (typeof all)[number]) =>
      [...signatories, ...observers].some((party) => party.startsWith('dora::'));
    await expectIds(isOfDora);
    await page.getByLabel('Synchronizer').selectOption({ label: 'sync2' });
    const isOnSync2 = ({ location }: (typeof all)[number]) => JSON.stringify(location).includes('sync2::');
    await expectIds((contract) => isOfDora(contract) && isOnSync2(contract));
    await press(page, 'Clear');
    await chooseTemplate(page, 'Asset');
    await page.keyboard.press('/');
    await page.keyboard.type('GOLD bob');
    await expectIds(({ createdEvent, templateId }) => {
      const text = JSON.stringify(createdEvent.createArgument);
      return templateId.endsWith(':Asset') && text.includes('gold') && text.includes('bob::');
    });
  });

  itInChromium('are sorted by a column: numbers of any length by value, absent values last', async () => {
    const { sandbox, page } = await openContracts();
    const amounts = ['9.0', '10.5', '-3.25', '9007199254740993.1', '9007199254740993.2', '0.0'];
    for (const [at, amount] of amounts.entries()) asset(sandbox, { amount, tag: at % 2 === 0 ? null : `t${at}` });
    await chooseTemplate(page, 'Asset');
    const column = async (at: number) =>
      Promise.all((await page.locator('app-contract-cells').all()).map(async (row) => (await textsOf(row))[at]));
    const head = (name: string) => page.getByRole('columnheader', { name });
    await head('amount').getByRole('button').click();
    const sorted = ['-3.25', '0.00', '9.00', '10.50', '9,007,199,254,740,993.10', '9,007,199,254,740,993.20'];
    await eventually(() => column(1), sorted);
    await eventually(() => head('amount').getAttribute('aria-sort'), 'ascending');
    await head('amount').getByRole('button').click();
    await eventually(() => column(1), [...sorted].reverse());
    await head('tag').getByRole('button').click();
    await eventually(() => column(2), ['t1', 't3', 't5', '–', '–', '–']);
    // a new contract gets its place
    asset(sandbox, { amount: '1.0', tag: 't2' });
    await eventually(() => column(2), ['t1', 't2', 't3', 't5', '–', '–', '–']);
  });

  itInChromium('are tens of thousands, of which the page holds a few rows', async () => {
    const { sandbox, url } = await start({ maxListElements: 1_000 });
    const events = (length: number, from: number) =>
      Array.from({ length }, (_, at) => ({ CreatedEvent: { createArgument: { serial: String(from + at) } } }));
    for (let from = 0; from < 20_000; from += 1_000) transact(sandbox, events(1_000, from));
    const page = await open(`${url}/#contracts`);
    await eventually(() => count(page, 'Active contracts'), '20,000');
    const hasFewRows = () => until(async () => (await page.locator('app-contract-cells').count()) < 120);
    await hasFewRows();
    await page.getByRole('grid').focus();
    await page.keyboard.press('End');
    await page.locator('app-contract-cells[aria-rowindex="20001"]').waitFor();
    await hasFewRows();
    await page.keyboard.press('/');
    await page.keyboard.type('"12345"');
    await eventually(() => page.locator('app-contract-cells').count(), 1);
  });

  itInChromium('are found by any part of their text, and by the start of an id', async () => {
    const { sandbox, page } = await openContracts();
    const [gold, silver] = [asset(sandbox), asset(sandbox, { tag: 'silver', serial: '2' })];
    await eventually(() => readIds(page), [gold, silver]);
    const find = async (text: string, found: readonly string[]): Promise<void> => {
      await page.getByLabel('Filter by text').fill(text);
      await eventually(() => readIds(page), found);
    };
    await find('ilve', [silver]);
    await find(gold, [gold]);
    await find(gold.slice(0, 6), [gold, silver]);
    // the middle of an id is in many that nobody has looked for
    await find(gold.slice(6, 12), []);
    const [owner = ''] = sandbox.parties;
    await find(owner, [gold, silver]);
    await find(owner.slice(-8), []);
  });

  itInChromium('are the newest first by when they were created, wherever they have moved since', async () => {
    const { sandbox, page } = await openContracts();
    const [first, second] = [asset(sandbox), asset(sandbox, { serial: '2' })];
    const firstId = () => page.locator('app-contract-cells').first().getAttribute('id');
    await eventually(firstId, `contract-${second}`);
    const created = (await contractsOf(sandbox)).find(({ contractId }) => contractId === first);
    const [alice = ''] = sandbox.parties;
    const [source = '', target = ''] = sandbox.synchronizers;
    const move = { source, target, reassignmentCounter: 1, reassignmentId: '00aa' };
    const ofContract = { contractId: first, templateId: assetTemplate };
    const left = { JsUnassignedEvent: { value: { ...ofContract, ...move, witnessParties: [alice] } } };
    sandbox.append({ Reassignment: { value: { synchronizerId: source, events: [left] } } });
    const { createdAt = '', createdEvent } = created ?? {};
    const createArgument = createdEvent?.createArgument ?? {};
    const arrived = {
      JsAssignmentEvent: { ...move, createdEvent: { ...ofContract, signatories: [alice], createdAt, createArgument } },
    };
    sandbox.append({ Reassignment: { value: { synchronizerId: target, events: [arrived] } } });
    await eventually(() => contractRow(page, first).locator('.place').innerText(), 'sync2');
    expect(await firstId()).toBe(`contract-${second}`);
  });

  itInChromium('stay where they are under the pointer, and follow the ledger at the top', async () => {
    const { sandbox, page } = await openContracts((ledger) => {
      fill(ledger, 0, 100);
    });
    const newest = asset(sandbox, { serial: '100' });
    await eventually(() => page.locator('app-contract-cells').first().getAttribute('id'), `contract-${newest}`);
    const box = await contractRow(page, newest).boundingBox();
    await page.mouse.move((box?.x ?? 0) + 50, (box?.y ?? 0) + 10);
    fill(sandbox, 101, 111);
    await eventually(() => count(page, 'Active contracts'), '111');
    await until(async () => (await contractRow(page, newest).boundingBox())?.y === box?.y);
    await press(page, /^↑ Top$/);
    await until(async () => (await page.getByRole('grid').evaluate(({ scrollTop }) => scrollTop)) === 0);
  });
});

/** Creates assets with the serials of a range. */
function fill(sandbox: Sandbox, from: number, end: number): void {
  for (let serial = from; serial < end; serial += 1) asset(sandbox, { serial: String(serial) });
}

/** The contracts of a sandbox, as the library reads them. */
const contractsOf = (sandbox: Sandbox) =>
  firstValueFrom(liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: 'any' }).all$());

const idsOf = (contracts: readonly { readonly contractId: string }[]): readonly string[] =>
  contracts.map(({ contractId }) => contractId).sort();

const railCount = (page: Page, entity: string): Promise<string> =>
  page
    .locator('app-template-rail label')
    .filter({ has: page.getByText(entity, { exact: true }) })
    .locator('span')
    .innerText();

/** The ids of all rows in the order of the alphabet, as a user sees them who scrolls from the top to the bottom. */
const readIds = (page: Page): Promise<readonly string[]> =>
  page.getByRole('grid').evaluate(async (grid) => {
    const rendered = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 20)));
    const seen = new Set<string>();
    for (let top = 0; ; top += grid.clientHeight / 2) {
      grid.scrollTop = top;
      await rendered();
      for (const { id } of grid.querySelectorAll('app-contract-cells')) seen.add(id.slice('contract-'.length));
      if (top + grid.clientHeight >= grid.scrollHeight) return [...seen].sort();
    }
  });
