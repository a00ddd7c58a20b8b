import { describe, expect, it } from '@jest/globals';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { at, get, listAt, sandboxWith } from './client.js';
import { anyParty } from './requests.js';
import { archive, creations, outline, page, pagePath, unassign } from './snapshots.js';

async function sandboxWithFive() {
  const sandbox = await sandboxWith();
  sandbox.append(...creations('00aa', '00bb', '00cc', '00dd'), unassign('00bb'));
  return sandbox;
}

describe('a page of the active contracts', () => {
  it('has a token for the next page, and the last one has none', async () => {
    const sandbox = await sandboxWithFive();
    const first = (await page(sandbox, { maxPageSize: 2 })).json;
    expect(first).toMatchObject({ activeAtOffset: 5, nextPageToken: expect.any(String) });
    expect(outline(at(first, 'activeContracts'))).toEqual(['ActiveContract 00aa sync1', 'ActiveContract 00cc sync1']);
    expect(at(first, 'activeContracts', 0, 'streamContinuationToken')).toBe('');
    const last = (await page(sandbox, { maxPageSize: 2, pageToken: at(first, 'nextPageToken') })).json;
    expect(last).toMatchObject({ activeAtOffset: 5, nextPageToken: null });
    expect(outline(at(last, 'activeContracts'))).toEqual([
      'ActiveContract 00dd sync1',
      'IncompleteUnassigned 00bb sync2',
    ]);
  });

  it('keeps the offset that the first page chose, and may have another size', async () => {
    const sandbox = await sandboxWithFive();
    const { json } = await page(sandbox, { maxPageSize: 1 });
    sandbox.append(archive('00cc'), ...creations('00ee'));
    const rest = (await page(sandbox, { maxPageSize: 9, pageToken: at(json, 'nextPageToken') })).json;
    expect(rest).toMatchObject({ activeAtOffset: 5, nextPageToken: null });
    expect(listAt(rest, 'activeContracts')).toHaveLength(3);
  });

  it('has 2000 entries by default, and no maximum of lists', async () => {
    const sandbox = await sandboxWith({ maxListElements: 5 });
    sandbox.append(...creations(...Array.from({ length: 2001 }, (_, index) => `00${index}`)));
    const { json } = await page(sandbox);
    expect(listAt(json, 'activeContracts')).toHaveLength(2000);
    expect(at(json, 'nextPageToken')).toEqual(expect.any(String));
    const { json: whole } = await page(sandbox, { maxPageSize: 10_000 });
    expect(listAt(whole, 'activeContracts')).toHaveLength(2001);
    expect(at(whole, 'nextPageToken')).toBeNull();
  });

  it('takes offset 0 for the ledger end, and is empty on an empty ledger', async () => {
    const sandbox = await sandboxWith();
    expect((await page(sandbox)).json).toEqual({ activeContracts: [], activeAtOffset: 0, nextPageToken: null });
    sandbox.append(...creations('00aa', '00bb'));
    expect((await page(sandbox, { activeAtOffset: 0 })).json).toMatchObject({ activeAtOffset: 2 });
    expect((await page(sandbox, { activeAtOffset: null })).json).toMatchObject({ activeAtOffset: 2 });
    expect(outline(at((await page(sandbox, { activeAtOffset: 1 })).json, 'activeContracts'))).toHaveLength(1);
  });

  it('must repeat the request of the first page', async () => {
    const sandbox = await sandboxWithFive();
    const pageToken = at((await page(sandbox, { maxPageSize: 1 })).json, 'nextPageToken');
    const different = 'with different event_format or active_at_offset';
    const cause = async (fields: object) => {
      const { json } = await page(sandbox, { pageToken, ...fields });
      expect(json).toMatchObject({ code: 'INVALID_ACS_PAGE_TOKEN', errorCategory: 8 });
      return at(json, 'cause');
    };
    expect(await cause({ activeAtOffset: 5 })).toBe(`The page token was prepared ${different}.`);
    expect(await cause({ activeAtOffset: 0 })).toBe(`The page token was prepared ${different}.`);
    expect(await cause({ eventFormat: { ...anyParty, verbose: true } })).toContain(different);
    expect(await cause({ pageToken: '' })).toContain('by a different participant');
    sandbox.configure({ profile: '3.6' });
    expect(await cause({})).toContain('with different page API version');
    sandbox.configure({ profile: '3.5', participantId: 'other::1220ab' });
    expect(await cause({})).toContain('by a different participant');
  });

  it.each([
    [{ maxPageSize: 0 }, 'INVALID_ARGUMENT', 'Requested page size must be positive, but got 0'],
    [{ maxPageSize: 10_001 }, 'INVALID_ARGUMENT', 'Requested page size must not exceed 10000, but got 10001'],
    [{ activeAtOffset: -1 }, 'NEGATIVE_OFFSET', 'Offset -1'],
    [{ activeAtOffset: 6 }, 'OFFSET_AFTER_LEDGER_END', 'active_at_offset offset (6) is after ledger end (5)'],
    [{ pageToken: 'AAAA' }, 'INVALID_FIELD', 'page_token'],
    [{ eventFormat: null }, 'MISSING_FIELD', 'event_format'],
  ])('with %j is an error', async (fields, code, cause) => {
    const reply = await page(await sandboxWithFive(), fields);
    expect(reply).toMatchObject({ status: 400, json: { code, cause: expect.stringContaining(cause) } });
  });

  it('fails when its offset has been pruned since the first page', async () => {
    const sandbox = await sandboxWithFive();
    const pageToken = at((await page(sandbox, { maxPageSize: 1 })).json, 'nextPageToken');
    sandbox.append(...creations('00ee'));
    sandbox.prune(6);
    expect((await page(sandbox, { pageToken })).json).toMatchObject({
      code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
      context: { earliest_offset: '6' },
    });
  });

  it.each<[SandboxProfile, boolean, number]>([
    ['3.4', true, 404],
    ['3.5', false, 405],
    ['3.5', true, 200],
    ['3.6', true, 200],
    ['3.7', true, 200],
  ])('on %s with activeContractsPages %s is a %d', async (profile, activeContractsPages, status) => {
    const sandbox = await sandboxWith({ profile, activeContractsPages });
    expect((await page(sandbox)).status).toBe(status);
    expect((await get(sandbox, pagePath)).status).toBe(profile === '3.4' ? 404 : 405);
  });
});
