import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { concatMap, map, Observable, of, throwError, timer } from 'rxjs';
import { ContractElement, type ContractEntry } from '../../src/codecs/ContractEntry.js';
import { errorOf } from '../../src/errors/ApiError.js';
import type { DiagnosticOf } from '../../src/diagnostics/Diagnostic.js';
import { decodeWith } from '../../src/http/exchange.js';
import { contractHistories, entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { active } from '../helpers/contractEvents.js';
import { effort } from '../helpers/effort.js';
import {
  listPath,
  releases,
  type VirtualContracts,
  type VirtualContractsOptions,
} from '../helpers/virtualContracts.js';
import { errorBody, errorReply } from '../helpers/wire.js';
import { creation, creations, failAt, ids, idsOf, type Outcome, read } from './snapshotScenario.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const old = { ...releases['3.4'], count: 300 };

/** How the snapshots were read, in order. */
const waysOf = ({ diagnostics }: Outcome): DiagnosticOf<'SnapshotStarted'>['by'][] =>
  diagnostics.flatMap((diagnostic) => (diagnostic._tag === 'SnapshotStarted' ? [diagnostic.by] : []));

describe('a snapshot by a WebSocket', () => {
  it('is read where lists give no token', () => {
    const outcome = read({ ...old, sockets: [] });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.observed.completed).toBe(true);
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'socket']);
  });

  it.each([1, 299, 300])(
    'begins again at the same offset if it is cut after %i elements without a token (pitfall 1)',
    (cut) => {
      const outcome = read({ ...old, sockets: [cut, cut] });
      expect(idsOf(outcome.observed.values)).toEqual(ids(300));
      expect(outcome.participant.socketBodies).toHaveLength(3);
      expect(new Set(outcome.participant.socketBodies.map((body) => JSON.stringify(body))).size).toBe(1);
    },
  );

  it('has each entry once after it began again (pitfall 13)', () => {
    const outcome = read({ ...old, sockets: [250, 120] });
    expect(new Set(idsOf(outcome.observed.values)).size).toBe(outcome.observed.values.length);
    expect(outcome.observed.values).toHaveLength(300);
    expect(outcome.diagnostics.at(-2)).toMatchObject({ _tag: 'SnapshotCompleted', count: 300 });
  });

  it('goes on after its last element with its token (pitfall 1) (G25)', () => {
    const outcome = read({ count: 300, pages: 'gone', lists: 'gone', sockets: [120, 0, 100] });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    const tokens = outcome.participant.socketBodies.map((body) => 'streamContinuationToken' in body);
    expect(tokens).toEqual([false, true, true, true]);
    expect(waysOf(outcome)).toEqual(['pages', 'lists', 'socket']);
    expect(outcome.diagnostics.filter(({ _tag }) => _tag === 'SnapshotRestarted')).toEqual([]);
  });

  it.each([
    ['has other contracts', 200],
    ['has fewer contracts', 50],
  ])('has nothing of the ledger before if another one takes its place that %s', (_, count) => {
    const others = creations(count, 1_000);
    const outcome = read({
      count: 300,
      pages: 'gone',
      lists: 'gone',
      sockets: [120],
      given: ({ participant, client }) => {
        client.diagnostics$.subscribe(({ _tag }) => {
          // it accepts the tokens of the first ledger
          if (_tag === 'RetryScheduled')
            participant.elementsAt = () =>
              others.map(({ offset }) => active({ contractId: `c${offset}`, offset }, 'sync-a::1220ab'));
        });
      },
    });
    expect(idsOf(outcome.observed.values)).toEqual(others.map(({ offset }) => `c${offset}`));
    expect(outcome.diagnostics.filter(({ _tag }) => _tag === 'SnapshotRestarted')).toMatchObject([
      { cause: { _tag: 'LedgerResetError', reason: 'anotherLedger' } },
    ]);
  });

  it('begins again if another node refuses its token (pitfall 7)', () => {
    const outcome = read({
      count: 300,
      pages: 'gone',
      lists: 'gone',
      sockets: [120],
      given: ({ participant, client }) => {
        client.diagnostics$.subscribe(({ _tag }) => {
          if (_tag === 'RetryScheduled') participant.reconfigure({ node: 'node-2' });
        });
      },
    });
    expect(idsOf(outcome.observed.values)).toEqual(ids(300));
    expect(outcome.participant.socketBodies).toHaveLength(3);
  });

  it('emits nothing if an error follows its elements (pitfall 2)', () => {
    const error = errorOf({ path: listPath, status: 403, text: JSON.stringify(errorBody('PERMISSION_DENIED', 7)) });
    const { observed } = read({
      ...old,
      sockets: [],
      given: ({ participant }) => {
        const { readList } = participant.transport;
        Object.assign(participant.transport, {
          readList: (...request: Parameters<typeof readList>) =>
            readList(...request).pipe(concatMap((element, i) => (i < 100 ? of(element) : throwError(() => error)))),
        });
      },
    });
    expect(observed).toMatchObject({ values: [], error: { code: 'PERMISSION_DENIED' } });
  });

  it('ends with its error if it is cut again and again', () => {
    const { observed } = read({ ...old, sockets: Array<number>(200).fill(250) });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'ConnectionError' } });
    expect(observed.endedAt).toBe(300_000);
  });

  it('is closed when the subscriber leaves', () => {
    let open = 0;
    const { observed } = read({
      ...old,
      sockets: [],
      given: ({ participant }) => {
        Object.assign(participant.transport, {
          readList: () =>
            new Observable(() => {
              open += 1;
              return () => {
                open -= 1;
              };
            }),
        });
      },
    });
    expect(open).toBe(1);
    observed.subscription.unsubscribe();
    expect(open).toBe(0);
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
    expect(outcome.service.requests.filter(({ path }) => path.startsWith('/v2/updates'))).toEqual([]);
    expect(observed).toMatchObject({
      values: [],
      error: { _tag: 'SnapshotLimitError', limit: 200, activeAtOffset: 300 },
      endedAt: 0,
    });
    expect(String(observed.error)).toContain('canton-rx/ws');
    expect(String(observed.error)).toContain('types');
  });

  it('is the error of the service if it serves nothing', () => {
    const { observed } = read({
      ...old,
      lists: 'gone',
      sockets: [],
      given: ({ participant }) => {
        Object.assign(participant.transport, {
          readList: () => throwError(() => errorOf({ path: listPath, status: 404, text: '' })),
        });
      },
    });
    expect(observed).toMatchObject({ error: { _tag: 'ApiError', status: 404, path: listPath }, endedAt: 125 });
  });
});

