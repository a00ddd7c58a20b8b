import { describe, expect, it } from '@jest/globals';
import type { Sandbox } from '../../src/sandbox/index.js';
import { at, failure, get, listAt, offsetOf, plain, post, requestReceived, send } from './client.js';
import { assetOf, commandsOf, createAsset, exerciseAsset, submit, submitPath, withParties } from './commands.js';
import { create, everything, sandboxWithThree } from './requests.js';

const pagePath = '/v2/updates/get-updates-page';

const page = (sandbox: Sandbox, fields: object = {}) =>
  post(sandbox, pagePath, { updateFormat: everything, ...fields });

/** The offsets of a page, its bounds, and whether there is another one. */
async function outlineOf(sandbox: Sandbox, fields: object) {
  const { json } = await page(sandbox, fields);
  const bounds = [at(json, 'lowestPageOffsetExclusive'), at(json, 'highestPageOffsetInclusive')];
  return [listAt(json, 'updates').map(offsetOf), ...bounds, at(json, 'nextPageToken') !== null];
}

describe('a page of updates', () => {
  it('covers a range of offsets, up to the next update', async () => {
    const sandbox = await sandboxWithThree();
    sandbox.advance(4);
    expect(await outlineOf(sandbox, { maxPageSize: 2 })).toEqual([[1, 2], 0, 2, true]);
    expect(await outlineOf(sandbox, {})).toEqual([[1, 2, 3], 0, 7, true]);
    expect(await outlineOf(sandbox, { endOffsetInclusive: 7 })).toEqual([[1, 2, 3], 0, 7, false]);
    const descending = { descendingOrder: true, endOffsetInclusive: 5000 };
    expect(await outlineOf(sandbox, { ...descending, maxPageSize: 2 })).toEqual([[3, 2], 1, 5000, true]);
    expect(await outlineOf(sandbox, descending)).toEqual([[3, 2, 1], 0, 5000, false]);
    expect(await outlineOf(sandbox, { beginOffsetExclusive: 100 })).toEqual([[], 100, 7, true]);
    sandbox.prune(2);
    expect(await outlineOf(sandbox, {})).toEqual([[3], 2, 7, true]);
  });

  it.each([
    { descendingOrder: false, read: [1, 2, 3] },
    { descendingOrder: true, read: [3, 2, 1] },
  ])('is followed by the page of its token: %j', async ({ descendingOrder, read }) => {
    const sandbox = await sandboxWithThree();
    const fields = { descendingOrder, endOffsetInclusive: 3, maxPageSize: 1 };
    const seen: unknown[] = [];
    let pageToken: unknown = undefined;
    do {
      const { json } = await page(sandbox, { ...fields, pageToken });
      seen.push(...listAt(json, 'updates').map(offsetOf));
      pageToken = at(json, 'nextPageToken');
    } while (pageToken !== null);
    expect(seen).toEqual(read);
  });

  it('without an end has a token to read the updates to come', async () => {
    const sandbox = await sandboxWithThree();
    const { json } = await page(sandbox);
    const next = { pageToken: at(json, 'nextPageToken') };
    expect(await outlineOf(sandbox, next)).toEqual([[], 3, 3, true]);
    sandbox.generate(1, { variants: ['Transaction'] });
    expect(await outlineOf(sandbox, next)).toEqual([[sandbox.ledgerEnd], 3, sandbox.ledgerEnd, true]);
  });

  it('is rejected outside of the ledger, with a wrong size or another token, and before 3.5', async () => {
    const sandbox = await sandboxWithThree();
    const { json } = await page(sandbox, { maxPageSize: 1 });
    const pageToken = at(json, 'nextPageToken');
    sandbox.prune(2);
    for (const [fields, code] of [
      [{ beginOffsetExclusive: -1 }, 'NEGATIVE_OFFSET'],
      [{ endOffsetInclusive: 0 }, 'NON_POSITIVE_OFFSET'],
      [{ endOffsetInclusive: 99 }, 'OFFSET_AFTER_LEDGER_END'],
      [{ beginOffsetExclusive: 3, endOffsetInclusive: 2 }, 'INVALID_ARGUMENT'],
      [{ beginOffsetExclusive: 0 }, 'PARTICIPANT_PRUNED_DATA_ACCESSED'],
      [{ maxPageSize: 0 }, 'INVALID_ARGUMENT'],
      [{ maxPageSize: 2001 }, 'INVALID_ARGUMENT'],
      [{ pageToken, maxPageSize: 2 }, 'INVALID_UPDATES_PAGE_TOKEN'],
      [{ pageToken: '' }, 'INVALID_UPDATES_PAGE_TOKEN'],
      [{ pageToken: 'AAAA' }, 'INVALID_FIELD'],
    ] as const)
      expect(await page(sandbox, fields)).toMatchObject(failure(400, code));
    sandbox.configure({ profile: '3.4' });
    expect((await page(sandbox)).status).toBe(404);
  });
});

