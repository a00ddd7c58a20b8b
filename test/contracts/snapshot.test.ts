import { describe, expect, it } from '@jest/globals';
import { timer } from 'rxjs';
import { activeContracts } from '../../src/contracts/activeContracts.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { contractsSource, eventFormatOf } from '../../src/contracts/ContractQuery.js';
import { readContracts } from '../../src/contracts/readContracts.js';
import { ResponseTooLargeError } from '../../src/errors/request.js';
import { marble } from '../helpers/contractEvents.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld, listPath, pagePath, releases } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, notFound } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { creations, failAt, ids, idsOf, read } from './snapshotScenario.js';

const parties = ['alice::1220ab'];

useAverageDelays();

describe('a snapshot of the active contracts', () => {
  it('is read in pages, all at the ledger end', () => {
    const { observed, requests, diagnostics } = read({ count: 5, options: { maxSnapshotPageSize: 2 } });
    expect(idsOf(observed.values)).toEqual(ids(5));
    expect(observed.completed).toBe(true);
    expect(requests.map(({ path, body }) => [path, body['activeAtOffset'], body['maxPageSize']])).toEqual(
      Array(3).fill([pagePath, 5, 2]),
    );
    const page = { _tag: 'SnapshotPageReceived', durationMs: 0 };
    expect(diagnostics).toEqual(
      [
        { _tag: 'SnapshotStarted', by: 'pages', offset: 5 },
        ...[2, 4, 5].map((total) => ({ ...page, count: total === 5 ? 1 : 2, total })),
        { _tag: 'SnapshotCompleted', offset: 5, count: 5, durationMs: 0 },
        { _tag: 'FeedEnded', how: 'completed' },
      ].map((diagnostic) => ({ ...diagnostic, at: expect.any(Number), feed: 1 })),
    );
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

  it('is empty on an empty ledger, and at offset 0, which are not asked for it (pitfall 11)', () => {
    for (const { observed, requests } of [read({ count: 0 }), read({ request: { activeAtOffset: 0 } })]) {
      expect(observed).toMatchObject({ values: [], completed: true });
      expect(requests).toEqual([]);
    }
  });

  it.each([
    [200, 200, '3.4'],
    [200, 200, '3.5.1'],
    [201, 200, '3.5.1'],
    [400, 50, '3.5.1'],
    [400, 50, '3.6'],
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

  it('without a ledger end repeats the first request of pages, with the token alone added (pitfall 5)', () => {
    const { observed, requests, diagnostics } = read({
      count: 5,
      hasLedgerEnd: false,
      request: { types: { marble: { templateId: marble, decoder: { run: (result) => ({ ok: true, result }) } } } },
      options: { maxSnapshotPageSize: 2 },
    });
    expect(idsOf(observed.values)).toEqual(ids(5));
    expect(diagnostics.at(-2)).toMatchObject({ _tag: 'SnapshotCompleted', offset: 5 });
    const [first, ...others] = requests.map(({ body }) => body);
    expect(first).not.toHaveProperty('activeAtOffset');
    expect(first).not.toHaveProperty('pageToken');
    expect(others).toHaveLength(2);
    for (const body of others) {
      expect(JSON.stringify({ ...body, pageToken: undefined })).toBe(JSON.stringify(first));
      expect(body['pageToken']).toEqual(expect.any(String));
    }
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

  itInVirtualTime('has lists that are no smaller because an update of a feed was large', ({ flush }) => {
    const { participant, service, client } = contractsWorld({
      ...releases['3.5.1'],
      fault: (request) =>
        request.path.startsWith('/v2/updates') && Number(request.query['limit']) > 1
          ? new ResponseTooLargeError(request.path, 9)
          : undefined,
    });
    participant.append(...creations(300));
    const updateFormat = {
      includeTransactions: { eventFormat: {}, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
    };
    observe(client.updates({ beginExclusive: 0, endInclusive: 3, updateFormat } as never));
    timer(1_000).subscribe(() => {
      observe(activeContracts(client, { parties }));
    });
    flush();
    const lists = service.requests.filter(({ path }) => path === listPath);
    expect(lists.map(({ query }) => Number(query['limit']))).toEqual([200, 200]);
  });
});

describe('a snapshot that cannot be had in time', () => {
  const behind = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));

  itInVirtualTime('ends when the policy says, whatever is retried', ({ flush }) => {
    const { participant, client } = contractsWorld({
      latencyMs: 5,
      fault: ({ path }) => (path === pagePath ? behind : undefined),
    });
    participant.append(...creations(3));
    const both = [observe(activeContracts(client, { parties })), observe(contractChanges(client, { parties }))];
    flush();
    for (const { error, endedAt } of both) {
      expect(error).toMatchObject({ _tag: 'LedgerResetError' });
      expect(endedAt).toBeLessThan(320_000);
    }
  });

  itInVirtualTime('is not read at a ledger end before what has been seen', ({ flush }) => {
    const { participant, service, client } = contractsWorld();
    participant.append(...creations(3));
    const source = contractsSource(client, {})();
    const lagging = observe(readContracts(source, { parties }, eventFormatOf({ parties }), { notBefore: 5 }));
    flush();
    expect(lagging.error).toMatchObject({ _tag: 'LedgerResetError', cursor: 5, ledgerEnd: 3 });
    expect(lagging.endedAt).toBe(300_000);
    const waiting = observe(readContracts(source, { parties }, eventFormatOf({ parties }), { notBefore: 5 }));
    timer(4_000).subscribe(() => {
      participant.append(...creations(2, 3));
    });
    flush();
    expect(waiting.values).toMatchObject([{ offset: 5 }]);
    expect(service.requests.filter(({ path }) => path === pagePath)).toHaveLength(1);
  });
});
