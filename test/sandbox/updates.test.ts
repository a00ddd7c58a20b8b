import { describe, expect, it } from '@jest/globals';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { at, eventsIn, failure, keys, offsets, plain, post, sandboxWith, variants } from './client.js';
import {
  acsDelta,
  anyParty,
  creation,
  creationsOf,
  everything,
  flatsPath,
  forParty,
  ledgerEffects,
  readUpdates,
  sandboxWithThree,
  template,
  transaction,
  updatesPath,
  upTo,
} from './requests.js';

describe('a bounded list of updates', () => {
  it('has the updates after the begin up to and including the end, on one line of JSON', async () => {
    const sandbox = await sandboxWithThree();
    sandbox.append(creation());
    const reply = await readUpdates(sandbox, { beginExclusive: 1, endInclusive: 3 });
    expect(reply).toMatchObject({ status: 200, type: 'application/json' });
    expect(offsets(reply)).toEqual([2, 3]);
    expect(reply.text).not.toContain('\n');
  });

  it('is empty if the range is empty, and does not wait even with an idle time', async () => {
    const sandbox = await sandboxWith();
    sandbox.advance(5);
    const before = Date.now();
    expect((await post(sandbox, `${updatesPath}?stream_idle_timeout_ms=60000`, upTo(5))).text).toBe('[]');
    expect(Date.now() - before).toBeLessThan(30_000);
  });

  it('has at most as many elements as the limit, in descending order if requested, since 3.5', async () => {
    const sandbox = await sandboxWithThree();
    const read = async (limit: number, fields: object = {}) =>
      offsets(await post(sandbox, `${updatesPath}?limit=${limit}`, { ...upTo(3), ...fields }));
    expect(await read(2)).toEqual([1, 2]);
    expect(await read(0)).toEqual([]);
    expect(await read(-1)).toEqual([]);
    expect(await read(2, { descendingOrder: true })).toEqual([3, 2]);
    sandbox.configure({ profile: '3.4' });
    expect(await read(2, { descendingOrder: true })).toEqual([1, 2]);
  });

  it('is rejected if it exceeds the maximum of the node, even with a greater limit', async () => {
    const sandbox = await sandboxWithThree({ maxListElements: 2 });
    for (const path of [updatesPath, `${updatesPath}?limit=10`]) {
      expect(await post(sandbox, path, upTo(3))).toMatchObject(
        failure(413, 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', {
          cause: 'The number of matching elements (3) is greater than the node limit (2).',
          errorCategory: 2,
          grpcCodeValue: 10,
          retryInfo: '1 second',
          definiteAnswer: false,
          context: {},
        }),
      );
    }
    expect(offsets(await post(sandbox, `${updatesPath}?limit=2`, upTo(3)))).toEqual([1, 2]);
    sandbox.configure({ maxListElements: 3 });
    expect(offsets(await readUpdates(sandbox))).toEqual([1, 2, 3]);
  });

  it('rejects query parameters that are not integers', async () => {
    const sandbox = await sandboxWith();
    for (const name of ['limit', 'stream_idle_timeout_ms']) {
      const reply = await post(sandbox, `${updatesPath}?${name}=many`, { beginExclusive: 0 });
      expect(reply).toMatchObject(plain(400, `Invalid value for: query parameter ${name}`));
    }
  });

  it.each([
    [{ beginExclusive: -1 }, 'NEGATIVE_OFFSET', 8, undefined],
    [{ beginExclusive: 30, endInclusive: 0 }, 'NON_POSITIVE_OFFSET', 8, undefined],
    [{ beginExclusive: 41 }, 'OFFSET_AFTER_LEDGER_END', 12, 'Begin offset (41) is after ledger end (40)'],
    [{ endInclusive: 99 }, 'OFFSET_AFTER_LEDGER_END', 12, 'End offset (99) is after ledger end (40)'],
    [{ beginExclusive: 35, endInclusive: 30 }, 'OFFSET_OUT_OF_RANGE', 9, undefined],
    [{ beginExclusive: 11, endInclusive: 40 }, 'PARTICIPANT_PRUNED_DATA_ACCESSED', 9, 'Updates request from 12 to 40'],
    [{ descendingOrder: true }, 'DESCENDING_ORDER_MISSING_END', 8, undefined],
    [{ beginExclusive: 25, endInclusive: 40 }, undefined, 0, undefined],
    [{ beginExclusive: 40, endInclusive: 40 }, undefined, 0, undefined],
    // as recorded of 3.5.10
    [{ beginExclusive: 5, endInclusive: 5 }, undefined, 0, undefined],
    [{ beginExclusive: 5, endInclusive: 10 }, 'PARTICIPANT_PRUNED_DATA_ACCESSED', 9, 'Updates request from 6 to 10'],
    [
      { beginExclusive: 5, endInclusive: 40, descendingOrder: true },
      'PARTICIPANT_PRUNED_DATA_ACCESSED',
      9,
      'Updates request from 6 to 40',
    ],
  ])('has offsets within the ledger and not pruned: %j is %s', async (range, code, errorCategory, cause) => {
    const sandbox = await sandboxWith();
    sandbox.advance(40);
    sandbox.prune(25);
    const reply = await post(sandbox, updatesPath, { beginExclusive: 30, ...range, updateFormat: everything });
    if (code === undefined) {
      expect(reply).toMatchObject({ status: 200, text: '[]' });
      return;
    }
    const isPruned = code.includes('PRUNED');
    const fields = {
      errorCategory,
      ...(cause !== undefined && { cause: isPruned ? `${cause} precedes pruned offset 25` : cause }),
      retryInfo: errorCategory === 12 ? '1 second' : null,
      definiteAnswer: null,
      ...(isPruned && { context: { earliest_offset: '25', category: '9' } }),
    };
    expect(reply).toMatchObject(failure(400, code, fields));
  });
});

