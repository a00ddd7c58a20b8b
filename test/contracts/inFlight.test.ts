import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { finalize, map, timer } from 'rxjs';
import type { ContractEntry, IncompleteUnassigned } from '../../src/codecs/ContractEntry.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import {
  active,
  assigned,
  createdEvent,
  crossed,
  type Move,
  reassignmentOf,
  unassigned,
} from '../helpers/contractEvents.js';
import { contractHistories, entriesAt, type HistoryUpdate, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { checkFold, decodeEntry } from '../helpers/foldLaw.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { type ContractsWorld, eventsPath, listPath, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, notFound, ok } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { away, create, follow, home, marbles, reported, unassign } from './joinSupport.js';
import { failAt, type Outcome, read, restartsOf, type Scenario, waysOf } from './snapshotScenario.js';

useAverageDelays();

/** `created/unassigned` of each contract in flight, and the others. */
const outline = (entries: readonly ContractEntry[]): string[] =>
  entries.map((entry) => {
    if (entry._tag !== 'IncompleteUnassigned') return entry._tag;
    return `${entry.createdEvent.contractId}/${entry.unassignedEvent.contractId}`;
  });

const requestsTo = ({ service }: Outcome, path: string): ServiceRequest[] =>
  service.requests.filter((request) => request.path === path);

/** The offsets of the snapshots that were read. */
const earlier = (outcome: Outcome): unknown[] =>
  outcome.requests.map(({ body }) => body['activeAtOffset']).filter((offset, i, all) => all[i - 1] !== offset);

/** `created/unassigned` and the offset of the activation, of each contract in flight. */
const activations = ({ observed }: Outcome): unknown[] =>
  observed.values.flatMap((entry) =>
    entry._tag === 'IncompleteUnassigned' ? [[...outline([entry]), entry.createdEvent.offset]] : [],
  );

interface RecordedElement {
  readonly contractEntry: {
    readonly JsIncompleteUnassigned: { readonly createdEvent: { readonly contractId: string } };
  };
}

/** The entry of a contract in flight. */
function inFlightEntry(entry: ContractEntry): IncompleteUnassigned {
  if (entry._tag !== 'IncompleteUnassigned') throw new Error(`not in flight: ${entry._tag}`);
  return entry;
}

/**
 * An entry as JSON, without the places of events in their updates. A contract that was reassigned several times has several
 * activations, so that of a contract in flight may be another one.
 */
function essence(entry: ContractEntry): string {
  const shown =
    entry._tag === 'IncompleteUnassigned' ? { ...entry, createdEvent: { ...entry.createdEvent, offset: 0 } } : entry;
  return JSON.stringify(shown, (key, value: unknown) => (key === 'nodeId' ? undefined : value));
}

/** The offsets of the updates that make a contract active on a synchronizer. */
const activationsOf = (history: readonly HistoryUpdate[], id: string): number[] =>
  history
    .filter(({ events }) =>
      events.some(({ kind, contractId }) => contractId === id && (kind === 'create' || kind === 'assign')),
    )
    .map(({ offset }) => offset);

/** Contracts are created in an order and unassigned in another one. */
const inFlight = (created: string, unassignedInTurn: string): HistoryUpdate[] => [
  ...Array.from(created, (id, i) => create(i + 1, id)),
  ...Array.from(unassignedInTurn, (id, i) => unassign(created.length + i + 1, id)),
];

const aToB: Move = { source: home, target: away, reassignmentCounter: 1 };
const bToA: Move = { source: away, target: home, reassignmentCounter: 2 };

/** An update with one half of a reassignment. */
function moved(offset: number, kind: 'assign' | 'unassign', contractId: string, move: Move): HistoryUpdate {
  const isAssigned = kind === 'assign';
  const synchronizerId = isAssigned ? move.target : move.source;
  const event = isAssigned ? assigned({ contractId, offset }, move) : unassigned(contractId, offset, move);
  const step = move.reassignmentCounter * 2 - (isAssigned ? 0 : 1);
  return {
    offset,
    element: reassignmentOf(offset, synchronizerId, [event]),
    events: [{ kind, contractId, synchronizerId, step, move }],
  };
}

const one = { options: { maxSnapshotPageSize: 1 } } as const;
const mispaired = { mispairs: true, history: inFlight('ab', 'ba') } as const;

/** The ways to read a snapshot, and what may happen to sockets. */
const ways = {
  pages: {},
  'pages of 3.7': { mustAskForIncomplete: true },
  lists: { pages: 'gone' },
  'a list without tokens': { pages: 'gone', hasTokens: false },
  sockets: { pages: 'gone', lists: 'gone', sockets: [1, 2, 3, 4] },
} as const satisfies Readonly<Record<string, Scenario>>;

describe('a snapshot whose entries have halves of two contracts', () => {
  it.each(Object.entries(ways))('has each contract with its own halves, by %s', (_, way: Scenario) => {
    const outcome = read({ ...mispaired, ...way });
    expect(outline(outcome.observed.values).sort()).toEqual(['a/a', 'b/b']);
    expect(outcome.observed.completed).toBe(true);
    expect(requestsTo(outcome, eventsPath)).toEqual([]);
  });

  it('reads a creation that is in no page', () => {
    const outcome = read({ ...mispaired, ...one });
    expect(outline(outcome.observed.values)).toEqual(['a/a', 'b/b']);
    const { eventFormat } = outcome.requests[0]?.body ?? {};
    expect(requestsTo(outcome, eventsPath).map(({ body }) => body)).toEqual([{ contractId: 'b', eventFormat }]);
    const colors = outcome.observed.values.map((entry) => inFlightEntry(entry).createdEvent.createArgument);
    expect(colors).toMatchObject([{ color: 'green' }, { color: 'blue' }]);
  });

  it('requests nothing else if the participant pairs the halves', () => {
    for (const way of [one, ways.lists, ways.sockets]) {
      const { service, observed } = read({ ...mispaired, ...way, mispairs: false });
      expect(outline(observed.values)).toEqual(['b/b', 'a/a']);
      const expected = ['/v2/state/ledger-end', pagePath, ...(way === one ? [pagePath] : [listPath])];
      expect([...new Set(service.requests.map(({ path }) => path))]).toEqual([...new Set(expected)]);
    }
    expect(read({ ...mispaired, ...one, mispairs: false }).requests).toHaveLength(2);
  });

  it('survives a lost response, after which a page of another size repeats an entry with another created event', () => {
    const scenario = { mispairs: true, history: inFlight('abc', 'cba'), ...one };
    const fault: Scenario['fault'] = failAt((_, n) => {
      if (n === 2) return errorReply(413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2));
      return n === 3 ? new Error('cut') : undefined;
    });
    const outcome = read({ ...scenario, options: { maxSnapshotPageSize: 2 }, fault });
    expect(outline(outcome.observed.values).sort()).toEqual(['a/a', 'b/b', 'c/c']);
    expect(restartsOf(outcome)).toEqual([]);
  });

  it.each([1, 2, 3])('goes on after a socket that was cut after %i elements', (cut) => {
    const outcome = read({ mispairs: true, history: inFlight('abc', 'cba'), ...ways.sockets, sockets: [cut] });
    expect(outline(outcome.observed.values).sort()).toEqual(['a/a', 'b/b', 'c/c']);
    expect(restartsOf(outcome)).toEqual([]);
  });

  it('drops the halves of a transport that was given up', () => {
    let participant: Outcome['participant'];
    const outcome = read({
      ...mispaired,
      ...one,
      given: (world) => {
        participant = world.participant;
      },
      // lists are served by a node that pairs the halves
      fault: failAt((_, n) => {
        if (n === 2) participant.reconfigure({ pages: 'gone', mispairs: false });
        return undefined;
      }),
    });
    expect(outline(outcome.observed.values)).toEqual(['b/b', 'a/a']);
    expect(waysOf(outcome)).toEqual(['pages', 'lists']);
    expect(requestsTo(outcome, eventsPath)).toEqual([]);
  });

  it('has each flight of a contract whose synchronizers are seen at different times', () => {
    const third = 'third::1220ab';
    const history = [
      ...Array.from('abx', (id, i) => create(i + 1, id)),
      moved(4, 'unassign', 'x', aToB),
      // what happened on the target is not seen yet
      moved(5, 'assign', 'x', { source: away, target: third, reassignmentCounter: 2 }),
      moved(6, 'unassign', 'x', { source: third, target: home, reassignmentCounter: 3 }),
      moved(7, 'unassign', 'a', aToB),
      moved(8, 'unassign', 'b', aToB),
    ];
    const outcome = read({ mispairs: true, history });
    const flights = outcome.observed.values.flatMap((entry) =>
      entry._tag === 'IncompleteUnassigned' ? [[entry.createdEvent.contractId, entry.unassignedEvent.offset]] : [],
    );
    expect(flights).toEqual([
      ['x', 4],
      ['x', 6],
      ['a', 7],
      ['b', 8],
    ]);
    const fold = new ContractsFold(makeContract());
    checkFold(fold, history, 8, outcome.observed.values);
    // of its last activation, on the third synchronizer
    expect(fold.contracts.get('x')).toMatchObject({ reassignmentCounter: 3, offset: 5 });
  });

  it('has what a 3.5.10 participant was recorded with', () => {
    const url = new URL('../fixtures/in-flight/mispaired-3.5.10.json', import.meta.url);
    const recorded = JSON.parse(readFileSync(url, 'utf8')) as {
      readonly list: readonly RecordedElement[];
      readonly pages: readonly object[];
    };
    const listed = recorded.list.map((element) => decodeEntry(element));
    const recordedCreation = (contractId: string): object | undefined =>
      recorded.list
        .map(({ contractEntry }) => contractEntry.JsIncompleteUnassigned.createdEvent)
        .find((event) => event.contractId === contractId);
    const serials = (outcome: Outcome): unknown[] =>
      outcome.observed.values.map((entry) => {
        const { createdEvent: created, unassignedEvent } = inFlightEntry(entry);
        expect(created.contractId).toBe(unassignedEvent.contractId);
        return [unassignedEvent.offset, (created.createArgument as { readonly serial: string }).serial];
      });
    const given = { count: 3, request: { activeAtOffset: 25_766 } };
    const found = ({ body }: ServiceRequest) =>
      ok({
        created: {
          createdEvent: recordedCreation(String(body['contractId'])),
          synchronizerId: 'synchronizer-2::1220',
        },
        archived: null,
      });
    const byPages = read({
      ...given,
      ...one,
      fault: (request) => {
        if (request.path === eventsPath) return found(request);
        return request.path === pagePath ? ok(recorded.pages['pageToken' in request.body ? 1 : 0]) : undefined;
      },
    });
    const byList = read({
      ...given,
      pages: 'gone',
      fault: ({ path }) => (path === listPath ? ok(recorded.list) : undefined),
    });
    expect(outline(listed).every((halves) => new Set(halves.split('/')).size === 2)).toBe(true);
    // the contract that was created first was unassigned last
    for (const outcome of [byPages, byList])
      expect(serials(outcome).sort()).toEqual([
        [25_759, '2'],
        [25_762, '1'],
      ]);
    expect(requestsTo(byPages, eventsPath)).toHaveLength(1);
    expect(requestsTo(byList, eventsPath)).toEqual([]);
  });
});

