import { describe, expect, it } from '@jest/globals';
import type { SandboxProfile } from '../../src/sandbox/index.js';
import { at, failure, get, keys, listAt, sandboxWith, stream, streamToEnd } from './client.js';
import {
  anyParty,
  archive,
  assetId,
  assign,
  byInterface,
  contractsPath,
  creation,
  creations,
  forParty,
  list,
  outline,
  page,
  pagePath,
  template,
  unassign,
  wildcard,
} from './requests.js';

// readers.test.ts reads the contracts of random histories, whole and in parts

describe('the active contracts', () => {
  it('are in flight between unassignment and assignment, and keep their fields', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation({ contractId: '00aa', createArgument: { n: '1' } }), unassign('00aa'));
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
      const listed = outline((await list(sandbox, fields)).json);
      expect(outline(at((await page(sandbox, fields)).json, 'activeContracts'))).toEqual(listed);
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
    const JsAssignmentEvent = { source, target: source, reassignmentCounter: 3, createdEvent: { contractId: '00bb' } };
    sandbox.append(unassign('00aa'), { Reassignment: { value: { events: [{ JsAssignmentEvent }] } } });
    expect(outline((await list(sandbox)).json)).toEqual(['ActiveContract 00bb sync1']);
  });

  it('in flight have the halves of each other with `mispairsInFlight`, as recorded of 3.5.10', async () => {
    const halves = (entries: unknown) =>
      listAt(entries).map((_, index) => {
        const entry = at(entries, index, 'contractEntry', 'JsIncompleteUnassigned');
        return [at(entry, 'createdEvent', 'contractId'), at(entry, 'unassignedEvent', 'contractId')].join('/');
      });
    const sandbox = await sandboxWith({ mispairsInFlight: true });
    sandbox.append(...creations('00aa', '00bb'), unassign('00bb'), unassign('00aa'));
    expect(halves((await list(sandbox)).json)).toEqual(['00aa/00bb', '00bb/00aa']);
    const streamContinuationToken = at((await list(sandbox)).json, 0, 'streamContinuationToken');
    expect(halves((await list(sandbox, { streamContinuationToken })).json)).toEqual(['00aa/00aa']);
    const first = (await page(sandbox, { maxPageSize: 1 })).json;
    const second = (await page(sandbox, { maxPageSize: 1, pageToken: at(first, 'nextPageToken') })).json;
    expect([first, second].map((one) => halves(at(one, 'activeContracts')))).toEqual([['00aa/00bb'], ['00aa/00aa']]);
    // other entries stay as they are
    sandbox.append(assign('00bb'), ...creations('00cc'), assign('00cc'));
    const all = ['ActiveContract 00bb sync2', 'ActiveContract 00cc sync1', 'ActiveContract 00cc sync2'];
    const incomplete = ['IncompleteUnassigned 00aa sync2', 'IncompleteAssigned 00cc'];
    expect(outline((await list(sandbox)).json)).toEqual([...all, ...incomplete]);
    // by default, each contract has its own
    sandbox.configure({ mispairsInFlight: false });
    sandbox.append(unassign('00bb'));
    expect(halves((await list(sandbox)).json).filter((pair) => pair !== '/')).toEqual(['00aa/00aa', '00bb/00bb']);
  });

  it('are visible to stakeholders, not to witnesses', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation({ signatories: ['alice'], observers: ['bob'], witnessParties: ['alice', 'bob', 'carol'] }));
    const witnesses = async (party: string) =>
      listAt((await list(sandbox, { eventFormat: forParty(party) })).json).map((element) =>
        at(element, 'contractEntry', 'JsActiveContract', 'createdEvent', 'witnessParties'),
      );
    expect(await witnesses('alice')).toEqual([['alice']]);
    expect(await witnesses('bob')).toEqual([['bob']]);
    expect(await witnesses('carol')).toEqual([]);
  });

  it('have views and blobs if a filter asks for them', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(60, { variants: ['Transaction'] });
    const [party = ''] = sandbox.parties;
    const filter = byInterface('#sandbox-api:Api:Holding', true, true);
    const elements = listAt((await list(sandbox, { eventFormat: forParty(party, filter) })).json);
    expect(elements.length).toBeGreaterThan(0);
    const createdEvent = {
      createdEventBlob: expect.stringMatching(/./),
      interfaceViews: [{ viewValue: expect.anything() }],
    };
    for (const element of elements)
      expect(element).toMatchObject({ contractEntry: { JsActiveContract: { createdEvent } } });
  });

  it.each(['#nobody-knows:Main:Asset', '#sandbox-assets:Main:Unknown'])(
    'are a 404 for the unknown template %s, whatever the offset',
    async (templateId) => {
      const sandbox = await sandboxWith();
      const eventFormat = forParty('alice', template(templateId));
      for (const read of [list, page]) expect((await read(sandbox, { eventFormat })).status).toBe(404);
      sandbox.append(...creations('00aa', '00bb'));
      sandbox.prune(2);
      for (const activeAtOffset of [1, 2, 3])
        for (const read of [list, page])
          expect((await read(sandbox, { activeAtOffset, eventFormat })).status).toBe(404);
    },
  );
});