describe('a descending range that begins before the pruned offset', () => {
  async function prunedAtTwo() {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation(), creation(), creation());
    sandbox.prune(2);
    const body = { beginExclusive: 0, endInclusive: 4, descendingOrder: true, updateFormat: everything };
    return { sandbox, body };
  }

  // as recorded of 3.5.10
  it('has the updates after it, if the limit is reached before', async () => {
    const { sandbox, body } = await prunedAtTwo();
    for (const [limit, expected] of [
      [1, [4]],
      [2, [4, 3]],
    ] as const)
      expect(offsets(await post(sandbox, `${updatesPath}?limit=${limit}`, body))).toEqual(expected);
  });

  it('is refused if it reaches the pruned updates', async () => {
    const { sandbox, body } = await prunedAtTwo();
    const refused = failure(400, 'PARTICIPANT_PRUNED_DATA_ACCESSED', { context: { earliest_offset: '2' } });
    for (const query of ['?limit=3', '']) expect(await post(sandbox, updatesPath + query, body)).toMatchObject(refused);
    expect(offsets(await post(sandbox, updatesPath, { ...body, beginExclusive: 2 }))).toEqual([4, 3]);
  });
});

const range = { beginExclusive: 0, endInclusive: 1 };
const legacy = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] } };
const byPackageId = `${'c'.repeat(64)}:Main:Asset`;

async function sandboxWithOne(profile: SandboxProfile = '3.5') {
  const sandbox = await sandboxWith({ profile });
  sandbox.append(creation());
  return sandbox;
}

/** Requests the first update with other fields, at a new sandbox. */
const request = async (fields: object, profile?: SandboxProfile) =>
  post(await sandboxWithOne(profile), updatesPath, { ...range, ...fields });