describe('a creation that is in no page', () => {
  /** B was reassigned, and is in flight again. */
  const twice = [
    create(1, 'a'),
    create(2, 'b'),
    moved(3, 'unassign', 'b', aToB),
    moved(4, 'assign', 'b', aToB),
    moved(5, 'unassign', 'b', bToA),
    moved(6, 'unassign', 'a', aToB),
  ];
  it.each(['gone', 'unpruned'] as const)(
    'is that of the snapshot before the unassignment if the participant does not have it: %s',
    (creations) => {
      const outcome = read({
        mispairs: true,
        history: twice,
        creations,
        ...one,
        given: ({ participant }) => {
          participant.ledger.pruned = 4;
        },
      });
      expect(outline(outcome.observed.values)).toEqual(['a/a', 'b/b']);
      // as of its last activation
      expect(outcome.observed.values.map((entry) => inFlightEntry(entry).createdEvent.offset)).toEqual([1, 4]);
      expect(earlier(outcome)).toEqual([6, 4]);
    },
  );

  /** The creations of x, y and z are in no page. */
  const threeLack = inFlight('abcxyz', 'xaybzc');

  it('is read with few earlier snapshots, however many there are', () => {
    const outcome = read({ mispairs: true, history: threeLack, creations: 'gone', ...one });
    expect(outline(outcome.observed.values).sort()).toEqual(Array.from('abcxyz', (id) => `${id}/${id}`));
    expect(earlier(outcome)).toEqual([12, 6]);
    // whichever response arrives first
    const fault: Scenario['fault'] = ({ path, body }) =>
      path === eventsPath ? timer(body['contractId'] === 'x' ? 100 : 1).pipe(map(() => notFound)) : undefined;
    expect(earlier(read({ mispairs: true, history: threeLack, ...one, fault }))).toEqual([12, 6]);
  });

  it('is requested together with at most three others', () => {
    let open = 0;
    const counts: number[] = [];
    const outcome = read({
      mispairs: true,
      history: inFlight('abcdefuvwxyz', 'uavbwcxdyezf'),
      ...one,
      fault: ({ path }) => {
        if (path !== eventsPath) return undefined;
        counts.push((open += 1));
        return timer(10).pipe(
          map(() => notFound),
          finalize(() => (open -= 1)),
        );
      },
    });
    expect(outcome.observed.values).toHaveLength(12);
    expect(Math.max(...counts)).toBe(4);
  });

  it('is that of the synchronizer that the contract left', () => {
    const history = [
      create(1, 'a'),
      // assigned before its creation is seen
      moved(2, 'assign', 'b', aToB),
      create(3, 'b'),
      moved(4, 'unassign', 'b', bToA),
      moved(5, 'unassign', 'a', aToB),
    ];
    const outcome = read({ mispairs: true, history, creations: 'gone', ...one });
    expect(activations(outcome)).toEqual([
      ['a/a', 1],
      ['b/b', 2],
    ]);
    expect(earlier(outcome)).toEqual([5, 3]);
  });

  it('is that of the last time that the contract was on this synchronizer', () => {
    const history = [
      ...Array.from('adbc', (id, i) => create(i + 1, id)),
      moved(5, 'unassign', 'b', aToB),
      moved(6, 'unassign', 'a', aToB),
      moved(7, 'unassign', 'c', aToB),
      moved(8, 'assign', 'c', aToB),
      moved(9, 'unassign', 'c', bToA),
      moved(10, 'assign', 'c', bToA),
      moved(11, 'unassign', 'c', { ...aToB, reassignmentCounter: 3 }),
      moved(12, 'unassign', 'd', aToB),
    ];
    const outcome = read({ mispairs: true, history, creations: 'gone', ...one });
    expect(activations(outcome)).toEqual([
      ['a/a', 1],
      ['d/d', 2],
      ['b/b', 3],
      ['c/c', 10],
    ]);
    expect(earlier(outcome)).toEqual([12, 4, 10]);
  });

  it('is that of another snapshot if the contract was created after the first one', () => {
    const history = [
      ...Array.from('adb', (id, i) => create(i + 1, id)),
      unassign(4, 'b'),
      unassign(5, 'a'),
      create(6, 'c'),
      unassign(7, 'c'),
      unassign(8, 'd'),
    ];
    const outcome = read({ mispairs: true, history, creations: 'gone', ...one });
    expect(activations(outcome)).toEqual([
      ['a/a', 1],
      ['d/d', 2],
      ['b/b', 3],
      ['c/c', 6],
    ]);
    expect(earlier(outcome)).toEqual([8, 3, 6]);
  });

  it('is that of the snapshot before the unassignment, whatever counter a repair gave the contract', () => {
    const outcome = read({
      ...one,
      count: 9,
      creations: 'gone',
      given: ({ participant }) => {
        participant.elementsAt = (offset) =>
          offset < 8 ? [active({ contractId: 'b', offset: 2 }, home, 7)] : [crossed('a', 'b', 8), crossed('a', 'a', 9)];
      },
    });
    expect(activations(outcome)).toEqual([
      ['a/a', 1],
      ['b/b', 2],
    ]);
  });

  it('is that of a later snapshot if the earlier one is pruned, unless the offset is given', () => {
    const pruned: Scenario = {
      ...mispaired,
      ...one,
      creations: 'gone',
      given: ({ participant, client }) => {
        participant.ledger.pruned = 4;
        client.diagnostics$.subscribe(({ _tag }) => {
          if (_tag === 'SnapshotRestarted') participant.append(moved(5, 'assign', 'b', aToB));
        });
      },
    };
    const outcome = read(pruned);
    expect(outcome.observed.values.map((entry) => entry._tag)).toEqual(['ActiveContract', 'IncompleteUnassigned']);
    expect(restartsOf(outcome)).toMatchObject([{ cause: { _tag: 'PrunedError' } }]);
    const { observed } = read({ ...pruned, request: { activeAtOffset: 4 } });
    expect(observed).toMatchObject({ values: [], error: { _tag: 'PrunedError', earliestOffset: 4 } });
  });

  it('is never that of another contract', () => {
    const outcome = read({
      ...mispaired,
      ...one,
      fault: ({ path }) =>
        path === eventsPath
          ? ok({ created: { createdEvent: createdEvent({ contractId: 'c', offset: 1 }), synchronizerId: home } })
          : undefined,
    });
    expect(outline(outcome.observed.values)).toEqual(['a/a', 'b/b']);
    expect(earlier(outcome)).toEqual([4, 2]);
  });

  it('is requested again after a transient failure, and its failure ends the snapshot', () => {
    const busy = errorReply(503, errorBody('SERVER_IS_BUSY', 2));
    let count = 0;
    const passing = read({
      ...mispaired,
      ...one,
      fault: ({ path }) => (path === eventsPath && (count += 1) === 1 ? busy : undefined),
    });
    expect(outline(passing.observed.values)).toEqual(['a/a', 'b/b']);
    expect(restartsOf(passing)).toEqual([]);
    const lasting = read({ ...mispaired, ...one, fault: ({ path }) => (path === eventsPath ? busy : undefined) });
    expect(lasting.observed).toMatchObject({ values: [], error: { _tag: 'ApiError', code: 'SERVER_IS_BUSY' } });
  });

  it('is left out, as its unassignment in a feed, if the participant does not know the contract', () => {
    const outcome = read({
      ...one,
      count: 9,
      creations: 'unpruned',
      given: ({ participant }) => {
        participant.ledger.pruned = 5;
        participant.elementsAt = (offset) =>
          offset < 9
            ? [active({ contractId: 'a', offset: 1 }, home)]
            : [crossed('a', 'unknown', 8), crossed('a', 'a', 9)];
      },
    });
    expect(outline(outcome.observed.values)).toEqual(['a/a']);
    expect(outcome.observed.completed).toBe(true);
  });
});

