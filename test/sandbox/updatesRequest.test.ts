import { describe, expect, it } from '@jest/globals';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { acsDelta, anyParty, creation, everything, forParty } from './requests.js';
import { failure, offsets, post, sandboxWith, variants } from './client.js';

const range = { beginExclusive: 0, endInclusive: 1 };
const legacy = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] } };
const byPackageId = { TemplateFilter: { value: { templateId: `${'c'.repeat(64)}:Main:Asset` } } };

async function sandboxWithOne(profile: SandboxProfile = '3.5') {
  const sandbox = await sandboxWith({ profile });
  sandbox.append(creation());
  return sandbox;
}

describe('a request for updates', () => {
  it.each([
    [{ updateFormat: everything, filter: legacy }, /^Both update_format and filter are set/],
    [{ updateFormat: everything, verbose: true }, /^Both update_format and verbose are set/],
    [{}, /^Either filter\/verbose or update_format is required/],
    [{ updateFormat: { includeReassignments: { filtersByParty: {} } } }, /empty/],
  ])('is rejected if its fields contradict each other: %j', async (parts, cause) => {
    const reply = await post(await sandboxWithOne(), '/v2/updates', { ...range, ...parts });
    expect(reply).toMatchObject({
      status: 400,
      json: { code: 'INVALID_ARGUMENT', cause: expect.stringMatching(cause) },
    });
  });

  it('may have verbose: false beside an update format', async () => {
    const reply = await post(await sandboxWithOne(), '/v2/updates', {
      ...range,
      updateFormat: everything,
      verbose: false,
    });
    expect(offsets(reply)).toEqual([1]);
  });

  it.each<[unknown, string]>([
    ['{"beginExclusive":', 'no JSON'],
    [{ ...range, beginExclusive: '0', updateFormat: everything }, 'a string for a number'],
    [{ ...range, beginExclusive: null, updateFormat: everything }, 'null for a number'],
    [{ ...range, updateFormat: { includeTransactions: { eventFormat: anyParty } } }, 'no transaction shape'],
    [
      { ...range, updateFormat: { includeTransactions: { eventFormat: anyParty, transactionShape: 'ROUND' } } },
      'an unknown shape',
    ],
    [{ ...range, updateFormat: { includeReassignments: { filtersByParty: null } } }, 'null for a map'],
    [
      {
        ...range,
        updateFormat: { includeReassignments: forParty('p', { TemplateFilter: { value: { templateId: 'x' } } }) },
      },
      'a bad identifier',
    ],
    [
      { ...range, updateFormat: { includeReassignments: forParty('p', { MoonFilter: { value: {} } }) } },
      'an unknown filter',
    ],
  ])('is rejected in plain text if it does not decode: %j', async (body) => {
    const reply = await post(await sandboxWithOne(), '/v2/updates', body);
    expect(reply).toMatchObject({ status: 400, type: 'text/plain; charset=UTF-8' });
    expect(reply.text).toMatch(/^Invalid value for: body \(/);
  });

  it('may have unknown fields at any depth, and needs no scalar', async () => {
    const newer = { endInclusive: 1, newer: [1], updateFormat: { includeTransactions: {} } };
    const filters = { cumulative: [{ newer: 1 }, { identifierFilter: { WildcardFilter: { value: { newer: {} } } } }] };
    newer.updateFormat.includeTransactions = { ...acsDelta({ filtersForAnyParty: filters, newer: null }), newer: 1 };
    expect(offsets(await post(await sandboxWithOne(), '/v2/updates', newer))).toEqual([1]);
  });

  it('is rejected without a transaction shape or an event format', async () => {
    const sandbox = await sandboxWithOne();
    for (const includeTransactions of [
      { eventFormat: anyParty, transactionShape: 'TRANSACTION_SHAPE_UNSPECIFIED' },
      { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    ]) {
      const reply = await post(sandbox, '/v2/updates', { ...range, updateFormat: { includeTransactions } });
      expect(reply).toMatchObject(failure(400, 'MISSING_FIELD'));
    }
  });

  it('must have package names in its filters since 3.5', async () => {
    const body = { ...range, updateFormat: { includeTransactions: acsDelta(forParty('p', byPackageId)) } };
    expect(await post(await sandboxWithOne(), '/v2/updates', body)).toMatchObject({
      status: 400,
      json: { code: 'INVALID_FIELD', cause: expect.stringContaining('but expected a package name') },
    });
    const before = await sandboxWithOne('3.4');
    before.append(creation({ templateId: `${'c'.repeat(64)}:Main:Asset` }));
    expect(await post(before, '/v2/updates', body)).toMatchObject({ status: 200 });
  });

  it.each([
    [{ endInclusive: 1 }, 'beginExclusive'],
    [{ updateFormat: { includeReassignments: { filtersForAnyParty: { cumulative: [] } } } }, 'verbose'],
    [{ updateFormat: undefined, filter: legacy }, 'verbose'],
    [
      {
        updateFormat: {
          includeReassignments: forParty('p', { WildcardFilter: { value: {} } }),
        },
      },
      'includeCreatedEventBlob',
    ],
  ])('must have all numbers and flags in 3.3, but not later: %j', async (parts, field) => {
    const begin = field === 'beginExclusive' ? {} : range;
    const body = { ...begin, updateFormat: everything, ...parts };
    const former = await post(await sandboxWithOne('3.3'), '/v2/updates', body);
    expect(former).toMatchObject({ status: 400, text: expect.stringContaining(`${field}'`) });
    expect(await post(await sandboxWithOne('3.4'), '/v2/updates', body)).toMatchObject({ status: 200 });
  });

  it('may leave out in 3.3 what 3.3 does not have', async () => {
    const body = { ...range, updateFormat: everything };
    expect(variants(await post(await sandboxWithOne('3.3'), '/v2/updates', body))).toEqual(['Transaction']);
  });

  it('selects nothing with an empty update format', async () => {
    expect(await post(await sandboxWithOne(), '/v2/updates', { ...range, updateFormat: {} })).toMatchObject({
      text: '[]',
    });
  });

  it('may have a legacy filter up to 3.5, and in 3.6 if enabled', async () => {
    const body = { ...range, filter: legacy, verbose: true };
    expect(variants(await post(await sandboxWithOne('3.5'), '/v2/updates', body))).toEqual(['Transaction']);
    const sandbox = await sandboxWithOne('3.6');
    const disabled = { status: 400, json: { code: 'DEPRECATED_API_DISABLED', errorCategory: 9, grpcCodeValue: 9 } };
    expect(await post(sandbox, '/v2/updates', body)).toMatchObject(disabled);
    expect(await post(sandbox, '/v2/updates/flats', 'not even JSON')).toMatchObject(disabled);
    sandbox.configure({ deprecatedApis: true });
    expect(variants(await post(sandbox, '/v2/updates/flats', body))).toEqual(['Transaction']);
  });

  it('cannot have a legacy filter in 3.7, which ignores it and has no path for it', async () => {
    const sandbox = await sandboxWithOne('3.7');
    sandbox.configure({ deprecatedApis: true });
    const body = { ...range, filter: legacy, verbose: true };
    expect(await post(sandbox, '/v2/updates/flats', body)).toMatchObject({
      status: 404,
      json: { errors: [expect.stringContaining('/v2/updates/flats')], status: 404, ledgerApiError: null },
    });
    expect(await post(sandbox, '/v2/updates', body)).toMatchObject({
      status: 400,
      json: { code: 'MISSING_FIELD', cause: expect.stringContaining('update_format') },
    });
    expect((await post(sandbox, '/v2/updates', { ...body, updateFormat: {} })).text).toBe('[]');
  });
});
