import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { asyncScheduler, concatMap, finalize, map, NEVER, of, throwError, timer } from 'rxjs';
import { activeContracts } from '../../src/contracts/activeContracts.js';
import { snapshotsOf } from '../../src/contracts/snapshot/request.js';
import { errorOf } from '../../src/errors/readAnswer.js';
import { ConnectionError } from '../../src/errors/request.js';
import { contractsSource } from '../../src/contracts/ContractQuery.js';
import type { ContractEntry } from '../../src/codecs/ContractEntry.js';
import { active } from '../helpers/contractEvents.js';
import { contractHistories, entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { decodeEntry } from '../helpers/foldLaw.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime } from '../helpers/time.js';
import type { ContractsWorld, VirtualContracts, VirtualContractsOptions } from '../helpers/virtualContracts.js';
import { contractsWorld, listPath, pagePath, releases } from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { reported } from './joinSupport.js';
import { creation, creations, failAt, ids, idsOf, read, restartsOf, waysOf, withSockets } from './snapshotScenario.js';
import type { Outcome, Scenario } from './snapshotScenario.js';

useAverageDelays();

/** Of which only sockets have more than 200 contracts, without tokens. */
const old: Scenario = { ...releases['3.4'], count: 300 };

/** Snapshots of which only sockets have more than 200 contracts, with tokens. */
const bySocket: Scenario = { count: 300, pages: 'gone', lists: 'gone' };

/** Reads one whose socket is cut, and does something to the world before the next. */
const readCut = (change: (world: ContractsWorld) => void): Outcome =>
  read({
    ...bySocket,
    sockets: [120],
    given: (world) => {
      world.client.diagnostics$.subscribe(({ _tag }) => {
        if (_tag === 'RetryScheduled') change(world);
      });
    },
  });

describe('a snapshot by a WebSocket', () => {
  it('is read where lists give no token', () => {
    const outcome = read({ ...old, sockets: [] });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.observed.completed).toBe(true);
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'socket']);
  });

  it.each([1, 299, 300])(
    'begins again at the same offset if it is cut after %i elements without a token (pitfall 1, pitfall 13)',
    (cut) => {
      const outcome = read({ ...old, sockets: [cut, cut] });
      expect(idsOf(outcome.observed.values)).toEqual(ids(300));
      expect(outcome.diagnostics.at(-2)).toMatchObject({ _tag: 'SnapshotCompleted', count: 300 });
      expect(outcome.participant.socketBodies).toHaveLength(3);
      expect(new Set(outcome.participant.socketBodies.map((body) => JSON.stringify(body))).size).toBe(1);
    },
  );

  it('goes on after its last element with its token (pitfall 1) (G25)', () => {
    const outcome = read({ ...bySocket, sockets: [120, 0, 100] });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    const tokens = outcome.participant.socketBodies.map((body) => 'streamContinuationToken' in body);
    expect(tokens).toEqual([false, true, true, true]);
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'socket']);
    expect(restartsOf(outcome)).toEqual([]);
  });

  it.each([
    ['has other contracts', 200],
    ['has fewer contracts', 50],
  ])('has nothing of the ledger before if another one takes its place that %s', (_, count) => {
    const others = creations(count, 1_000);
    const outcome = readCut(({ participant }) => {
      // it accepts the tokens of the first ledger
      participant.elementsAt = () => others.map(({ offset }) => active({ contractId: `c${offset}`, offset }, 'sync-a'));
    });
    expect(idsOf(outcome.observed.values)).toEqual(others.map(({ offset }) => `c${offset}`));
    expect(restartsOf(outcome)).toMatchObject([{ cause: { _tag: 'LedgerResetError', reason: 'anotherLedger' } }]);
  });

  it('begins again if another node refuses its token (pitfall 7)', () => {
    const outcome = readCut(({ participant }) => {
      participant.reconfigure({ node: 'node-2' });
    });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.participant.socketBodies).toHaveLength(3);
  });

  it('emits nothing if an error follows its elements (pitfall 2) (G25)', () => {
    const error = errorOf({ path: listPath, status: 403, text: JSON.stringify(errorBody('PERMISSION_DENIED', 7)) });
    const { observed } = read({
      ...old,
      sockets: [],
      given: withSockets(
        (readList) =>
          (...request) =>
            readList(...request).pipe(concatMap((element, i) => (i < 100 ? of(element) : throwError(() => error)))),
      ),
    });
    expect(observed).toMatchObject({ values: [], error: { code: 'PERMISSION_DENIED' } });
  });

  it('ends with its error if it is cut again and again', () => {
    const { observed } = read({ ...old, sockets: Array<number>(200).fill(250) });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'ConnectionError' } });
    expect(observed.endedAt).toBe(300_000);
  });

  it('is closed when the subscriber leaves', () => {
    const closed = jest.fn();
    const given = withSockets(() => () => NEVER.pipe(finalize(closed)));
    const { observed } = read({ ...old, sockets: [], given });
    expect(closed).not.toHaveBeenCalled();
    observed.subscription.unsubscribe();
    expect(closed).toHaveBeenCalledTimes(1);
  });
});

