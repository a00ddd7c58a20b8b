import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { marble } from '../helpers/contractEvents.js';
import { listPath, pagePath, releases } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, notFound } from '../helpers/wire.js';
import { failAt, ids, idsOf, read } from './snapshotScenario.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

describe('a snapshot of the active contracts', () => {
  it('is read in pages, all at the ledger end', () => {
    const { observed, requests, diagnostics } = read({ count: 5, options: { maxSnapshotPageSize: 2 } });
    expect(idsOf(observed.values)).toEqual(ids(5));
    expect(observed.completed).toBe(true);
    expect(requests.map(({ path, body }) => [path, body['activeAtOffset'], body['maxPageSize']])).toEqual(
      Array(3).fill([pagePath, 5, 2]),
    );
    expect(diagnostics.map((diagnostic) => ({ ...diagnostic, at: 0 }))).toEqual([
      { _tag: 'SnapshotStarted', at: 0, feed: 1, by: 'pages', offset: 5 },
      { _tag: 'SnapshotPageReceived', at: 0, feed: 1, count: 2, total: 2, durationMs: 0 },
      { _tag: 'SnapshotPageReceived', at: 0, feed: 1, count: 2, total: 4, durationMs: 0 },
      { _tag: 'SnapshotPageReceived', at: 0, feed: 1, count: 1, total: 5, durationMs: 0 },
      { _tag: 'SnapshotCompleted', at: 0, feed: 1, offset: 5, count: 5, durationMs: 0 },
      { _tag: 'FeedEnded', at: 0, feed: 1, how: 'completed' },
    ]);
  });

  it('emits nothing if an answer fails for good, whatever came before (pitfall 2)', () => {
    const refusal = errorReply(403, errorBody('PERMISSION_DENIED', 7));
    const { observed } = read({
      count: 5,
      options: { maxSnapshotPageSize: 2 },
      fault: failAt((_, n) => (n === 3 ? refusal : undefined)),
    });
    expect(observed.values).toEqual([]);
    expect(observed.error).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
  });

  it.each(Object.entries(releases))('is complete if nothing is active, %s (pitfall 3)', (_, release) => {
    const { observed, requests } = read({
      ...release,
      given: ({ participant }) => {
        participant.elementsAt = () => [];
      },
    });
    expect(observed).toMatchObject({ values: [], completed: true });
    expect(requests.filter(({ path }) => path === listPath).length).toBeLessThanOrEqual(1);
  });

  it('is empty on an empty ledger, which is not asked for it (pitfall 11)', () => {
    const { observed, requests } = read({ count: 0 });
    expect(observed).toMatchObject({ values: [], completed: true });
    expect(requests).toEqual([]);
  });

  it('at offset 0 is empty, without any request (pitfall 11)', () => {
    const { observed, service } = read({ request: { activeAtOffset: 0 } });
    expect(observed).toMatchObject({ values: [], completed: true });
    expect(service.requests).toEqual([]);
  });

  it('is read at the offset of the request', () => {
    const { observed, service } = read({ count: 5, request: { activeAtOffset: 3 } });
    expect(idsOf(observed.values)).toEqual(ids(3));
    expect(service.requests).toHaveLength(1);
  });

  it.each([
    [1, 200, '3.5.1'],
    [50, 50, '3.5.1'],
    [200, 200, '3.4'],
    [200, 200, '3.5.1'],
    [201, 200, '3.5.1'],
    [400, 200, '3.5.1'],
    [400, 50, '3.5.1'],
    [400, 50, '3.6'],
    [50, 50, '3.4'],
  ] as const)(
    'is whole with %i contracts and lists of at most %i, %s (pitfall 4)',
    (count, maxListElements, release) => {
      const { observed, participant } = read({
        count,
        maxListElements,
        ...releases[release],
        options: { maxSnapshotPageSize: 200 },
      });
      expect(idsOf(observed.values)).toEqual(ids(count));
      expect(observed.completed).toBe(true);
      expect(participant.socketBodies).toEqual([]);
    },
  );

  it('repeats the first request of pages as it is, with the token alone added (pitfall 5)', () => {
    const { requests } = read({
      count: 5,
      hasLedgerEnd: false,
      request: { types: { marble: { templateId: marble, decoder: { run: (result) => ({ ok: true, result }) } } } },
      options: { maxSnapshotPageSize: 2 },
    });
    const [first, ...others] = requests.map(({ body }) => body);
    expect(first).not.toHaveProperty('activeAtOffset');
    expect(first).not.toHaveProperty('pageToken');
    expect(others).toHaveLength(2);
    for (const body of others) {
      expect(JSON.stringify({ ...body, pageToken: undefined })).toBe(JSON.stringify(first));
      expect(body['pageToken']).toEqual(expect.any(String));
    }
  });

  it('without a ledger end is at the offset that the service chooses', () => {
    const { observed, participant, diagnostics } = read({
      count: 5,
      hasLedgerEnd: false,
      options: { maxSnapshotPageSize: 2 },
    });
    expect(idsOf(observed.values)).toEqual(ids(5));
    expect(participant.ledger.end).toBe(5);
    expect(diagnostics.at(-2)).toMatchObject({ _tag: 'SnapshotCompleted', offset: 5 });
  });

  it.each([[''], [null], [undefined]])('takes the token %p for none (pitfall 6)', (streamContinuationToken) => {
    const { observed, requests } = read({
      count: 300,
      ...releases['3.4'],
      sockets: [],
      given: ({ participant }) => {
        const { elementsAt } = participant;
        participant.elementsAt = (offset) =>
          elementsAt(offset).map((element) => ({ ...element, streamContinuationToken }));
      },
      fault: failAt(({ path }) => (path === pagePath ? notFound : undefined)),
    });
    expect(idsOf(observed.values)).toEqual(ids(300));
    expect(requests.every(({ body }) => !('streamContinuationToken' in body))).toBe(true);
  });
});