const decodeEntry = (element: object): ContractEntry => decodeWith(listPath, ContractElement)(element).contractEntry;

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
        const last = diagnostics.findLast(({ _tag }) => _tag === 'SnapshotCompleted');
        const offset = last?._tag === 'SnapshotCompleted' ? last.offset : -1;
        expect(offset).toBeGreaterThanOrEqual(history.at(-1)?.offset ?? 0);
        expect(sorted(observed.values)).toEqual(sorted(entriesAt(updates, offset).map(decodeEntry)));
      }),
      { numRuns: effort(40, 300) },
    );
  });
});

/** What may happen to a request for contracts, or right before it. */
const anyTrouble = fc.constantFrom(
  'none',
  'none',
  'cut',
  'busy',
  'timeout',
  'expired',
  'large',
  'node',
  'update',
  'prune',
);

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
      switch (troubles[n - 1]) {
        case 'cut':
          return new Error('cut');
        case 'busy':
          return errorReply(503, errorBody('SERVER_IS_BUSY', 2));
        case 'timeout':
          return timer(20_000).pipe(map(() => errorReply(503, 'not in time')));
        case 'expired':
          return errorReply(409, errorBody('ACCESS_TOKEN_EXPIRED', 2));
        case 'large':
          return errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2));
        case 'node':
          participant?.reconfigure({ node: `node-${n}` });
          return undefined;
        case 'update':
          append();
          return undefined;
        case 'prune':
          append();
          if (participant !== undefined) participant.ledger.pruned = participant.ledger.end;
          return undefined;
        default:
          return undefined;
      }
    }),
  });
}
