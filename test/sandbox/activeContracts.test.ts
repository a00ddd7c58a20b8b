import { describe, expect, it } from '@jest/globals';
import { at, get, listAt, post, sandboxWith } from './client.js';
import { anyParty, creation, forParty } from './requests.js';
import { archive, assign, creations, list, outline, page, pagePath, path, unassign } from './snapshots.js';

describe('the active contracts', () => {
  it('are those of any offset, in the order of their activations', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb'), archive('00aa'), ...creations('00cc'));
    const at0to4 = await Promise.all([0, 1, 2, 3, 4].map((activeAtOffset) => list(sandbox, { activeAtOffset })));
    expect(at0to4.map(({ json }) => outline(json))).toEqual([
      [],
      ['ActiveContract 00aa sync1'],
      ['ActiveContract 00aa sync1', 'ActiveContract 00bb sync1'],
      ['ActiveContract 00bb sync1'],
      ['ActiveContract 00bb sync1', 'ActiveContract 00cc sync1'],
    ]);
    expect(at(at0to4[1]?.json, 0)).toMatchObject({
      workflowId: '',
      contractEntry: { JsActiveContract: { createdEvent: { offset: 1, acsDelta: true }, reassignmentCounter: 0 } },
      streamContinuationToken: expect.stringMatching(/^[\w+/]+=*$/),
    });
  });

  it('are in flight between unassignment and assignment, and keep their fields', async () => {
    const sandbox = await sandboxWith();
    sandbox.append({
      Transaction: { value: { events: [{ CreatedEvent: { contractId: '00aa', createArgument: { n: '1' } } }] } },
    });
    sandbox.append(unassign('00aa'));
    const { json } = await list(sandbox);
    expect(outline(json)).toEqual(['IncompleteUnassigned 00aa sync2']);
    expect(at(json, 0, 'contractEntry', 'JsIncompleteUnassigned')).toMatchObject({
      createdEvent: { offset: 1, createArgument: { n: '1' } },
      unassignedEvent: { offset: 2, contractId: '00aa', reassignmentCounter: 1 },
    });
    sandbox.append(assign('00aa'), unassign('00aa'), assign('00aa'));
    const moved = (await list(sandbox)).json;
    expect(outline(moved)).toEqual(['ActiveContract 00aa sync1']);
    expect(at(moved, 0, 'contractEntry', 'JsActiveContract')).toMatchObject({
      createdEvent: { offset: 5, createArgument: { n: '1' } },
      reassignmentCounter: 2,
    });
  });

  it('include incomplete reassignments in 3.7 only if the request asks for them, before in any case', async () => {
    const sandbox = await sandboxWith({ profile: '3.7' });
    sandbox.append(...creations('00aa', '00bb'), unassign('00aa'), assign('00bb'));
    const active = ['ActiveContract 00bb sync1', 'ActiveContract 00bb sync2'];
    const all = [...active, 'IncompleteUnassigned 00aa sync2', 'IncompleteAssigned 00bb'];
    const read = async (fields: object) => {
      const { activeContracts } = (await page(sandbox, fields)).json as { activeContracts: unknown };
      const listed = outline((await list(sandbox, fields)).json);
      expect(outline(activeContracts)).toEqual(listed);
      return listed;
    };
    const asked = { includeIncompleteReassignments: true };
    expect(await read({})).toEqual(active);
    expect(await read({ includeIncompleteReassignments: false })).toEqual(active);
    expect(await read(asked)).toEqual(all);
    expect((await list(sandbox, { includeIncompleteReassignments: null })).status).toBe(400);
    // a token is valid for requests with the same field to the same release
    const streamContinuationToken = at((await list(sandbox, asked)).json, 0, 'streamContinuationToken');
    const pageToken = at((await page(sandbox, { ...asked, maxPageSize: 1 })).json, 'nextPageToken');
    expect(outline((await list(sandbox, { ...asked, streamContinuationToken })).json)).toEqual(all.slice(1));
    const refused = async (fields: object) => [
      at((await list(sandbox, { ...fields, streamContinuationToken })).json, 'code'),
      at((await page(sandbox, { ...fields, maxPageSize: 1, pageToken })).json, 'code'),
    ];
    const codes = ['INVALID_CONTINUATION_TOKEN', 'INVALID_ACS_PAGE_TOKEN'];
    expect(await refused({})).toEqual(codes);
    sandbox.configure({ profile: '3.6' });
    expect(await refused(asked)).toEqual(codes);
    expect(await read({})).toEqual(all);
  });

  it('leave out an unassignment of an unknown activation, and pair no reassignment to the same synchronizer', async () => {
    const sandbox = await sandboxWith();
    const [source = ''] = sandbox.synchronizers;
    const createdEvent = { contractId: '00bb' };
    sandbox.append(unassign('00aa'), {
      Reassignment: {
        value: { events: [{ JsAssignmentEvent: { source, target: source, reassignmentCounter: 3, createdEvent } }] },
      },
    });
    expect(outline((await list(sandbox)).json)).toEqual(['ActiveContract 00bb sync1']);
  });

  it('are visible to stakeholders, not to witnesses', async () => {
    const sandbox = await sandboxWith();
    const parties = { signatories: ['alice'], observers: ['bob'], witnessParties: ['alice', 'bob', 'carol'] };
    sandbox.append(creation(parties));
    const [alice, bob, carol] = await Promise.all(
      ['alice', 'bob', 'carol'].map(async (party) => list(sandbox, { eventFormat: forParty(party) })),
    );
    const witnesses = ['contractEntry', 'JsActiveContract', 'createdEvent', 'witnessParties'];
    expect(at(alice?.json, 0, ...witnesses)).toEqual(['alice']);
    expect(at(bob?.json, 0, ...witnesses)).toEqual(['bob']);
    expect(carol?.json).toEqual([]);
  });

  it('have views and blobs if a filter asks for them', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(60, { variants: ['Transaction'] });
    const [party = ''] = sandbox.parties;
    const interfaceId = '#sandbox-api:Api:Holding';
    const filter = {
      InterfaceFilter: { value: { interfaceId, includeInterfaceView: true, includeCreatedEventBlob: true } },
    };
    const { json } = await list(sandbox, { eventFormat: forParty(party, filter) });
    expect(listAt(json).length).toBeGreaterThan(0);
    for (const element of listAt(json)) {
      expect(at(element, 'contractEntry', 'JsActiveContract', 'createdEvent')).toMatchObject({
        createdEventBlob: expect.stringMatching(/./),
        interfaceViews: [{ viewValue: expect.anything() }],
      });
    }
  });
});