describe('a request for updates', () => {
  it.each([
    [{ updateFormat: everything, filter: legacy }, /^Both update_format and filter are set/],
    [{ updateFormat: everything, verbose: true }, /^Both update_format and verbose are set/],
    [{}, /^Either filter\/verbose or update_format is required/],
    [{ updateFormat: { includeReassignments: { filtersByParty: {} } } }, /empty/],
  ])('is rejected if its fields contradict each other: %j', async (parts, cause) => {
    expect(await request(parts)).toMatchObject(
      failure(400, 'INVALID_ARGUMENT', { cause: expect.stringMatching(cause) }),
    );
  });

  it.each<[string, unknown]>([
    ['no JSON', '{"beginExclusive":'],
    ['a string for a number', { ...range, beginExclusive: '0', updateFormat: everything }],
    ['null for a number', { ...range, beginExclusive: null, updateFormat: everything }],
    ['no transaction shape', { updateFormat: { includeTransactions: { eventFormat: anyParty } } }],
    [
      'an unknown shape',
      { updateFormat: { includeTransactions: { ...acsDelta(anyParty), transactionShape: 'ROUND' } } },
    ],
    ['null for a map', { updateFormat: { includeReassignments: { filtersByParty: null } } }],
    ['a bad identifier', { updateFormat: { includeReassignments: forParty('p', template('x')) } }],
    ['an unknown filter', { updateFormat: { includeReassignments: forParty('p', { MoonFilter: { value: {} } }) } }],
  ])('is rejected in plain text if it does not decode: %s', async (_, body) => {
    const reply = await post(await sandboxWithOne(), updatesPath, body);
    expect(reply).toMatchObject(plain(400, 'Invalid value for: body ('));
  });

  it('may have unknown fields at any depth, and needs no scalar', async () => {
    const filters = { cumulative: [{ newer: 1 }, { identifierFilter: { WildcardFilter: { value: { newer: {} } } } }] };
    const includeTransactions = { ...acsDelta({ filtersForAnyParty: filters, newer: null }), newer: 1 };
    const body = { endInclusive: 1, newer: [1], updateFormat: { includeTransactions } };
    expect(offsets(await post(await sandboxWithOne(), updatesPath, body))).toEqual([1]);
    expect(offsets(await request({ updateFormat: everything, verbose: false }))).toEqual([1]);
  });

  it.each([
    { eventFormat: anyParty, transactionShape: 'TRANSACTION_SHAPE_UNSPECIFIED' },
    { transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
  ])('is rejected without a transaction shape or an event format: %j', async (includeTransactions) => {
    expect(await request({ updateFormat: { includeTransactions } })).toMatchObject(failure(400, 'MISSING_FIELD'));
  });

  it('must have package names in its filters since 3.5', async () => {
    const updateFormat = { includeTransactions: acsDelta(forParty('p', template(byPackageId))) };
    const cause = expect.stringContaining('but expected a package name');
    expect(await request({ updateFormat })).toMatchObject(failure(400, 'INVALID_FIELD', { cause }));
    const before = await sandboxWithOne('3.4');
    before.append(creation({ templateId: byPackageId }));
    expect((await readUpdates(before, { updateFormat })).status).toBe(200);
  });

  it.each([
    [{ endInclusive: 1 }, 'beginExclusive'],
    [{ updateFormat: { includeReassignments: { filtersForAnyParty: { cumulative: [] } } } }, 'verbose'],
    [{ updateFormat: undefined, filter: legacy }, 'verbose'],
    [
      { updateFormat: { includeReassignments: forParty('p', { WildcardFilter: { value: {} } }) } },
      'includeCreatedEventBlob',
    ],
  ])('must have all numbers and flags in 3.3, but not later: %j', async (parts, field) => {
    const body = { ...(field === 'beginExclusive' ? {} : range), updateFormat: everything, ...parts };
    expect(await post(await sandboxWithOne('3.3'), updatesPath, body)).toMatchObject(plain(400, `${field}'`));
    expect((await post(await sandboxWithOne('3.4'), updatesPath, body)).status).toBe(200);
  });

  it('may leave out in 3.3 what 3.3 does not have', async () => {
    expect(variants(await request({ updateFormat: everything }, '3.3'))).toEqual(['Transaction']);
  });

  it('selects nothing with an empty update format, or for a party that the participant does not host', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(50);
    const format = forParty('nobody::1220ff');
    const topology = { includeParticipantAuthorizationEvents: { parties: ['nobody::1220ff'] } };
    const foreign = {
      includeTransactions: acsDelta(format),
      includeReassignments: format,
      includeTopologyEvents: topology,
    };
    for (const updateFormat of [{}, foreign])
      expect(await readUpdates(sandbox, { updateFormat })).toMatchObject({ status: 200, text: '[]' });
  });

  it('may have a legacy filter up to 3.5, and in 3.6 if enabled', async () => {
    const body = { ...range, filter: legacy, verbose: true };
    expect(variants(await request({ filter: legacy, verbose: true }))).toEqual(['Transaction']);
    const sandbox = await sandboxWithOne('3.6');
    const disabled = failure(400, 'DEPRECATED_API_DISABLED', { errorCategory: 9, grpcCodeValue: 9 });
    expect(await post(sandbox, updatesPath, body)).toMatchObject(disabled);
    expect(await post(sandbox, flatsPath, 'not even JSON')).toMatchObject(disabled);
    sandbox.configure({ deprecatedApis: true });
    expect(variants(await post(sandbox, flatsPath, body))).toEqual(['Transaction']);
  });

  it('cannot have a legacy filter in 3.7, which ignores it and has no path for it', async () => {
    const sandbox = await sandboxWithOne('3.7');
    sandbox.configure({ deprecatedApis: true });
    const body = { ...range, filter: legacy, verbose: true };
    expect(await post(sandbox, flatsPath, body)).toMatchObject({
      status: 404,
      json: { errors: [expect.stringContaining(flatsPath)], status: 404, ledgerApiError: null },
    });
    const cause = expect.stringContaining('update_format');
    expect(await post(sandbox, updatesPath, body)).toMatchObject(failure(400, 'MISSING_FIELD', { cause }));
    expect((await post(sandbox, updatesPath, { ...body, updateFormat: {} })).text).toBe('[]');
  });
});

