import type { Locator, Page } from 'playwright-core';
import type { Sandbox } from '../../../../src/sandbox/index.js';
import { transact } from './explorer.js';

export const contractRow = (page: Page, contractId: string): Locator => page.locator(`#contract-${contractId}`);

export const chooseTemplate = (page: Page, entity: string): Promise<void> =>
  page.locator('app-template-rail').getByText(entity, { exact: true }).click();

/** A number of the status of the contracts. */
export const count = (page: Page, name: string): Promise<string> =>
  page.locator('app-contracts-strip div').filter({ hasText: name }).locator('dd').innerText();

/** The texts of the cells of a row. */
export const textsOf = async (row: Locator): Promise<readonly string[]> =>
  (await row.getByRole('gridcell').allInnerTexts()).map((text) => text.trim());

let made = 0;
// with the version of an id that participants accept
const newId = (): string => `00c0ffeeab${(made += 1).toString(16).padStart(56, '0')}ca1112`;

export const assetTemplate = '#sandbox-assets:Main:Asset';

/** Creates an asset. Returns its id. */
export function asset(sandbox: Sandbox, fields: Readonly<Record<string, string | null>> = {}): string {
  const [owner = ''] = sandbox.parties;
  const contractId = newId();
  const createArgument = { owner, amount: '1.0', tag: 'gold', serial: '1', ...fields };
  const event = { contractId, templateId: assetTemplate, signatories: [owner], createArgument };
  transact(sandbox, [{ CreatedEvent: event }], { synchronizerId: sandbox.synchronizers[0] });
  return contractId;
}

/** Creates a contract with a field of each kind. */
export function sample(sandbox: Sandbox) {
  const [owner = ''] = sandbox.parties;
  const contractId = newId();
  const createArgument = {
    ...{ owner, active: true, count: '977', amount: '1234567.2500000000', note: 'a note' },
    ...{ day: '2026-12-03', at: '2026-11-22T14:03:07.25Z', contract: newId() },
    ...{ limits: ['1.0', '2.5'], lock: { holder: owner, reason: null }, price: { tag: 'Fixed', value: '10.0' } },
    nothing: null,
  };
  const templateId = '#sandbox-values:Values:Sample';
  const event = { contractId, templateId, signatories: [owner], createArgument };
  transact(sandbox, [{ CreatedEvent: event }]);
  return event;
}