describe('an unassigned event that is in no page', () => {
  const lacking: Scenario = {
    count: 3,
    given: ({ participant, client }) => {
      const { elementsAt } = participant;
      participant.elementsAt = (offset) =>
        offset === 3 ? [crossed('c1', 'c2', 3), crossed('c2', 'c2', 3)] : elementsAt(offset);
      client.diagnostics$.subscribe(({ _tag }) => {
        if (_tag === 'SnapshotRestarted') participant.append(create(4, 'd'));
      });
    },
  };

  it('begins the snapshot again at a later offset', () => {
    const outcome = read(lacking);
    expect(outline(outcome.observed.values)).toEqual(Array<string>(4).fill('ActiveContract'));
    expect(restartsOf(outcome)).toMatchObject([{ cause: { _tag: 'DecodeError', offset: 3 } }]);
  });

  it('is a DecodeError that names the contract if the offset is given, or if it does not come', () => {
    const { observed } = read({ ...lacking, request: { activeAtOffset: 3 } });
    const error = { _tag: 'DecodeError', path: listPath, offset: 3 };
    expect(observed).toMatchObject({ values: [], error, endedAt: 0 });
    expect(String(observed.error)).toContain('an unassigned event of the contract c1, which is in flight');
    const never: Scenario = {
      count: 3,
      given: ({ participant }) => {
        participant.elementsAt = () => [crossed('c1', 'c2', 3), crossed('c2', 'c2', 3)];
      },
    };
    expect(read(never).observed).toMatchObject({ values: [], error, endedAt: 300_000 });
  });
});