describe('a list of the active contracts', () => {
  it('ends at its limit, and with more than the maximum is an error', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(...creations('00aa', '00bb'));
    expect((await list(sandbox)).status).toBe(200);
    sandbox.append(...creations('00cc'));
    const limits = [0, 1, 2, 3, 9];
    const replies = await Promise.all(limits.map((limit) => list(sandbox, {}, `?limit=${limit}`)));
    expect(replies.map(({ status, json }) => (status === 200 ? listAt(json).length : status))).toEqual([
      0, 1, 2, 413, 413,
    ]);
    expect((await list(sandbox)).json).toMatchObject({ code: 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED' });
  });

  it('continues after any of its elements, with the same request', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(...creations('00aa', '00bb', '00cc'), unassign('00bb'), unassign('00cc'));
    const all = ['ActiveContract 00aa sync1', 'IncompleteUnassigned 00bb sync2', 'IncompleteUnassigned 00cc sync2'];
    const first = (await list(sandbox, {}, '?limit=2')).json;
    expect(outline(first)).toEqual(all.slice(0, 2));
    for (const [index, rest] of [all.slice(1), all.slice(2)].entries()) {
      const streamContinuationToken = at(first, index, 'streamContinuationToken');
      expect(outline((await list(sandbox, { streamContinuationToken })).json)).toEqual(rest);
    }
    expect((await list(sandbox, { streamContinuationToken: null }, '?limit=2')).json).toEqual(first);
  });

  it('refuses the token of another request, party order aside', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb'), ...creations('00cc'));
    const wildcard = { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } };
    const template = { identifierFilter: { TemplateFilter: { value: { templateId: '#sandbox-assets:Main:Asset' } } } };
    const format = (verbose: boolean, parties: readonly string[], ...cumulative: readonly unknown[]) => ({
      eventFormat: {
        filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])),
        filtersForAnyParty: { cumulative },
        verbose,
      },
    });
    const fields = format(false, ['a', 'b'], wildcard, template);
    const streamContinuationToken = at((await list(sandbox, fields)).json, 0, 'streamContinuationToken');
    const statuses = async (...others: readonly object[]) =>
      Promise.all(others.map(async (other) => (await list(sandbox, { ...other, streamContinuationToken })).status));
    expect(await statuses(fields, format(false, ['b', 'a'], wildcard, template))).toEqual([200, 200]);
    const different = [
      format(true, ['a', 'b'], wildcard, template),
      format(false, ['a', 'b'], template, wildcard),
      format(false, ['a'], wildcard, template),
      { ...fields, activeAtOffset: 2 },
    ];
    expect(await statuses(...different)).toEqual([400, 400, 400, 400]);
    sandbox.configure({ participantId: 'other::1220ab' });
    expect(await statuses(fields)).toEqual([400]);
    expect((await list(sandbox, { ...fields, streamContinuationToken })).json).toMatchObject({
      code: 'INVALID_CONTINUATION_TOKEN',
      errorCategory: 8,
    });
  });

  it('takes the token of a request that means the same', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb', '00cc'));
    const same = [
      { eventFormat: anyParty },
      { eventFormat: { filtersForAnyParty: {} } },
      { eventFormat: { ...anyParty, more: 1 }, more: 1 },
      { eventFormat: null, filter: { filtersForAnyParty: {} }, verbose: false },
    ];
    const [first] = same;
    const streamContinuationToken = at((await list(sandbox, first)).json, 0, 'streamContinuationToken');
    for (const fields of same)
      expect(outline((await list(sandbox, { ...fields, streamContinuationToken })).json)).toHaveLength(2);
    const pageToken = at((await page(sandbox, { ...first, maxPageSize: 1 })).json, 'nextPageToken');
    for (const fields of same.slice(0, 3)) expect((await page(sandbox, { ...fields, pageToken })).status).toBe(200);
    const verbose = { eventFormat: null, filter: { filtersForAnyParty: {} }, verbose: true };
    expect((await list(sandbox, { ...verbose, streamContinuationToken })).status).toBe(400);
  });

  it.each([
    ['no token at all', '', 'INVALID_CONTINUATION_TOKEN'],
    ['bytes that are no token', 'AAAA', 'INVALID_FIELD'],
  ])('refuses %s', async (_, streamContinuationToken, code) => {
    expect((await list(await sandboxWith(), { streamContinuationToken })).json).toMatchObject({ code });
  });

  it('has no tokens on 3.4, and ignores them', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    sandbox.append(...creations('00aa'));
    const { json } = await list(sandbox, { streamContinuationToken: 'AAAA' });
    expect(Object.keys(at(json, 0) as object)).toEqual(['workflowId', 'contractEntry']);
  });

  it('is empty at offset 0, also when that is pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb'));
    sandbox.prune(2);
    expect((await list(sandbox, { activeAtOffset: 0 })).json).toEqual([]);
    expect(outline((await list(sandbox, { activeAtOffset: 2 })).json)).toHaveLength(2);
  });

  it.each([
    [-1, 'NEGATIVE_OFFSET', 'Offset -1 in active_at_offset is negative'],
    [4, 'OFFSET_AFTER_LEDGER_END', 'active_at_offset offset (4) is after ledger end (3)'],
    [1, 'PARTICIPANT_PRUNED_DATA_ACCESSED', 'Active contracts request at offset 1 precedes pruned offset 2'],
  ])('at offset %d is an error', async (activeAtOffset, code, cause) => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb', '00cc'));
    sandbox.prune(2);
    const reply = await list(sandbox, { activeAtOffset });
    expect(reply).toMatchObject({ status: 400, json: { code, cause } });
    if (code.includes('PRUNED')) expect(reply.json).toMatchObject({ context: { earliest_offset: '2' } });
  });

  it('takes a legacy filter in place of a format, but not both', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'));
    const filter = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] } };
    expect((await list(sandbox, { eventFormat: null, filter, verbose: true })).status).toBe(200);
    const errors = await Promise.all([
      list(sandbox, { filter }),
      list(sandbox, { verbose: true }),
      list(sandbox, { eventFormat: undefined }),
    ]);
    expect(errors.map(({ json }) => at(json, 'cause'))).toEqual([
      'Both event_format and filter are set. Please use one of them.',
      'Both event_format and verbose are set. Please use one of them.',
      'Either filter/verbose or event_format is required. Please use one of them.',
    ]);
    sandbox.configure({ profile: '3.6' });
    expect((await list(sandbox, { eventFormat: null, filter })).json).toMatchObject({
      code: 'DEPRECATED_API_DISABLED',
    });
    sandbox.configure({ profile: '3.7' });
    expect(await list(sandbox, { eventFormat: null, filter })).toMatchObject({
      status: 400,
      json: { code: 'MISSING_FIELD', cause: expect.stringContaining('event_format') },
    });
    expect((await list(sandbox, { filter, verbose: true })).status).toBe(200);
  });

  it('is cut short by an idle timeout that is shorter than a delay, and only by that', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'));
    const delayed = async (query: string) => {
      sandbox.fault({ kind: 'delay', ms: 30 }, { path });
      return listAt((await list(sandbox, {}, query)).json).length;
    };
    expect(await delayed('')).toBe(1);
    expect(await delayed('?stream_idle_timeout_ms=1000')).toBe(1);
    expect(await delayed('?stream_idle_timeout_ms=10')).toBe(0);
  });

  it('is checked also if it is cut short, but not without elements', async () => {
    const sandbox = await sandboxWith();
    const refused = { activeAtOffset: 1 };
    expect((await list(sandbox, refused, '?limit=0')).json).toEqual([]);
    sandbox.fault({ kind: 'delay', ms: 30 }, { path });
    expect((await list(sandbox, refused, '?stream_idle_timeout_ms=10')).json).toMatchObject({
      code: 'OFFSET_AFTER_LEDGER_END',
    });
  });

  it('is a 404 for an unknown template, whatever the offset', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb'));
    sandbox.prune(2);
    const eventFormat = forParty('alice', { TemplateFilter: { value: { templateId: '#nobody-knows:Main:Asset' } } });
    for (const activeAtOffset of [1, 2, 3])
      for (const read of [list, page]) expect((await read(sandbox, { activeAtOffset, eventFormat })).status).toBe(404);
  });

  it('is a 404 for an unknown template on an empty ledger', async () => {
    const template = { TemplateFilter: { value: { templateId: '#nobody-knows:Main:Asset' } } };
    const replies = await Promise.all(
      [list, page].map(async (read) => read(await sandboxWith(), { eventFormat: forParty('alice', template) })),
    );
    expect(replies.map(({ status }) => status)).toEqual([404, 404]);
  });
});

describe('the paths of the active contracts', () => {
  it.each([path, pagePath])('%s is not served with interfaceOnly', async (where) => {
    const sandbox = await sandboxWith({ interfaceOnly: true });
    expect((await post(sandbox, where, { eventFormat: anyParty })).status).toBe(404);
  });

  it('are subject to faults', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503, body: 'later' }, { path: pagePath });
    sandbox.fault({ kind: 'status', status: 502 }, { path });
    expect([(await list(sandbox)).status, (await page(sandbox)).status]).toEqual([502, 503]);
    expect([(await list(sandbox)).status, (await page(sandbox)).status]).toEqual([200, 200]);
  });

  it('are no GET requests', async () => {
    const sandbox = await sandboxWith();
    expect(await get(sandbox, path)).toMatchObject({ status: 400, text: 'Expected WebSocket Upgrade request' });
    expect(await get(sandbox, pagePath)).toMatchObject({ status: 405 });
  });
});