describe('looking up one update', () => {
  const byOffset = '/v2/updates/update-by-offset';
  const byId = '/v2/updates/update-by-id';

  it('finds it by offset and by id', async () => {
    const sandbox = await sandboxWithOne();
    const value = { offset: 7, updateId: '1220ab' };
    sandbox.append({ Transaction: { value: { ...value, events: [{ CreatedEvent: {} }] } } });
    for (const [path, key] of [[byOffset, { offset: 7 }] as const, [byId, { updateId: '1220ab' }] as const])
      expect((await post(sandbox, path, { ...key, updateFormat: everything })).json).toMatchObject({
        update: { Transaction: { value } },
      });
  });

  it('returns the same error for unknown, pruned and invisible updates, but checks the filter first', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creationsOf(2));
    sandbox.prune(1);
    const invisible = { includeReassignments: anyParty };
    const unknown = { includeReassignments: forParty('p', template('#unknown:Main:Asset')) };
    const look = (path: string, key: object, updateFormat: object = everything) =>
      post(sandbox, path, { ...key, updateFormat });
    const notFound = failure(404, 'UPDATE_NOT_FOUND', { errorCategory: 11, grpcCodeValue: 5 });
    expect(await look(byOffset, { offset: 1 })).toMatchObject(notFound);
    expect(await look(byOffset, { offset: 5 })).toMatchObject(notFound);
    expect(await look(byOffset, { offset: 2 }, invisible)).toMatchObject(notFound);
    expect(await look(byId, { updateId: `1220${'ff'.repeat(32)}` })).toMatchObject(notFound);
    const updateId = `1220${'ff'.repeat(32)}`;
    for (const [path, key, resource] of [
      [byOffset, { offset: 1 }, ['ErrorResource(OFFSET)', '1']] as const,
      [byId, { updateId }, ['ErrorResource(UPDATE_ID)', updateId]] as const,
    ])
      expect((await look(path, key)).json).toMatchObject({ resources: [resource], definiteAnswer: null });
    expect(await look(byOffset, { offset: 0 })).toMatchObject(failure(400, 'NON_POSITIVE_OFFSET'));
    for (const [path, key] of [
      [byOffset, { offset: 2 }] as const,
      [byId, { updateId: `1220${'ff'.repeat(32)}` }] as const,
    ])
      expect(await look(path, key, unknown)).toMatchObject(failure(404, 'PACKAGE_NAMES_NOT_FOUND'));
  });
});