describe('changes that resume at an offset with an unassigned event that is in no page', () => {
  /** Of two contracts in flight at offset 4, the snapshot has one unassigned event. */
  const scenario = {
    given: [create(2, 'a', 'b'), unassign(3, 'a'), unassign(4, 'b')],
    options: { resumeFrom: 4 },
  };
  const lack = ({ participant }: ContractsWorld): void => {
    const { elementsAt } = participant;
    participant.elementsAt = (offset) =>
      offset === 4 ? [crossed('a', 'b', 4), crossed('b', 'b', 4)] : elementsAt(offset);
  };

  it('begin with all contracts at a later offset, as after a gap', () => {
    const { seen, diagnostics } = follow({ ...scenario, during: { 0: lack, 30_000: [moved(5, 'assign', 'a', aToB)] } });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual(['Reset 5 pruned a,b', 'CaughtUp 5']);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([
      { cursor: 4, cause: { _tag: 'DecodeError', offset: 4 }, resumesFrom: 5 },
    ]);
  });

  it('end with the error if the retry policy is over', () => {
    const { seen, diagnostics } = follow({ ...scenario, during: { 0: lack }, forMs: 3_600_000 });
    expect(seen).toMatchObject({ values: [], error: { _tag: 'DecodeError', offset: 4 } });
    // and not of each attempt
    expect(seen.endedAt).toBeGreaterThan(299_000);
    expect(seen.endedAt).toBeLessThan(301_000);
    expect(reported(diagnostics, 'GapFound')).toHaveLength(1);
  });

  it('end with the error at once if the query says so', () => {
    const { seen, diagnostics } = follow({ ...scenario, query: { ...marbles, onGap: 'fail' }, during: { 0: lack } });
    expect(seen).toMatchObject({ values: [], error: { _tag: 'DecodeError', offset: 4 } });
    expect(seen.endedAt).toBeLessThan(100);
    expect(reported(diagnostics, 'GapFound')[0]).not.toHaveProperty('resumesFrom');
  });

  it('end with another DecodeError at once', () => {
    const { seen, diagnostics } = follow({
      ...scenario,
      during: {
        0: ({ participant }) => {
          participant.elementsAt = () => [{ contractEntry: { JsUnheardOf: {} }, streamContinuationToken: '' }];
        },
      },
    });
    expect(seen).toMatchObject({ values: [], error: { _tag: 'DecodeError' } });
    expect(seen.endedAt).toBeLessThan(100);
    expect(reported(diagnostics, 'GapFound')).toEqual([]);
  });
});

