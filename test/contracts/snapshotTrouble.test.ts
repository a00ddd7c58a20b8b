import { describe, expect, it } from '@jest/globals';
import { concatMap, defer, delay, type Observable, of, repeat, takeUntil, timer } from 'rxjs';
import { activeContracts } from '../../src/contracts/activeContracts.js';
import { ResponseTooLargeError } from '../../src/errors/request.js';
import { active } from '../helpers/contractEvents.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { type ContractsWorld, contractsWorld, listPath, pagePath, releases } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import type { WorldOptions } from '../helpers/world.js';
import { useAverageDelays } from './averageDelays.js';
import { creation, creations, failAt, ids, idsOf, read, restartsOf as restarts } from './snapshotScenario.js';

useAverageDelays();

const inTwos = { maxSnapshotPageSize: 2 };
const parties = ['alice::1220ab'];

const late = <A>(reply: A, ms: number): Observable<A> => of(reply).pipe(delay(ms));

/** What the participant's HTTP layer answers after 20 seconds. */
const notInTime = errorReply(503, 'The server was not able to produce a timely response to your request.');

/** Reads five contracts in twos, and does something to the world before the request of a number. */
function readWhile(number: number, change: (world: ContractsWorld) => void, scenario: Parameters<typeof read>[0] = {}) {
  let world: ContractsWorld | undefined;
  return read({
    count: 5,
    options: inTwos,
    given: (given) => {
      world = given;
    },
    fault: failAt((_, n) => {
      if (world !== undefined && n === number) change(world);
      return undefined;
    }),
    ...scenario,
  });
}