describe('a snapshot that the service does not list', () => {
  it('is read in one list if that is whole', () => {
    const outcome = read({ ...old, maxListElements: 500 });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'lists']);
  });

  it('is a SnapshotLimitError that names the ways out', () => {
    const outcome = read(old);
    const { observed } = outcome;
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'lists']);
    expect(outcome.service.requests.filter(isUpdates)).toEqual([]);
    const error = { _tag: 'SnapshotLimitError', limit: 200, activeAtOffset: 300 };
    expect(observed).toMatchObject({ values: [], error, endedAt: 0 });
    for (const way of ['canton-rx/ws', 'types']) expect(String(observed.error)).toContain(way);
  });
});

const gatewayError = errorReply(404, '<html>');
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isWhole = ({ query }: ServiceRequest): boolean => Number(query['limit']) > 10_000;

/** Fails the first request for which something holds. */
const failFirst = (
  isIt: (request: ServiceRequest) => boolean,
  reply: NonNullable<Scenario['fault']> = () => gatewayError,
): NonNullable<Scenario['fault']> => {
  let count = 0;
  return (request) => (isIt(request) && (count += 1) === 1 ? reply(request, count) : undefined);
};

/** Sockets that all fail before they bring an element. */
const failingSockets = (makeError: () => Error): NonNullable<Scenario['given']> =>
  withSockets(() => () => throwError(() => makeError()));
const refusal = (): Error => new ConnectionError(listPath, 'the upgrade was rejected with status 403');

describe('a snapshot where a proxy refuses WebSockets', () => {
  it('is read in one list if that is whole', () => {
    const { observed } = read({ ...old, maxListElements: 500, sockets: [], given: failingSockets(refusal) });
    expect(idsOf(observed.values)).toEqual(ids(300));
  });

  it('tries the socket again if no list is whole, and ends with its failure', () => {
    const outcome = read({ ...old, sockets: [], given: failingSockets(refusal) });
    expect(outcome.observed).toMatchObject({ values: [], error: { _tag: 'ConnectionError' }, endedAt: 300_000 });
    expect(waysOf(outcome).slice(0, 4)).toEqual(['pages', 'lists', 'socket', 'lists']);
    expect(read({ ...old, sockets: [0, 0] }).observed.values).toHaveLength(300);
  });

  it('waits for a replica that lags, at a given offset, too', () => {
    let sockets = 0;
    const behind = (): Error =>
      errorOf({ path: listPath, status: 400, text: JSON.stringify(errorBody('OFFSET_AFTER_LEDGER_END', 12)) });
    const atOffset = { ...old, request: { activeAtOffset: 300 }, sockets: [] };
    const lags = withSockets(
      (readList) =>
        (...request) =>
          (sockets += 1) < 3 ? throwError(() => behind()) : readList(...request),
    );
    expect(idsOf(read({ ...atOffset, given: lags }).observed.values)).toEqual(ids(300));
    expect(sockets).toBe(3);
    const { observed: reset } = read({ ...atOffset, given: failingSockets(behind) });
    expect(reset).toMatchObject({ error: { _tag: 'LedgerResetError', cursor: 300 }, endedAt: 300_000 });
  });
});

