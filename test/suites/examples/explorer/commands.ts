import { describe, expect } from '@jest/globals';
import { catchError, EMPTY, lastValueFrom, type Subscription } from 'rxjs';
import { automate } from '../../../../src/automation/index.js';
import { createLedger } from '../../../../src/index.js';
import type { Sandbox } from '../../../../src/sandbox/index.js';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import { assetTemplate } from './contractsPage.js';
import { goTo, makeKey, open, openExplorer, outcome, panelOf, press, start, submit } from './explorer.js';
import { inEachScreen } from './screen.js';

/** Tests of the page of commands. */
describe('the page of commands', () => {
  itInChromium('shows the commands of a party, and their outcomes', async () => {
    const { sandbox, page } = await openExplorer();
    await press(page, 'Submit…');
    await page.getByRole('combobox', { name: /^Key/ }).selectOption('none');
    await page.locator('app-identity-form button[type=submit]').click();
    const send = page.locator('app-create-form button[type=submit]');
    await send.click();
    await outcome(page, 'committed');
    const { ledgerEnd } = sandbox;
    sandbox.fault({ kind: 'reject', code: 'DAML_AUTHORIZATION_ERROR' }, { path: /submit-and-wait/ });
    await send.click();
    await outcome(page, 'rejected');
    await page.keyboard.press('Escape');
    await goTo(page, 'Commands');
    const items = page.getByRole('listitem');
    await inEachScreen(page, async () => {
      await items.filter({ hasText: 'committed' }).waitFor();
      await items.filter({ hasText: 'rejected' }).getByText('DAML_AUTHORIZATION_ERROR').waitFor();
    });
    await items.getByText(String(ledgerEnd), { exact: true }).click();
    await page.getByRole('heading', { name: `Update ${ledgerEnd}` }).waitFor();
  });

  itInChromium('shows the commands that were signed here', async () => {
    const { page } = await openExplorer();
    await makeKey(page);
    await submit(page);
    await outcome(page, 'committed');
    await page.keyboard.press('Escape');
    await goTo(page, 'Commands');
    const command = page.getByRole('listitem').filter({ hasText: 'committed' });
    const id = command.getByText('explorer-').first();
    await inEachScreen(page, () => id.waitFor());
    await page.setViewportSize({ width: 320, height: 720 });
    // the button is on a line of the id, which has two here
    const boxes = [id, command.getByRole('button', { name: 'Copy' })].map((element) => element.boundingBox());
    const [text, button] = await Promise.all(boxes);
    expect(button?.y).toBeLessThan((text?.y ?? 0) + (text?.height ?? 0));
  });

  itInChromium('shows what an automation submitted: the rule, the contract, the round and the attempt', async () => {
    const { sandbox, url } = await start();
    const market = await trade(sandbox);
    sandbox.fault({ kind: 'reject', code: 'DAML_AUTHORIZATION_ERROR' }, { path: /submit-and-wait/ });
    const running = retireAssets(sandbox, market.party);
    const page = await open(`${url}/#commands?party=${encodeURIComponent(market.party)}&user=bot`);
    const items = page.getByRole('listitem');
    const actions = items.filter({ has: page.getByRole('button', { name: 'retire' }) });
    await actions.filter({ hasText: 'Attempt 2' }).getByText('committed').waitFor();
    await actions.filter({ hasText: 'DAML_AUTHORIZATION_ERROR' }).getByText('rejected').waitFor();
    running.unsubscribe();
    await eventually(() => actions.count(), 2);
    await actions.getByText('Round 2026-11').first().waitFor();
    // the commands of people are on the page as well, until one rule is chosen
    await items.filter({ hasText: 'by-hand' }).waitFor();
    await page.getByLabel('Submitted by').selectOption('retire');
    await eventually(() => items.count(), 2);
    await inEachScreen(page, async () => {
      await actions.first().waitFor();
      await page.getByText('One that waits, or has stopped, submits nothing').waitFor();
    });
    await actions.getByText('Contract 00').first().click();
    await panelOf(page).getByText(market.contractId).first().waitFor();
    await panelOf(page).getByText('Archived', { exact: true }).waitFor();

    await page.reload();
    await eventually(() => page.getByLabel('Submitted by').inputValue(), 'retire');
    await eventually(() => actions.count(), 2);
  });
});

/** Creates an asset of a party that the sandbox signs for, by a command of the user `bot`. */
async function trade(sandbox: Sandbox): Promise<{ readonly party: string; readonly contractId: string }> {
  const party = sandbox.hostedParty('market');
  const createArguments = { owner: party, amount: '1.0', tag: null, serial: '1' };
  const { events } = await lastValueFrom(
    createLedger({ baseUrl: sandbox.url }).submitAndWaitForTransaction({
      ...{ actAs: [party], userId: 'bot', commandId: 'by-hand' },
      commands: [{ CreateCommand: { templateId: assetTemplate, createArguments } }],
    }),
  );
  const [created] = events;
  if (created?._tag !== 'CreatedEvent') throw new Error('an asset is created');
  return { party, contractId: created.contractId };
}

/** Runs an automation that archives the assets of a party. */
const retireAssets = (sandbox: Sandbox, party: string): Subscription =>
  automate(
    createLedger({ baseUrl: sandbox.url }),
    {
      ...{ name: 'retire', query: { parties: [party] }, actAs: [party], userId: 'bot', round: () => '2026-11' },
      act: ({ contractId }) => ({
        ExerciseCommand: { templateId: assetTemplate, contractId, choice: 'Archive', choiceArgument: {} },
      }),
    },
    { retry: { baseDelayMs: 20, maxDelayMs: 200 } },
  )
    .pipe(catchError(() => EMPTY))
    .subscribe();