describe('appended updates', () => {
  it('get default values for absent fields', async () => {
    const sandbox = await sandboxWith();
    expect(sandbox.append(creation(), { TopologyTransaction: { value: { offset: 10 } } })).toBe(10);
    const value = {
      offset: 1,
      updateId: expect.stringMatching(/^1220[0-9a-f]{64}$/),
      synchronizerId: sandbox.synchronizers[0],
      recordTime: '2026-01-01T00:00:01Z',
      events: [{ CreatedEvent: { offset: 1, nodeId: 0, contractId: expect.stringMatching(/^00[0-9a-f]+$/) } }],
    };
    expect(sandbox.updates[0]).toMatchObject({ Transaction: { value } });
  });

  it('must have offsets greater than the ledger end', async () => {
    const sandbox = await sandboxWith();
    sandbox.advance(3);
    expect(() => sandbox.append({ Transaction: { value: { offset: 3 } } })).toThrow(RangeError);
    expect(sandbox.ledgerEnd).toBe(3);
  });

  it('get the event of the other shape for an archive', async () => {
    const sandbox = await sandboxWith();
    const gone = { contractId: '00aa', templateId: '#assets:Main:Asset', witnessParties: ['alice'] };
    const choice = (name: string, consuming: boolean) => ({ ExercisedEvent: { ...gone, choice: name, consuming } });
    sandbox.append(
      transaction({ ArchivedEvent: gone }),
      transaction(choice('Give', true)),
      transaction(choice('Look', false)),
    );
    const kinds = sandbox.updates.map((update) =>
      'Transaction' in update ? update.Transaction.value.events.flatMap(keys) : [],
    );
    const both = ['ArchivedEvent', 'ExercisedEvent'];
    expect(kinds).toEqual([both, both, ['ExercisedEvent']]);
    expect(at(sandbox.updates[0], 'Transaction', 'value', 'events', 0, 'ArchivedEvent')).toMatchObject({
      packageName: 'assets',
      templateId: expect.stringMatching(/^[0-9a-f]{64}:Main:Asset$/),
      witnessParties: ['alice'],
    });
  });

  it('have the package name of an event of an unknown contract, also beside a non-consuming choice', async () => {
    const sandbox = await sandboxWith();
    const ids = { contractId: '00aa', templateId: byPackageId, packageName: 'my-pkg', witnessParties: ['alice'] };
    const look = { ExercisedEvent: { ...ids, choice: 'Look', consuming: false } };
    sandbox.append(transaction(look, { ArchivedEvent: ids }));
    const read = async (shape: (format: unknown) => unknown) => {
      const updateFormat = { includeTransactions: shape(forParty('alice', template('#my-pkg:Main:Asset'))) };
      return eventsIn(await readUpdates(sandbox, { updateFormat }), 'Transaction');
    };
    expect(await read(acsDelta)).toMatchObject([{ ArchivedEvent: { contractId: '00aa', packageName: 'my-pkg' } }]);
    expect(await read(ledgerEffects)).toMatchObject([
      { ExercisedEvent: { choice: 'Look', consuming: false } },
      { ExercisedEvent: { choice: 'Archive', consuming: true } },
    ]);
  });
});

describe('a restored ledger', () => {
  it('ends earlier and may continue with other updates', async () => {
    const sandbox = await sandboxWithThree();
    const [, second] = sandbox.updates;
    sandbox.restore(1);
    expect([sandbox.ledgerEnd, sandbox.updates.length]).toEqual([1, 1]);
    expect(await readUpdates(sandbox, { beginExclusive: 3 })).toMatchObject(failure(400, 'OFFSET_AFTER_LEDGER_END'));
    sandbox.append(creation());
    expect(sandbox.ledgerEnd).toBe(2);
    const updateId = (update: unknown) => at(update, 'Transaction', 'value', 'updateId');
    expect(updateId(sandbox.updates[1])).not.toBe(updateId(second));
    expect(() => {
      sandbox.restore(3);
    }).toThrow(RangeError);
  });

  it('cannot be pruned after its end, and keeps pruned updates in sandbox.updates', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creationsOf(2));
    sandbox.prune(1);
    expect(sandbox.updates).toHaveLength(2);
    expect(() => {
      sandbox.prune(3);
    }).toThrow(RangeError);
    expect(offsets(await readUpdates(sandbox, { beginExclusive: 1 }))).toEqual([2]);
  });
});