describe('a list of the active contracts', () => {
  it('ends at its limit, and with more than the maximum is an error', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(...creations('00aa', '00bb'));
    expect((await list(sandbox)).status).toBe(200);
    sandbox.append(...creations('00cc'));
    const read = async (query: string) => {
      const { status, json } = await list(sandbox, {}, query);
      return status === 200 ? listAt(json).length : status;
    };
    for (const [limit, expected] of [0, 1, 2, 413, 413].entries()) expect(await read(`?limit=${limit}`)).toBe(expected);
    expect(await list(sandbox)).toMatchObject(failure(413, 'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED'));
  });

  it('refuses the token of another request, but not of one that means the same', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa', '00bb', '00cc'));
    const filters = [{ identifierFilter: wildcard() }, { identifierFilter: template(assetId) }];
    const format = (verbose: boolean, parties: readonly string[], cumulative: readonly unknown[]) => ({
      filtersByParty: Object.fromEntries(parties.map((party) => [party, { cumulative }])),
      filtersForAnyParty: { cumulative },
      verbose,
    });
    /** Whether the token of the first request is valid for the others. */
    const accepted = async (first: object, ...others: readonly object[]) => {
      const streamContinuationToken = at((await list(sandbox, first)).json, 0, 'streamContinuationToken');
      const pageToken = at((await page(sandbox, { ...first, maxPageSize: 1 })).json, 'nextPageToken');
      const found: boolean[] = [];
      for (const other of others) {
        const listed = await list(sandbox, { ...other, streamContinuationToken });
        if (listed.status !== 200) expect(listed).toMatchObject(failure(400, 'INVALID_CONTINUATION_TOKEN'));
        found.push(listed.status === 200);
        if ('eventFormat' in other && other.eventFormat !== null && !('activeAtOffset' in other))
          expect((await page(sandbox, { ...other, pageToken })).status).toBe(listed.status);
      }
      return found;
    };
    const ab = { eventFormat: format(false, ['a', 'b'], filters) };
    expect(await accepted(ab, ab, { eventFormat: format(false, ['b', 'a'], filters) })).toEqual([true, true]);
    const different = [
      { eventFormat: format(true, ['a', 'b'], filters) },
      { eventFormat: format(false, ['a', 'b'], filters.toReversed()) },
      { eventFormat: format(false, ['a'], filters) },
      { ...ab, activeAtOffset: 2 },
    ];
    expect(await accepted(ab, ...different)).toEqual([false, false, false, false]);
    const filter = { filtersForAnyParty: {} };
    const same = [
      { eventFormat: anyParty },
      { eventFormat: filter },
      { eventFormat: { ...anyParty, more: 1 }, more: 1 },
      { eventFormat: null, filter, verbose: false },
    ];
    expect(await accepted({ eventFormat: anyParty }, ...same)).toEqual([true, true, true, true]);
    expect(await accepted({ eventFormat: anyParty }, { eventFormat: null, filter, verbose: true })).toEqual([false]);
    const streamContinuationToken = at((await list(sandbox)).json, 0, 'streamContinuationToken');
    sandbox.configure({ participantId: 'other::1220ab' });
    expect(await list(sandbox, { streamContinuationToken })).toMatchObject(
      failure(400, 'INVALID_CONTINUATION_TOKEN', { errorCategory: 8 }),
    );
  });

  it('refuses what is no token, and has none on 3.4, which ignores them', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'));
    const answer = async (streamContinuationToken: string | null) =>
      (await list(sandbox, { streamContinuationToken })).json;
    expect(await answer('')).toMatchObject({ code: 'INVALID_CONTINUATION_TOKEN' });
    expect(await answer('AAAA')).toMatchObject({ code: 'INVALID_FIELD' });
    const token = expect.stringMatching(/^[\w+/]+=*$/);
    expect(await answer(null)).toMatchObject([{ workflowId: '', streamContinuationToken: token }]);
    sandbox.configure({ profile: '3.4' });
    expect(keys(at(await answer('AAAA'), 0))).toEqual(['workflowId', 'contractEntry']);
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
    const fields = { cause, ...(code.includes('PRUNED') && { context: { earliest_offset: '2' } }) };
    expect(await list(sandbox, { activeAtOffset })).toMatchObject(failure(400, code, fields));
  });

  it('takes a legacy filter in place of a format, but not both', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'));
    const filter = { filtersByParty: {}, filtersForAnyParty: { cumulative: [] } };
    const instead = { eventFormat: null, filter };
    const cause = async (fields: object) => at((await list(sandbox, fields)).json, 'cause');
    expect((await list(sandbox, { ...instead, verbose: true })).status).toBe(200);
    expect(await cause({ filter })).toMatch(/^Both event_format and filter are set/);
    expect(await cause({ verbose: true })).toMatch(/^Both event_format and verbose are set/);
    expect(await cause({ eventFormat: undefined })).toMatch(/^Either filter\/verbose or event_format is required/);
    sandbox.configure({ profile: '3.6' });
    expect(await list(sandbox, instead)).toMatchObject(failure(400, 'DEPRECATED_API_DISABLED'));
    sandbox.configure({ profile: '3.7' });
    const missing = { cause: expect.stringContaining('event_format') };
    expect(await list(sandbox, instead)).toMatchObject(failure(400, 'MISSING_FIELD', missing));
    expect((await list(sandbox, { filter, verbose: true })).status).toBe(200);
  });

  it('is cut short by an idle timeout that is shorter than a delay, and only by that', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...creations('00aa'));
    const delayed = async (query: string, fields?: object) => {
      sandbox.fault({ kind: 'delay', ms: 30 }, { path: contractsPath });
      return (await list(sandbox, fields, query)).json;
    };
    expect(await delayed('')).toHaveLength(1);
    expect(await delayed('?stream_idle_timeout_ms=1000')).toHaveLength(1);
    expect(await delayed('?stream_idle_timeout_ms=10')).toHaveLength(0);
    // it is checked also if it is cut short, but not without elements
    const late = { activeAtOffset: 2 };
    expect(await delayed('?stream_idle_timeout_ms=10', late)).toMatchObject({ code: 'OFFSET_AFTER_LEDGER_END' });
    expect(await delayed('?limit=0', late)).toEqual([]);
  });
});