describe('contracts in flight: the law', () => {
  const cases = fc.record({
    history: contractHistories({ maxEvents: 40 }),
    place: fc.nat(),
    prunedPlace: fc.option(fc.nat(), { nil: undefined }),
    size: fc.constantFrom(1, 1, 2, 3, 5, 500),
    creations: fc.constantFrom('found', 'unpruned', 'gone'),
    way: fc.constantFrom(...(Object.keys(ways) as (keyof typeof ways)[])),
  });

  it('is that of the updates from any snapshot on, whatever its pages, and however it is read (G28)', () => {
    fc.assert(
      fc.property(cases, ({ history, place, prunedPlace, size, way, ...virtual }) => {
        const offset = offsetIn(history, place);
        const pruned = prunedPlace === undefined ? 0 : Math.min(offset, offsetIn(history, prunedPlace));
        const outcome = read({
          ...ways[way],
          ...virtual,
          mispairs: true,
          history,
          request: { activeAtOffset: offset },
          options: { maxSnapshotPageSize: size },
          given: ({ participant }) => {
            participant.ledger.pruned = pruned;
          },
        });
        const { observed } = outcome;
        if (observed.error !== undefined) {
          // what it needs is pruned
          expect(observed).toMatchObject({ values: [], error: { _tag: 'PrunedError', earliestOffset: pruned } });
          expect(virtual.creations).not.toBe('found');
          return;
        }
        const expected = entriesAt(history, offset).map(decodeEntry);
        expect(observed.values.map(essence).sort()).toEqual(expected.map(essence).sort());
        for (const entry of observed.values)
          if (entry._tag === 'IncompleteUnassigned')
            expect(activationsOf(history, entry.createdEvent.contractId)).toContain(entry.createdEvent.offset);
        checkFold(new ContractsFold(makeContract()), history, offset, observed.values);
      }),
      { numRuns: effort(15, 5_000) },
    );
  });
});