describe('a list without a limit', () => {
  const late = (ms: number, reply: () => ReturnType<typeof errorReply>) => timer(ms).pipe(map(reply));
  const lost = (): never => {
    throw new Error('ECONNRESET');
  };

  it.each([
    ['a connection that is lost', 1_500, lost],
    ['a gateway without a participant', 1_500, () => errorReply(503, 'no upstream')],
    ['one response for which the participant does not wait', 20_000, () => errorReply(503, 'not in time')],
    ['one response for which the client does not wait', 60_000, lost],
  ])('is requested again after %s', (_, ms, reply) => {
    const { observed } = read({ ...old, maxListElements: 500, fault: failFirst(isWhole, () => late(ms, reply)) });
    expect(idsOf(observed.values)).toEqual(ids(300));
  });

  it.each([
    ['the participant', 20_000, () => errorReply(503, 'not in time'), 40_125],
    ['the client', 60_000, lost, 60_125],
  ])('is too long if %s does not wait for it twice', (_, ms, reply, endedAt) => {
    const fault: Scenario['fault'] = (request) => (isWhole(request) ? late(ms, reply) : undefined);
    const { observed } = read({ ...old, maxListElements: 500, fault });
    expect(observed).toMatchObject({ error: { _tag: 'SnapshotLimitError' }, endedAt });
  });
});

describe('a 404 of a gateway', () => {
  it.each([
    ['ledger end', '3.5.1', '/v2/state/ledger-end', true, 1],
    // requested again, because the participant has answered
    ['first list', '3.5.1', listPath, true, 0],
    ['first page, without a ledger end', '3.6', pagePath, false, 0],
  ] as const)('for the %s ends nothing', (_, release, failing, hasLedgerEnd, restarts) => {
    const fault = failFirst(({ path }) => path === failing);
    const outcome = read({ ...releases[release], hasLedgerEnd, count: 300, fault });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.service.requests.filter(isUpdates)).toEqual([]);
    expect(restartsOf(outcome)).toHaveLength(restarts);
  });

  it('that stays is the error', () => {
    const { observed } = read({ count: 300, pages: 'gone', lists: 'gone' });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 404, path: listPath }, endedAt: 125 });
  });

  it('is not waited for without retries', () => {
    const { observed } = read({ pages: 'gone', lists: 'gone', options: { retry: { giveUpAfterMs: 0 } } });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 404 }, endedAt: 0 });
  });

  itInVirtualTime('for pages is remembered for a minute', ({ flush }) => {
    const { participant, service, client } = contractsWorld({ pages: 'gone' });
    participant.append(...creations(3));
    for (const at of [0, 59_999, 120_000])
      timer(at).subscribe(() => {
        observe(activeContracts(client, { parties: 'any' }));
      });
    timer(60_000).subscribe(() => {
      participant.reconfigure({ pages: 'served' });
    });
    flush();
    const paths = service.requests.map(({ path }) => path).filter((path) => [listPath, pagePath].includes(path));
    expect(paths).toEqual([pagePath, listPath, listPath, pagePath]);
  });
});

describe('what is known of the snapshots of a service', () => {
  it('is out of date if the clock was set back, and is the least of what was too large', () => {
    const snapshots = snapshotsOf(contractsSource(contractsWorld().client, {})().client);
    const clock = jest.spyOn(asyncScheduler, 'now').mockReturnValue(1_000_000);
    snapshots.pagesMissing();
    expect(snapshots.hasPages).toBe(false);
    clock.mockReturnValue(500_000);
    expect(snapshots.hasPages).toBe(true);
    for (const limit of [20, 500]) snapshots.tooLarge(limit);
    expect(snapshots.limit).toBe(10);
  });
});

/** The entries of a snapshot, in an order of their own, and without the places of events in their updates. */
const sorted = (entries: readonly ContractEntry[]): string[] =>
  entries.map((entry) => JSON.stringify(entry, (key, value: unknown) => (key === 'nodeId' ? undefined : value))).sort();