describe('a stream of the active contracts', () => {
  const four = async () => {
    const sandbox = await sandboxWith({ maxListElements: 4 });
    sandbox.append(...creations('00aa', '00bb', '00cc', '00dd'), unassign('00bb'));
    return sandbox;
  };
  const body = { activeAtOffset: 5, eventFormat: anyParty };
  const options = { path: contractsPath };

  it('continues a list, and a list continues it', async () => {
    const sandbox = await four();
    const elements = (await list(sandbox)).json;
    const streamContinuationToken = at(elements, 1, 'streamContinuationToken');
    const { messages } = await streamToEnd(sandbox, { ...body, streamContinuationToken }, options);
    expect(outline(messages)).toEqual(outline(elements).slice(2));
    const token = at(messages, 0, 'streamContinuationToken');
    const { json } = await list(sandbox, { streamContinuationToken: token });
    expect(outline(json)).toEqual(outline(elements).slice(3));
  });

  it('ends with an error when its offset is pruned in the middle', async () => {
    const sandbox = await four();
    sandbox.append(...creations('00ee'));
    const prune = (element: unknown) => {
      if (JSON.stringify(element).includes('00cc')) sandbox.prune(6);
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body: prune }, options);
    const { messages } = await streamToEnd(sandbox, body, options);
    expect(outline(messages.slice(0, 2))).toEqual(['ActiveContract 00aa sync1', 'ActiveContract 00cc sync1']);
    expect(messages.slice(2)).toMatchObject([{ code: 'PARTICIPANT_PRUNED_DATA_ACCESSED' }]);
  });

  it.each([
    ['in the middle', '00cc', 2],
    ['after the last element', '00bb', 4],
  ])('is not complete when the ledger is restored %s', async (_, contractId, count) => {
    const sandbox = await four();
    const restore = (element: unknown) => {
      if (outline([element])[0]?.includes(contractId) === true) sandbox.restore(2);
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body: restore }, options);
    const client = await stream(sandbox, body, options);
    expect(await client.closed).toBe(1011);
    expect(client.messages).toHaveLength(count);
  });
});