describe('a snapshot that cannot be continued', () => {
  it('has nothing of the ledger before if another one takes its place between two pages', () => {
    let isReplaced = false;
    const outcome = read({
      count: 5,
      options: inTwos,
      fault: failAt(({ body }, n) => {
        if (n === 2) {
          isReplaced = true;
          return errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));
        }
        if (!isReplaced) return undefined;
        // it accepts the tokens of the first ledger
        const index = Number(body['pageToken'] ?? 0);
        const activeContracts = [7, 8, 9].map((offset) => active({ contractId: `other${offset}`, offset }, 'sync1'));
        const nextPageToken = index === 0 ? '2' : undefined;
        return ok({ activeContracts: activeContracts.slice(index, index + 2), activeAtOffset: 5, nextPageToken });
      }),
    });
    expect(idsOf(outcome.observed.values)).toEqual(['other7', 'other8', 'other9']);
    expect(restarts(outcome)).toMatchObject([{ cause: { _tag: 'LedgerResetError', reason: 'anotherLedger' } }]);
  });

  it.each([
    ['INVALID_ACS_PAGE_TOKEN', '3.6'],
    ['INVALID_FIELD', '3.6'],
    ['INVALID_CONTINUATION_TOKEN', '3.5.1'],
    ['INVALID_FIELD', '3.5.1'],
  ] as const)('begins again if the token is refused with %s, %s (pitfall 7)', (code, release) => {
    let faults = 0;
    const outcome = read({
      count: 5,
      ...releases[release],
      options: inTwos,
      fault: ({ body }) => {
        const isSecond = body['pageToken'] !== undefined || body['streamContinuationToken'] !== undefined;
        return isSecond && (faults += 1) <= 2 ? errorReply(400, errorBody(code, 8)) : undefined;
      },
    });
    expect(idsOf(outcome.observed.values)).toEqual(ids(5));
    expect(restarts(outcome)).toHaveLength(2);
  });

  it.each([
    ['new ledger end', undefined, 6],
    ['offset of its request', 5, 5],
  ])('begins again at the %s if another node answers (pitfall 7) (G26)', (_, activeAtOffset, offset) => {
    const outcome = readWhile(
      2,
      ({ participant }) => {
        participant.reconfigure({ node: 'node-2' });
        participant.append(creation(6));
      },
      { request: { activeAtOffset } },
    );
    expect(idsOf(outcome.observed.values)).toEqual(ids(offset));
    expect(outcome.requests.map(({ body }) => body['activeAtOffset'])).toEqual([5, 5, offset, offset, offset]);
    expect(restarts(outcome)).toMatchObject([{ cause: { code: 'INVALID_ACS_PAGE_TOKEN' }, delayMs: 125 }]);
  });

  it.each(['3.5.1', '3.6'] as const)(
    'begins again at the new ledger end if its own is pruned, and drops what it has, %s (pitfall 8) (G26)',
    (release) => {
      const outcome = readWhile(
        2,
        ({ participant }) => {
          participant.append(...creations(2, 5));
          participant.elementsAt = (offset) =>
            creations(offset)
              .slice(5)
              .map(({ offset: at }) => active({ contractId: `c${at}`, offset: at }, 'sync-a'));
          participant.ledger.pruned = 6;
        },
        releases[release],
      );
      expect(idsOf(outcome.observed.values)).toEqual(['c6', 'c7']);
      expect(outcome.observed.completed).toBe(true);
      expect(restarts(outcome)).toMatchObject([{ cause: { _tag: 'PrunedError' } }]);
    },
  );

  it('ends with a PrunedError if the offset of its request is pruned', () => {
    const { observed } = readWhile(
      2,
      ({ participant }) => {
        participant.append(creation(6));
        participant.ledger.pruned = 6;
      },
      { request: { activeAtOffset: 5 } },
    );
    expect(observed).toMatchObject({ values: [], error: { _tag: 'PrunedError', earliestOffset: 6 } });
  });

  it('waits for a replica that lags', () => {
    const behind = errorReply(400, errorBody('OFFSET_AFTER_LEDGER_END', 12));
    const outcome = read({ fault: failAt((_, n) => (n < 3 ? behind : undefined)) });
    expect(idsOf(outcome.observed.values)).toEqual(ids(3));
    expect(restarts(outcome)).toEqual([]);
  });

  it('begins again if the ledger has been reset to before its offset', () => {
    const outcome = readWhile(2, ({ participant }) => {
      participant.ledger.end = 4;
    });
    expect(idsOf(outcome.observed.values)).toEqual(ids(4));
    expect(restarts(outcome)).toMatchObject([{ cause: { _tag: 'LedgerResetError', cursor: 5 } }]);
    // long before the policy gives up: the ledger end is another one now
    expect(outcome.observed.endedAt).toBeLessThan(20_000);
  });

  it('ends with a LedgerResetError if the offset of its request stays beyond the ledger end', () => {
    const { observed } = read({ request: { activeAtOffset: 9 }, client: { retry: { giveUpAfterMs: 50_000 } } });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'LedgerResetError', cursor: 9 } });
    expect(observed.endedAt).toBe(50_000);
  });

  it('ends with the refusal if its token is refused again and again', () => {
    const { observed, requests } = read({
      count: 5,
      options: inTwos,
      fault: ({ body }) =>
        body['pageToken'] === undefined ? undefined : errorReply(400, errorBody('INVALID_ACS_PAGE_TOKEN', 8)),
    });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'ApiError', code: 'INVALID_ACS_PAGE_TOKEN' } });
    expect(observed.endedAt).toBe(300_000);
    expect(requests.length).toBeLessThan(100);
  });

  it('ends with a refusal of the request itself at once: without a token, it is not about the token', () => {
    const invalidField = errorReply(400, errorBody('INVALID_FIELD', 8));
    const first = read({ fault: failAt(() => invalidField) });
    const again = read({
      count: 5,
      options: inTwos,
      // the second request has a token, and the third one begins again
      fault: failAt((_, n) => (n > 1 ? invalidField : undefined)),
    });
    for (const { observed } of [first, again]) {
      expect(observed).toMatchObject({ values: [], error: { _tag: 'ApiError', code: 'INVALID_FIELD' } });
      expect(observed.endedAt).toBeLessThan(1_000);
    }
    expect([first, again].map((outcome) => restarts(outcome).length)).toEqual([0, 1]);
  });

  it('ends with the last failure if a request fails for as long as the policy allows', () => {
    const outcome = read({ fault: failAt(() => errorReply(503, errorBody('SERVER_IS_BUSY', 2))) });
    expect(outcome.observed).toMatchObject({ values: [], error: { _tag: 'ApiError', retried: { forMs: 300_000 } } });
    expect(outcome.observed.endedAt).toBe(300_000);
    expect(restarts(outcome)).toEqual([]);
  });

  it('ends with the first failure without retries', () => {
    const fault = failAt(() => errorReply(503, 'busy'));
    const { observed } = read({ options: { retry: { giveUpAfterMs: 0 } }, fault });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 503 }, endedAt: 0 });
  });
});