describe('each transport', () => {
  it.each([
    ['pages', releases['3.6']],
    ['pages', releases['3.7']],
    ['lists', releases['3.5.1']],
    ['lists', { ...releases['3.7'], pages: 'gone' }],
    ['socket', { ...releases['3.7'], pages: 'gone', lists: 'gone', sockets: [3, 5] }],
    ['socket', { ...releases['3.4'], sockets: [3, 5], options: { maxSnapshotPageSize: 1 } }],
  ] as const)('brings what the ledger has, whatever happened: %s', (way, how) => {
    fc.assert(
      fc.property(contractHistories(), fc.nat(), (history, at) => {
        const offsets = history.map(({ offset }) => offset);
        const activeAtOffset = offsets.length === 0 ? 0 : offsets[at % offsets.length];
        const outcome = read({ history, request: { activeAtOffset }, ...how });
        const { observed } = outcome;
        const expected = entriesAt(history, activeAtOffset ?? 0).map(decodeEntry);
        expect(sorted(observed.values)).toEqual(sorted(expected));
        expect(observed.completed).toBe(true);
        // a short list is complete
        if (expected.length > 0) expect(waysOf(outcome).at(-1)).toBe(way);
      }),
      { numRuns: effort(30, 300) },
    );
  });

  it.each(Object.entries(releases))('brings all of one offset through any trouble, %s', (_, release) => {
    fc.assert(
      fc.property(contractHistories(), fc.array(anyTrouble, { maxLength: 12 }), (history, troubles) => {
        const updates: HistoryUpdate[] = [...history];
        const { observed, diagnostics } = readThrough(troubles, updates, release);
        if (observed.error !== undefined) {
          // lists of one contract are refused as too large
          expect(observed).toMatchObject({ error: { _tag: 'PageLimitError' }, values: [] });
          return;
        }
        const offset = reported(diagnostics, 'SnapshotCompleted').at(-1)?.offset ?? -1;
        expect(offset).toBeGreaterThanOrEqual(history.at(-1)?.offset ?? 0);
        expect(sorted(observed.values)).toEqual(sorted(entriesAt(updates, offset).map(decodeEntry)));
      }),
      { numRuns: effort(40, 300) },
    );
  });
});

/** What may happen instead of the reply to a request for contracts. */
const replies: Readonly<Record<string, () => ReturnType<NonNullable<Scenario['fault']>>>> = {
  cut: () => new Error('cut'),
  busy: () => errorReply(503, errorBody('SERVER_IS_BUSY', 2)),
  timeout: () => timer(20_000).pipe(map(() => errorReply(503, 'not in time'))),
  expired: () => errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2)),
  large: () => errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2)),
};
/** The same, or what happens right before it. */
const anyTrouble = fc.constantFrom('none', 'none', ...Object.keys(replies), 'node', 'update', 'prune');

/** Reads a snapshot of a ledger that goes on, by requests to which things happen. Appends to the history. */
function readThrough(troubles: readonly string[], history: HistoryUpdate[], release: VirtualContractsOptions): Outcome {
  let participant: VirtualContracts | undefined;
  let count = 0;
  const append = (): void => {
    const update = creation((history.at(-1)?.offset ?? 0) + 1);
    history.push(update);
    participant?.append(update);
  };
  return read({
    history: [...history],
    ...release,
    sockets: [2, 3],
    options: { maxSnapshotPageSize: 2, retry: { giveUpAfterMs: 1e9 } },
    client: { token: () => `token-${(count += 1)}` },
    given: (world) => {
      ({ participant } = world);
    },
    fault: failAt((_request, n) => {
      const trouble = troubles[n - 1] ?? 'none';
      if (trouble === 'node') participant?.reconfigure({ node: `node-${n}` });
      if (trouble === 'update' || trouble === 'prune') append();
      if (trouble === 'prune' && participant !== undefined) participant.ledger.pruned = participant.ledger.end;
      return replies[trouble]?.();
    }),
  });
}