describe('a page of parties', () => {
  it('is followed by the page of its token', async () => {
    const { sandbox } = await withParties();
    const names: unknown[] = [];
    let pageToken: unknown = '';
    do {
      const { json } = await get(
        sandbox,
        `/v2/parties?${String(new URLSearchParams({ pageSize: '4', pageToken: String(pageToken) }))}`,
      );
      names.push(...listAt(json, 'partyDetails').map((details) => at(details, 'party')));
      pageToken = at(json, 'nextPageToken');
    } while (pageToken !== '');
    expect(names).toEqual([...sandbox.parties].sort());
    expect(await get(sandbox, '/v2/parties?pageSize=-1')).toMatchObject(failure(400, 'INVALID_ARGUMENT'));
    expect(await get(sandbox, '/v2/parties?pageSize=x')).toMatchObject(plain(400));
  });
});

describe('the user of the token', () => {
  it('is there only if tokens are checked', async () => {
    const { sandbox } = await withParties();
    expect(await get(sandbox, '/v2/authenticated-user')).toMatchObject(failure(400, 'INVALID_TOKEN'));
    sandbox.configure({ checkToken: () => true });
    expect((await get(sandbox, '/v2/authenticated-user')).json).toMatchObject({ user: { id: 'ledger-api-user' } });
  });
});

/** A ZIP file with empty entries. */
function zipOf(...names: readonly string[]): Buffer {
  const entries = names.map((name) => {
    const header = Buffer.alloc(46);
    header.writeUInt32LE(0x02014b50);
    header.writeUInt16LE(name.length, 28);
    return Buffer.concat([header, Buffer.from(name)]);
  });
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  return Buffer.concat([...entries, end]);
}

describe('an uploaded package', () => {
  const packageId = 'ab'.repeat(32);
  const upload = (sandbox: Sandbox, bytes: Buffer, path = '/v2/packages') =>
    send(sandbox, path, {
      method: 'POST',
      headers: { 'content-type': 'application/octet-stream' },
      body: new Uint8Array(bytes),
    });

  it.each(['/v2/packages', '/v2/dars?vetAllPackages=true'])('by %s is known by its name and its id', async (path) => {
    const { sandbox, alice } = await withParties();
    const command = create('#my-assets:Main:Asset', { amount: '1' });
    expect(await submit(sandbox, alice, command)).toMatchObject(failure(404, 'PACKAGE_NAMES_NOT_FOUND'));
    const dar = zipOf('META-INF/MANIFEST.MF', `my-assets-1.0.0/my-assets-1.0.0-${packageId}.dalf`);
    expect(await upload(sandbox, dar, path)).toMatchObject({ status: 200, json: {} });
    expect(listAt((await get(sandbox, '/v2/packages')).json, 'packageIds')).toContain(packageId);
    expect((await submit(sandbox, alice, command)).status).toBe(200);
    expect(JSON.stringify(sandbox.updates)).toContain(`"${packageId}:Main:Asset"`);
    const preference = { commandId: 'other', packageIdSelectionPreference: [packageId] };
    expect((await submit(sandbox, alice, command, preference)).status).toBe(200);
  });

  it('must be in a Daml archive', async () => {
    const { sandbox } = await withParties();
    const dalf = `my-assets-1.0.0-${packageId}.dalf`;
    for (const bytes of [Buffer.from('no archive'), zipOf(dalf), zipOf('META-INF/MANIFEST.MF')])
      expect(await upload(sandbox, bytes)).toMatchObject(failure(400, 'INVALID_DAR'));
  });
});

describe('contracts that a submission archives', () => {
  const archivals = async (confirmationMs: number) => {
    const { sandbox, alice } = await withParties({ confirmationMs });
    const contractId = await assetOf(sandbox, alice);
    const archive = (commandId: string, choice?: string) =>
      post(sandbox, submitPath, commandsOf(alice, exerciseAsset(contractId, choice), { commandId }));
    return { sandbox, alice, archive };
  };

  it('are locked until its commit, for all that use them', async () => {
    const { sandbox, archive } = await archivals(200);
    const first = archive('one');
    await requestReceived(sandbox);
    const others = [archive('two'), archive('three', 'Touch')];
    const locked = failure(409, 'LOCAL_VERDICT_LOCKED_CONTRACTS', { errorCategory: 2, retryInfo: '1 second' });
    expect(await Promise.all(others)).toMatchObject([locked, locked]);
    expect((await first).status).toBe(200);
    expect(sandbox.updates).toHaveLength(2);
    expect(await archive('two')).toMatchObject(failure(404, 'CONTRACT_NOT_FOUND'));
  });

  it('are locked for no other contract, and the same change is in flight', async () => {
    const { sandbox, alice, archive } = await archivals(200);
    const first = archive('one');
    await requestReceived(sandbox);
    const again = archive('one');
    expect((await submit(sandbox, alice, createAsset(alice))).status).toBe(200);
    expect(await again).toMatchObject(failure(409, 'SUBMISSION_ALREADY_IN_FLIGHT'));
    expect((await first).status).toBe(200);
  });

  it('are committed at once without a time', async () => {
    const { archive } = await archivals(0);
    const answers = await Promise.all([archive('one'), archive('two')]);
    expect(answers.map(({ json }) => at(json, 'code'))).toEqual([undefined, 'CONTRACT_NOT_FOUND']);
  });
});