describe('the transport of snapshots', () => {
  it.each([404, 405])(
    'changes to lists if pages are answered with %i, for all snapshots of the ledger (pitfall 9)',
    (status) => {
      marbles(({ flush }) => {
        const isPage = (path: string): boolean => path === pagePath;
        const { participant, service, client } = contractsWorld({
          fault: ({ path }) => (isPage(path) ? errorReply(status, 'HTTP method not allowed') : undefined),
        });
        participant.append(...creations(3));
        const both = observe(defer(() => activeContracts(client, { parties })).pipe(repeat(2)));
        flush();
        expect(idsOf(both.values)).toEqual([...ids(3), ...ids(3)]);
        expect(service.requests.filter(({ path }) => isPage(path))).toHaveLength(1);
      });
    },
  );

  it('changes to lists in the middle, from the beginning', () => {
    const { observed, requests } = readWhile(2, ({ participant }) => {
      participant.reconfigure({ pages: 'gone' });
    });
    expect(idsOf(observed.values)).toEqual(ids(5));
    expect(requests.map(({ path }) => path)).toEqual([pagePath, pagePath, ...Array<string>(3).fill(listPath)]);
  });

  it('stays where the ledger itself answers 404', () => {
    const unknown = errorReply(404, errorBody('NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME', 11));
    const { observed, requests } = read({ fault: failAt(() => unknown) });
    expect(observed.error).toMatchObject({ _tag: 'ApiError', status: 404 });
    expect(requests).toHaveLength(1);
  });
});

describe('a page of a snapshot', () => {
  it.each([
    ['3.6', 'maxPageSize', 'pageToken'],
    ['3.5.1', 'limit', 'streamContinuationToken'],
  ] as const)(
    'that takes too long is requested again, smaller and with the same token, %s (pitfall 10)',
    (release, size, token) => {
      const { observed, requests } = read({
        count: 300,
        ...releases[release],
        options: { maxSnapshotPageSize: 100 },
        fault: failAt((request, n) => {
          const isSecond = (request.body[token] ?? undefined) !== undefined;
          return isSecond && n <= (release === '3.6' ? 2 : 3) ? late(notInTime, 20_000) : undefined;
        }),
      });
      expect(idsOf(observed.values)).toEqual(ids(300));
      const [, refused, repeated] = requests.filter(({ path }) =>
        release === '3.6' ? path === pagePath : path === listPath,
      );
      expect(Number(repeated?.body[size] ?? repeated?.query[size])).toBe(50);
      expect(repeated?.body[token]).toBe(refused?.body[token]);
    },
  );

  it.each<[string, number, Parameters<typeof read>[0]]>([
    ['is as large as the service allows', 8, { maxPageSize: 2 }],
    [
      'that is too large to read is requested again at once',
      4,
      { fault: ({ path, body }) => (Number(body['maxPageSize']) > 1 ? new ResponseTooLargeError(path, 9) : undefined) },
    ],
  ])('%s', (_, maxSnapshotPageSize, scenario) => {
    const { observed, requests } = read({ count: 5, options: { maxSnapshotPageSize }, ...scenario });
    expect(idsOf(observed.values)).toEqual(ids(5));
    const sizes = [maxSnapshotPageSize, maxSnapshotPageSize / 2, maxSnapshotPageSize / 4];
    expect(requests.slice(0, 3).map(({ body }) => body['maxPageSize'])).toEqual(sizes);
    expect(observed.endedAt).toBe(0);
  });

  it('of one contract that is too large to read is a PageLimitError', () => {
    const { observed } = read({ fault: failAt(({ path }) => new ResponseTooLargeError(path, 9)) });
    expect(observed.error).toMatchObject({ _tag: 'PageLimitError', cursor: 3 });
  });

  it('grows again after a time in which the service was slow', () => {
    const { requests } = read({
      count: 900,
      options: { maxSnapshotPageSize: 40 },
      fault: failAt((_, n) => (n < 4 ? late(notInTime, 20_000) : undefined)),
    });
    const sizes = requests.map(({ body }) => body['maxPageSize']);
    expect(sizes.slice(0, 4)).toEqual([40, 20, 10, 5]);
    expect(sizes.at(-1)).toBe(40);
  });

  it.each(Object.entries(releases))(
    'may be long in coming: no idle timeout cuts it short, %s (pitfall 12)',
    (_, release) => {
      const { observed, service } = read({ ...release, count: 150, latencyMs: 19_000 });
      expect(idsOf(observed.values)).toEqual(ids(150));
      expect(observed.endedAt).toBeLessThan(4 * 19_000);
      expect(service.requests.filter(({ query }) => 'stream_idle_timeout_ms' in query)).toEqual([]);
    },
  );
});

