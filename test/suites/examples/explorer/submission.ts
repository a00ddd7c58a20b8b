import { describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { cantonError } from '../../../../src/sandbox/index.js';
import { itInChromium } from '../../../helpers/browser.js';
import { eventually } from '../../../helpers/time.js';
import {
  expectShown,
  hold,
  makeKey,
  open,
  openExplorer,
  outcome,
  press,
  readStored,
  row,
  start,
  submit,
} from './explorer.js';

/** Tests of submissions from the explorer. */
describe('a submission', () => {
  itInChromium.each(['Ed25519', 'P-256'])(
    'signs with a key of %s, and shows each step and the transaction',
    async (algorithm) => {
      const { sandbox, page } = await openExplorer(20);
      await makeKey(page, algorithm);
      await submit(page);
      await outcome(page, 'committed');
      await eventually(
        () => stepsOf(page),
        ['Prepared', 'Verified', 'Signed', 'Sent', `Committed at ${sandbox.ledgerEnd}.`],
      );
      await row(page, sandbox.ledgerEnd).getByText('erin').waitFor();

      // archives the contract
      await press(page, 'Show');
      await press(page, /^Contract /);
      await press(page, 'Archive…');
      const options = page.getByRole('combobox', { name: /^Contract/ }).locator('option:not([disabled])');
      await options.waitFor({ state: 'attached' });
      const before = sandbox.ledgerEnd;
      await submit(page);
      await row(page, before + 1)
        .getByText('Asset.Archive')
        .waitFor();
    },
  );

  itInChromium(
    'makes the key that the form shows: none if a browser has restored that, and none left from before',
    async () => {
      const { page } = await openExplorer();
      await press(page, 'Submit…');
      const kind = page.getByRole('combobox', { name: /^Key/ });
      await kind.evaluate((select: HTMLSelectElement) => (select.value = 'none'));
      await page.locator('app-identity-form button[type=submit]').click();
      const party = page.locator('app-identity-form').getByRole('combobox', { name: /^Party/ });
      const kinds = async (): Promise<readonly (string | undefined)[]> =>
        (await party.locator('option').allInnerTexts()).map((text) => text.split(' · ').at(-1)?.trim()).sort();
      await eventually(kinds, ['hosted']);
      await press(page, 'New key');
      expect(await kind.inputValue()).toBe('none');
      await kind.selectOption('P-256');
      await page.getByRole('textbox', { name: 'Name of the party' }).fill('frank');
      await press(page, 'Make a key and host the party');
      await eventually(kinds, ['P-256', 'hosted']);
    },
  );

  itInChromium('keeps the key over a reload, and does not let it be extracted', async () => {
    const { sandbox, page } = await openExplorer();
    await makeKey(page);
    await page.getByRole('button', { name: 'New key' }).waitFor();
    await page.reload();
    await press(page, 'Submit…');
    await submit(page);
    await outcome(page, 'committed');
    expect(sandbox.updates).toHaveLength(1);
    const isReadable = await readStored(page, 'explorer-keys', 'identities', ['key', 'privateKey', 'extractable']);
    expect(isReadable).toBe(false);
  });

  itInChromium('finds out that a submission with a lost answer was committed, and commits it once', async () => {
    const { sandbox, page } = await openExplorer();
    await makeKey(page);
    await press(page, 'Lose the next answer');
    await page.getByRole('button', { name: 'Will lose the next answer' }).waitFor();
    await submit(page);
    await outcome(page, 'committed');
    await eventually(
      () => stepsOf(page),
      ['Prepared', 'Verified', 'Signed', 'Sent', 'Unclear', 'Asked again', 'Committed at 1, by an earlier attempt.'],
    );
    await page.getByRole('button', { name: 'Lose the next answer' }).waitFor();
    expect(sandbox.updates).toHaveLength(1);
    await expectShown(page, [1]);
  });

  itInChromium('of a hosted party finds out that a lost answer was a commit, and shows contention', async () => {
    const { sandbox, page } = await openExplorer();
    await press(page, 'Submit…');
    await page.getByRole('combobox', { name: /^Key/ }).selectOption('None');
    await press(page, 'Use the party');
    await press(page, 'Lose the next answer');
    await page.getByRole('button', { name: 'Will lose the next answer' }).waitFor();
    const send = page.getByRole('button', { name: 'Submit', exact: true });
    await send.click();
    await outcome(page, 'committed');
    await eventually(() => stepsOf(page), ['Handed over', 'Committed at 1, by an earlier attempt.']);
    expect(sandbox.updates).toHaveLength(1);
    await page.getByRole('button', { name: 'Lose the next answer' }).waitFor();

    const body = cantonError('LOCAL_VERDICT_INACTIVE_CONTRACTS');
    sandbox.fault({ kind: 'status', status: 404, body }, { path: /submit-and-wait-for-transaction$/ });
    await send.click();
    await outcome(page, 'rejected');
    await page.getByText('Another transaction uses its contract, or has archived it.').waitFor();
    expect(sandbox.updates).toHaveLength(1);
  });

  itInChromium.each([
    ['was rejected', /executeAndWaitForTransaction$/, 'LOCAL_VERDICT_INACTIVE_CONTRACTS', 'rejected'],
    ['could not be prepared', /prepare$/, 'CONTRACT_NOT_FOUND', 'failed'],
  ] as const)('says why a submission %s', async (_, path, code, word) => {
    const { sandbox, page } = await openExplorer();
    await makeKey(page);
    sandbox.fault({ kind: 'status', status: 404, body: cantonError(code) }, { path });
    await submit(page);
    await outcome(page, word);
    await page.getByText(`The ledger refused it: ${code}. Nothing was done.`).waitFor();
    expect(sandbox.updates).toHaveLength(0);
  });

  itInChromium.each([1280, 320])('shows why it failed within a screen of %i pixels', async (width) => {
    const { sandbox, page } = await openExplorer();
    await page.setViewportSize({ width, height: 800 });
    await makeKey(page);
    const cause = `The template is not known: ${'0123456789abcdef'.repeat(20)}:Main:Asset`;
    const body = cantonError('INVALID_ARGUMENT', { cause });
    sandbox.fault({ kind: 'status', status: 400, body }, { path: /prepare$/ });
    await submit(page);
    await outcome(page, 'failed');
    const run = page.getByRole('log').first();
    for (const text of ['failed', 'The ledger refused it: INVALID_ARGUMENT. Nothing was done.', cause]) {
      const box = await run.getByText(text, { exact: true }).boundingBox();
      expect((box?.x ?? 0) + (box?.width ?? Infinity)).toBeLessThanOrEqual(width);
    }
  });

  itInChromium('says what it waits for, and that the ledger does not answer', async () => {
    const { page } = await openExplorer();
    await makeKey(page);
    await page.getByRole('button', { name: 'New key' }).waitFor();
    const release = await hold(page, /prepare$/);
    await submit(page);
    const run = page.getByRole('log').first();
    await run.getByText('Preparing…').waitFor();
    await page.route('**/v2/updates**', (route) => route.abort());
    await run.getByText('The ledger does not answer.').waitFor();
    await page.unroute('**/v2/updates**');
    release();
    await outcome(page, 'committed');
  });

  itInChromium('submits once on a double click', async () => {
    const { sandbox, page } = await openExplorer();
    await makeKey(page);
    await page.getByRole('button', { name: 'Prepare, verify, sign and submit' }).dblclick();
    await outcome(page, 'committed');
    expect(await page.getByRole('log').count()).toBe(1);
    expect(sandbox.updates).toHaveLength(1);
    await submit(page);
    await eventually(() => page.getByRole('log').getByText('committed', { exact: true }).count(), 2);
  });

  itInChromium('asks for confirmation before a page is left during a submission', async () => {
    const { page } = await openExplorer();
    const release = await hold(page, /executeAndWaitForTransaction$/);
    await makeKey(page);
    await submit(page);
    await page.getByRole('log').getByText('Sent').waitFor();
    const opened = page.waitForEvent('dialog');
    await page.close({ runBeforeUnload: true });
    const dialog = await opened;
    expect(dialog.type()).toBe('beforeunload');
    await dialog.dismiss();
    release();
    await outcome(page, 'committed');
    // and not after it
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
  });

  itInChromium('signs in every tab with a key of one of them', async () => {
    const { sandbox, url } = await start();
    const [one, other] = [await open(url), await open(url)];
    await press(other, 'Submit…');
    await other.getByRole('button', { name: 'Make a key and host the party' }).waitFor();
    await makeKey(one);
    await Promise.all([submit(one), submit(other)]);
    await Promise.all([outcome(one, 'committed'), outcome(other, 'committed')]);
    expect(sandbox.updates).toHaveLength(2);
  });
});

const stepsOf = (page: Page): Promise<string[]> => page.getByRole('log').first().locator('li > span').allInnerTexts();
