import { describe, expect } from '@jest/globals';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually, until } from '../../../helpers/time.js';
import { asset, assetTemplate, contractRow, count } from './contractsPage.js';
import { expectFocus, makeKey, openContracts, outcome, panelOf, press, submit, transact } from './explorer.js';

/** Tests of what the explorer shows of a contract, and of the choices that it exercises. */
describe('a contract', () => {
  itInChromium('has its whole history: its creation, its exercises with their results, its moves', async () => {
    const { sandbox, page } = await openContracts();
    const [alice = ''] = sandbox.parties;
    const [source = '', target = ''] = sandbox.synchronizers;
    const contractId = asset(sandbox, { owner: alice, tag: 'mine' });
    const ofContract = { contractId, templateId: assetTemplate };
    const exercise = { ...ofContract, actingParties: [alice], choiceArgument: { by: '3' }, exerciseResult: '42' };
    const touched = { ExercisedEvent: { ...exercise, choice: 'Touch', consuming: false } };
    transact(sandbox, [touched], { synchronizerId: source });
    sandbox.generate(30);
    await page.getByLabel('Filter by text').fill('mine');
    await contractRow(page, contractId).click();
    const panel = panelOf(page);
    await panel.getByText('Active on sync1').waitFor();
    const events = async () => (await panel.locator('app-event-card app-effect-chip').allInnerTexts()).map(lastLine);
    await eventually(events, ['Created', 'Touch']);
    await panel.getByText('"42"').waitFor();

    // on its way, it cannot be used
    const move = { source, target, reassignmentCounter: 1, reassignmentId: '00aa' };
    const unassigned = { JsUnassignedEvent: { value: { ...ofContract, ...move, witnessParties: [alice] } } };
    sandbox.append({ Reassignment: { value: { synchronizerId: source, events: [unassigned] } } });
    await panel.getByText('In flight: sync1 → sync2').waitFor();
    await eventually(() => contractRow(page, contractId).locator('.place').innerText(), 'in flight sync1 → sync2');
    await eventually(() => panel.getByRole('button', { name: 'Exercise a choice…' }).isDisabled(), true);
    await press(page, /^In flight$/);
    await eventually(() => page.locator('app-contract-cells').count(), 1);

    const createArgument = { owner: alice, amount: '1.0', tag: 'mine', serial: '1' };
    const createdEvent = { ...ofContract, signatories: [alice], createArgument };
    const assigned = { JsAssignmentEvent: { ...move, createdEvent } };
    sandbox.append({ Reassignment: { value: { synchronizerId: target, events: [assigned] } } });
    await panel.getByText('Active on sync2').waitFor();
    // the creation is before its last activation
    await eventually(events, ['Created', 'Touch', 'Left for sync2', 'Arrived from sync1']);

    const archive = { ...exercise, choice: 'Archive', choiceArgument: {}, consuming: true };
    const archived = { ArchivedEvent: { ...ofContract, witnessParties: [alice] } };
    transact(sandbox, [{ ExercisedEvent: archive }, archived], { synchronizerId: target });
    await panel.locator('.state').filter({ hasText: 'Archived' }).waitFor();
    await eventually(events, ['Created', 'Touch', 'Left for sync2', 'Arrived from sync1', 'Archive']);
    await eventually(() => panel.getByRole('button', { name: 'Exercise a choice…' }).count(), 0);
  });

  itInChromium('says that the beginning of its history was pruned', async () => {
    const { page } = await openContracts((sandbox) => {
      asset(sandbox);
      asset(sandbox);
      sandbox.prune(sandbox.ledgerEnd);
    });
    await page.locator('app-contract-cells').last().click();
    await page.getByText(/^Events up to offset \d+ have been pruned\.$/).waitFor();
  });

  itInChromium('has the name of its package first, and the id of the package on demand', async () => {
    const { sandbox, page } = await openContracts();
    await contractRow(page, asset(sandbox)).click();
    const panel = panelOf(page);
    const packageId = /[0-9a-f]{64}:Main:Asset/;
    await panel.getByText('sandbox-assets:Main:Asset').waitFor();
    await eventually(() => panel.getByText(packageId).isVisible(), false);
    await panel.getByText('sandbox-assets:Main:Asset').click();
    await panel.getByText(packageId).waitFor();
  });

  itInChromium('exercises a choice through the steps of a submission', async () => {
    const { page } = await openContracts(asset);
    await makeKey(page);
    await submit(page);
    await outcome(page, 'committed');
    await press(page, 'Close');
    await eventually(() => count(page, 'Active contracts'), '2');

    // the new one is at the top
    await page.locator('app-contract-cells').first().click();
    await press(page, 'Exercise a choice…');
    const argument = page.getByRole('textbox', { name: 'Argument' });
    const send = page.getByRole('button', { name: 'Prepare, verify, sign and submit' });
    for (const [text, problem] of [
      ['{ "a": }', 'This is not JSON.'],
      ['[1]', 'The argument of a choice is a record'],
    ] as const) {
      await argument.fill(text);
      await page.getByText(problem).waitFor();
      await eventually(() => send.isDisabled(), true);
    }
    await argument.fill('{}');
    expect(await page.getByRole('combobox', { name: 'Choice', exact: true }).inputValue()).toBe('Archive');
    await send.click();
    await eventually(() => page.getByRole('log').getByText('committed', { exact: true }).count(), 2);
    await eventually(() => count(page, 'Active contracts'), '1');
    await press(page, 'Back');
    await page.locator('.state').filter({ hasText: 'Archived' }).waitFor();
  });

  itInChromium('warns of a party that has nothing to do with it, and shows why the ledger refused', async () => {
    const { sandbox, page } = await openContracts();
    await contractRow(page, asset(sandbox)).click();
    await press(page, 'Exercise a choice…');
    await press(page, 'Make a key and host the party');
    await page.getByText('erin is neither a signatory nor an observer').waitFor();
    await submit(page);
    await outcome(page, 'failed');
    await page.getByText('CONTRACT_NOT_FOUND').first().waitFor();
    await eventually(() => count(page, 'Active contracts'), '1');
  });

  itInChromium('is opened, read and closed by keyboard alone', async () => {
    const { page } = await openContracts(60);
    await page.locator('app-contract-cells').first().waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('sandbox');
    await page.keyboard.press('ArrowDown');
    await expectFocus(page, '[role=grid]');
    const selected = () => page.getByRole('row', { selected: true }).getAttribute('aria-rowindex');
    await eventually(selected, '2');
    await page.keyboard.press('ArrowDown');
    await eventually(selected, '3');
    await page.keyboard.press('Enter');
    const panel = panelOf(page);
    const id = () => panel.locator('code').first().innerText();
    const selectedId = () => page.getByRole('row', { selected: true }).getAttribute('id');
    await until(async () => `contract-${await id()}` === (await selectedId()));
    // the panel follows the selection
    await page.keyboard.press('End');
    await until(async () => `contract-${await id()}` === (await selectedId()));
    await panel.getByRole('button', { name: 'Exercise a choice…' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name of the party').waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await expectFocus(page, '[role=grid]');
    await page.keyboard.press('Escape');
    await until(async () => (await page.getByRole('row', { selected: true }).count()) === 0);

    // templates by arrows, and the order by the heads of the columns
    await page.getByRole('radio').first().focus();
    await page.keyboard.press('ArrowDown');
    await page.getByRole('columnheader', { name: 'amount' }).waitFor();
    await page.getByRole('columnheader', { name: 'amount' }).getByRole('button').focus();
    await page.keyboard.press('Enter');
    await page.locator('[role=columnheader][aria-sort=ascending]').filter({ hasText: 'amount' }).waitFor();
  });
});

const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