describe('the answers of a snapshot', () => {
  const element = active({ contractId: 'c1', offset: 1 }, 'sync-a');
  const page = (nextPageToken: string | null, activeAtOffset = 5, activeContracts = [element]) =>
    ok({ activeContracts, activeAtOffset, nextPageToken });

  it.each([
    ['with the same token again', [page('a'), page('a')]],
    ['with tokens that repeat', [page('a'), page('b'), page('a')]],
    ['with nothing but another token', [page('a'), page('b', 5, [])]],
    ['with another offset', [page('a'), page('b', 6)]],
    ['at another offset than that of the request', [page(null, 2)]],
  ])('%s are an error', (_, answers) => {
    const { observed, requests } = read({ count: 5, fault: failAt((__, n) => answers[n - 1]) });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'DecodeError' } });
    expect(requests).toHaveLength(answers.length);
  });

  it('may have nothing but entries that mean nothing', () => {
    const nothing = { workflowId: '', contractEntry: { JsEmpty: {} } };
    const { observed } = read({ count: 5, fault: failAt((_, n) => page(n === 1 ? 'a' : null, 5, [nothing])) });
    expect(observed).toMatchObject({ values: [], completed: true });
  });
});

describe('an entry of a snapshot', () => {
  const withEntry = (contractEntry: object) => {
    const activeContracts = [{ workflowId: '', contractEntry }];
    return { fault: failAt(() => ok({ activeContracts, activeAtOffset: 3, nextPageToken: null })) };
  };

  it('that means nothing is dropped, an unknown one is kept (pitfall 14)', () => {
    expect(read(withEntry({ JsEmpty: {} })).observed).toMatchObject({ values: [], completed: true });
    const { observed, diagnostics } = read(withEntry({ JsNovelty: { a: 1 } }));
    expect(observed.values).toEqual([{ _tag: 'UnknownContractEntry', variant: 'JsNovelty', value: { a: 1 } }]);
    expect(diagnostics.slice(-2)).toMatchObject([{ _tag: 'SnapshotCompleted', count: 1 }, { _tag: 'FeedEnded' }]);
  });

  it('that does not decode is a DecodeError, which does not quote it', () => {
    const { observed } = read(withEntry({ JsActiveContract: { secret: 'a payload' } }));
    expect(observed).toMatchObject({ values: [], error: { _tag: 'DecodeError', path: pagePath } });
    expect(JSON.stringify(observed.error)).not.toContain('a payload');
  });

  it('is not read at an offset beyond 2^53 - 1 (pitfall 44)', () => {
    const fault: WorldOptions['fault'] = ({ path }) =>
      path.endsWith('ledger-end') ? ok({ offset: 2 ** 53 }) : undefined;
    expect(read({ fault }).observed.error).toMatchObject({ _tag: 'DecodeError' });
    const asked = read({ request: { activeAtOffset: 2 ** 53 } }).observed;
    expect(asked.error).toMatchObject({ _tag: 'InvalidRequestError' });
  });
});

describe('activeContracts', () => {
  itInVirtualTime('reads a snapshot for each subscription, and nothing before', ({ flush }) => {
    const { participant, service, client } = contractsWorld();
    const entries$ = activeContracts(client, { parties });
    expect(service.requests).toEqual([]);
    participant.append(...creations(2));
    const first = observe(entries$);
    flush();
    participant.append(creation(3));
    const second = observe(entries$);
    flush();
    expect([idsOf(first.values), idsOf(second.values)]).toEqual([ids(2), ids(3)]);
  });

  itInVirtualTime('aborts its request when its subscriber leaves', ({ flush }) => {
    const { participant, service, client } = contractsWorld({
      fault: failAt(() => timer(1_000).pipe(concatMap(() => []))),
    });
    participant.append(...creations(2));
    observe(activeContracts(client, { parties }).pipe(takeUntil(timer(10))));
    flush();
    expect([service.open, service.aborted.length]).toEqual([0, 1]);
  });
});