async function sandboxWithFive() {
  const sandbox = await sandboxWith();
  sandbox.append(...creations('00aa', '00bb', '00cc', '00dd'), unassign('00bb'));
  return sandbox;
}

describe('a page of the active contracts', () => {
  it('keeps the offset that the first page chose, and may have another size', async () => {
    const sandbox = await sandboxWithFive();
    const first = (await page(sandbox, { maxPageSize: 1 })).json;
    expect(first).toMatchObject({ activeAtOffset: 5, activeContracts: [{ streamContinuationToken: '' }] });
    sandbox.append(archive('00cc'), ...creations('00ee'));
    const rest = (await page(sandbox, { maxPageSize: 9, pageToken: at(first, 'nextPageToken') })).json;
    expect(rest).toMatchObject({ activeAtOffset: 5, nextPageToken: null });
    const others = ['ActiveContract 00cc sync1', 'ActiveContract 00dd sync1', 'IncompleteUnassigned 00bb sync2'];
    expect(outline(at(rest, 'activeContracts'))).toEqual(others);
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
    for (const activeAtOffset of [0, null])
      expect((await page(sandbox, { activeAtOffset })).json).toMatchObject({ activeAtOffset: 2 });
    expect(listAt((await page(sandbox, { activeAtOffset: 1 })).json, 'activeContracts')).toHaveLength(1);
  });

  it('must repeat the request of the first page', async () => {
    const sandbox = await sandboxWithFive();
    const pageToken = at((await page(sandbox, { maxPageSize: 1 })).json, 'nextPageToken');
    const different = 'The page token was prepared with different event_format or active_at_offset.';
    const cause = async (fields: object) => {
      const { json } = await page(sandbox, { pageToken, ...fields });
      expect(json).toMatchObject({ code: 'INVALID_ACS_PAGE_TOKEN', errorCategory: 8 });
      return at(json, 'cause');
    };
    expect(await cause({ activeAtOffset: 5 })).toBe(different);
    expect(await cause({ activeAtOffset: 0 })).toBe(different);
    expect(await cause({ eventFormat: { ...anyParty, verbose: true } })).toBe(different);
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
    expect(reply).toMatchObject(failure(400, code, { cause: expect.stringContaining(cause) }));
  });

  it('fails when its offset has been pruned since the first page', async () => {
    const sandbox = await sandboxWithFive();
    const pageToken = at((await page(sandbox, { maxPageSize: 1 })).json, 'nextPageToken');
    sandbox.append(...creations('00ee'));
    sandbox.prune(6);
    const pruned = failure(400, 'PARTICIPANT_PRUNED_DATA_ACCESSED', { context: { earliest_offset: '6' } });
    expect(await page(sandbox, { pageToken })).toMatchObject(pruned);
  });

  it.each<[SandboxProfile, boolean, number]>([
    ['3.4', true, 404],
    ['3.5', false, 405],
    ['3.5', true, 200],
    ['3.7', true, 200],
  ])('on %s with activeContractsPages %s is a %d', async (profile, activeContractsPages, status) => {
    const sandbox = await sandboxWith({ profile, activeContractsPages });
    expect((await page(sandbox)).status).toBe(status);
    expect((await get(sandbox, pagePath)).status).toBe(profile === '3.4' ? 404 : 405);
  });
});
