import { describe, expect, it } from '@jest/globals';
import { of, Subject, take, takeUntil, timer } from 'rxjs';
import type { UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import { contractsSource } from '../../src/contracts/ContractQuery.js';
import { join } from '../../src/contracts/join.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import { observe, type Observed } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld, listPath, pagePath } from '../helpers/virtualContracts.js';
import { checkpoint, errorBody, errorReply, ok, unknownVariant } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { brief, ids } from './brief.js';
import {
  archive,
  create,
  follow,
  home,
  marbles,
  missed,
  nothing,
  reported,
  unassign,
  undecodable,
} from './joinSupport.js';
import { transactionOf } from '../helpers/contractEvents.js';

useAverageDelays();

const isSnapshot = ({ path }: ServiceRequest): boolean => path === pagePath || path === listPath;
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');

/** A contract in each page of a snapshot. */
const inOnes = { maxSnapshotPageSize: 1 };

describe('the changes of contracts', () => {
  it('begin with all contracts at the ledger end, and have each update after it once (pitfall 15)', () => {
    const { seen } = follow({
      given: [create(2, 'a', 'b'), archive(4, 'a'), create(7, 'c')],
      during: { 2_000: [create(8, 'd'), unassign(9, 'b'), archive(11, 'c')] },
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 7 start b,c',
      'CaughtUp 7',
      'ContractsChanged 8 +d',
      'ContractsChanged 9 ~b',
      'ContractsChanged 11 -c',
    ]);
  });

  it('have what was committed while the snapshot was read', () => {
    const { seen } = follow({
      given: [create(2, 'a', 'b')],
      options: inOnes,
      fault: (request, _, { participant }) => {
        if (isSnapshot(request) && participant.ledger.end === 2) participant.append(archive(3, 'a'), create(5, 'c'));
        return undefined;
      },
    });
    expect(seen.values).toEqual(['Reset 2 start a,b', 'ContractsChanged 3 -a', 'ContractsChanged 5 +c', 'CaughtUp 5']);
  });

  it('have nothing of a snapshot that could not be completed', () => {
    const { seen } = follow({
      given: [create(2, 'a', 'b')],
      options: inOnes,
      fault: (request, count, { participant }) => {
        if (isSnapshot(request) && count === 3) {
          participant.append(archive(3, 'a'), create(5, 'c'));
          participant.ledger.pruned = 4;
        }
        return undefined;
      },
    });
    expect(seen.values).toEqual(['Reset 5 start b,c', 'CaughtUp 5']);
  });

  it('are requested in one format: that of the snapshot, of transactions and of reassignments (pitfall 25)', () => {
    const { service } = follow({ forMs: 1_000 });
    const snapshots = service.requests.filter(isSnapshot);
    const updates = service.requests.filter(isUpdates);
    expect(snapshots.length).toBeGreaterThan(0);
    expect(updates.length).toBeGreaterThan(0);
    const eventFormat = snapshots[0]?.body['eventFormat'];
    expect(JSON.stringify(eventFormat)).toContain('#marbles:Marbles:Marble');
    for (const { body } of snapshots) expect(body['eventFormat']).toEqual(eventFormat);
    for (const { body } of updates)
      expect(body['updateFormat'] as UpdateFormat).toEqual({
        includeTransactions: { eventFormat, transactionShape: 'TRANSACTION_SHAPE_ACS_DELTA' },
        includeReassignments: eventFormat,
      });
  });

  it('move on over ground without a change, by checkpoints (pitfall 30, pitfall 56)', () => {
    const { changes } = follow({
      during: {
        2_000: [nothing(4)],
        // filtered out
        20_000: ({ participant }) => (participant.ledger.end = 9),
        50_000: [{ offset: 12, element: checkpoint(12), events: [] }],
      },
    });
    expect(changes.error).toBeUndefined();
    // a checkpoint may come again
    const distinct = changes.values.filter(
      (change, i, { [i - 1]: before }) => brief(change) !== (before && brief(before)),
    );
    expect(distinct).toMatchObject([
      { _tag: 'Reset', offset: 2 },
      { _tag: 'CaughtUp', offset: 2 },
      { _tag: 'OffsetCheckpoint', offset: 4, synchronizerTimes: [] },
      { _tag: 'OffsetCheckpoint', offset: 9, synchronizerTimes: [] },
      { _tag: 'OffsetCheckpoint', offset: 12, synchronizerTimes: [{ synchronizerId: 'sync1::1220ab' }] },
    ]);
  });

  it('go on when a token expires, in the snapshot and after it (pitfall 34)', () => {
    let valid = 1;
    let offered = 1;
    const { seen } = follow({
      given: [create(2, 'a', 'b', 'c')],
      options: inOnes,
      client: { token: () => of(`token-${offered}`) },
      fault: ({ token }) => {
        if (token === `token-${valid}`) return undefined;
        offered = valid;
        return errorReply(401, errorBody('NA', -1));
      },
      during: {
        12: () => (valid = 2),
        3_000: ({ participant }) => {
          valid = 3;
          participant.append(create(3, 'd'), archive(4, 'd'));
        },
      },
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 2 start a,b,c',
      'CaughtUp 2',
      'ContractsChanged 3 +d',
      'ContractsChanged 4 -d',
    ]);
  });

  it('stop at an error that is permanent, and a new subscription begins anew (pitfall 51)', () => {
    let isForbidden = false;
    const again: Observed<ContractChange>[] = [];
    const { seen, service } = follow({
      fault: () => (isForbidden ? errorReply(403, errorBody('PERMISSION_DENIED', 7)) : undefined),
      during: {
        1_000: () => (isForbidden = true),
        30_000: ({ participant, client }) => {
          isForbidden = false;
          participant.append(create(3, 'b'));
          again.push(observe(contractChanges(client, marbles).pipe(takeUntil(timer(30_000)))));
        },
      },
    });
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
    expect(again[0]?.error).toBeUndefined();
    expect(again[0]?.values.map(brief)).toEqual(['Reset 3 start a,b', 'CaughtUp 3']);
    expect(service.open).toBe(0);
  });

  it('end with a DecodeError at an update of an unknown kind, after the changes before it', () => {
    const unknown = [{ offset: 5, element: unknownVariant(5), events: [] }];
    const { seen } = follow({
      during: {
        // a poll brings the first, and then a page the others
        100: missed(create(3, 'b'), create(4, 'c'), ...unknown, create(6, 'd')),
      },
    });
    expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 5 });
    const changes = seen.values.filter((line) => line.startsWith('ContractsChanged'));
    expect(changes).toEqual(['ContractsChanged 3 +b', 'ContractsChanged 4 +c']);
  });

  it('end with a DecodeError that does not quote it at an event or an entry of an unknown kind', () => {
    const novelty = { Novelty: { contractId: 'a', secret: 'payload' } };
    const ofEvent = follow({
      during: { 100: [{ offset: 3, element: transactionOf(3, home, [novelty]), events: [] }] },
    });
    const activeContracts = [{ workflowId: '', contractEntry: novelty }];
    const ofEntry = follow({
      fault: (request) =>
        isSnapshot(request) ? ok({ activeContracts, activeAtOffset: 2, nextPageToken: null }) : undefined,
    });
    expect(ofEvent.seen.error).toMatchObject({ _tag: 'DecodeError', offset: 3, updateId: '12203' });
    expect(ofEntry.seen).toMatchObject({ values: [], error: { _tag: 'DecodeError' } });
    for (const { seen } of [ofEvent, ofEntry]) expect(JSON.stringify(seen.error)).not.toContain('payload');
  });

  itInVirtualTime(
    'of a view end at an update that does not decode: the last state is stale, and the error says which update and what next',
    ({ flush }) => {
      const { participant, client } = contractsWorld();
      participant.append(create(2, 'a'));
      const view = liveContracts(client, marbles);
      const states = observe(view.state$);
      timer(1_000).subscribe(() => {
        participant.append(create(3, 'b'), undecodable(4), create(5, 'c'));
      });
      flush();
      const last = states.values.at(-1);
      expect(last).toMatchObject({ data: 'stale', offset: 3 });
      expect(last?.data === 'stale' && ids(last.contracts)).toBe('ab');
      expect(states.error).toMatchObject({ _tag: 'DecodeError', offset: 4, updateId: '12204' });
      expect((states.error as Error).message).toContain('Next: update canton-rx');
      // the next subscription begins after the update
      const again = observe(view.count$().pipe(take(1)));
      flush();
      expect(again.values).toEqual([3]);
    },
  );
});

describe('a step', () => {
  itInVirtualTime('is only requested when its subscriber is ready', ({ flush }) => {
    const { participant, service, client } = contractsWorld();
    participant.append(create(2, 'a'));
    const isReady$ = new Subject<unknown>();
    const source = contractsSource(client, { maxPageSize: 1 })();
    const seen = observe(join(source, { query: marbles }, isReady$).pipe(takeUntil(timer(10_000))));
    expect(seen.values).toMatchObject([{ items: [{ _tag: 'Reset' }], offset: 2, isCaughtUp: false }]);
    participant.append(create(3, 'b'), create(4, 'c'));
    // without the requests for the last update of the snapshot, and for that of its newest contract
    const before = service.requests.filter(isUpdates).length;
    const updates = (): number => service.requests.filter(isUpdates).length - before;
    // the ledger end
    isReady$.next(true);
    expect(updates()).toBe(0);
    isReady$.next(true);
    expect(updates()).toBe(1);
    expect(seen.values.at(-1)).toMatchObject({ items: [{ offset: 3 }], offset: 3, isCaughtUp: false });
    timer(5_000).subscribe(() => {
      expect(updates()).toBe(1);
      isReady$.next(true);
    });
    flush();
    expect(seen.values.at(-1)).toMatchObject({ items: [{ offset: 4 }], offset: 4, isCaughtUp: true });
    expect(ids(seen.values.at(-1)?.contracts ?? [])).toBe('abc');
  });
});

describe('a resumed subscription', () => {
  const given = [create(2, 'a', 'b'), archive(4, 'a'), create(6, 'c'), archive(8, 'b')];

  it('has the changes after its offset, and none before (pitfall 54)', () => {
    const { changes, service } = follow({ given, options: { resumeFrom: 4 } });
    expect(changes.error).toBeUndefined();
    expect(changes.values).toMatchObject([
      { _tag: 'ContractsChanged', offset: 6, added: [{ contractId: 'c' }] },
      { _tag: 'ContractsChanged', offset: 8, removed: [{ contractId: 'b', payload: { color: expect.any(String) } }] },
      { _tag: 'CaughtUp', offset: 8 },
    ]);
    expect(service.requests.filter(isSnapshot).map(({ body }) => body['activeAtOffset'])).toEqual([4]);
  });

  it('at the beginning of the ledger needs no snapshot', () => {
    const { seen, service } = follow({ given, options: { resumeFrom: 0 } });
    expect(seen.values).toEqual([
      'ContractsChanged 2 +a,b',
      'ContractsChanged 4 -a',
      'ContractsChanged 6 +c',
      'ContractsChanged 8 -b',
      'CaughtUp 8',
    ]);
    expect(service.requests.filter(isSnapshot)).toEqual([]);
  });

  /** Prunes the ledger before the first request. */
  const pruneAt = (offset: number): Parameters<typeof follow>[0] => ({
    fault: (_, count, { participant }) => {
      if (count === 1) participant.ledger.pruned = offset;
      return undefined;
    },
  });

  it('of an offset that is pruned begins with all contracts', () => {
    const { seen, diagnostics } = follow({ given, options: { resumeFrom: 4 }, ...pruneAt(6) });
    expect(seen.values).toEqual(['Reset 8 pruned c', 'CaughtUp 8']);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([
      { cursor: 4, cause: { _tag: 'PrunedError', earliestOffset: 6 }, resumesFrom: 8 },
    ]);
  });

  it('of an offset that the ledger has not reached begins with all contracts, after a while', () => {
    const { seen } = follow({ given, options: { resumeFrom: 99 }, client: { retry: { giveUpAfterMs: 10_000 } } });
    expect(seen.values).toEqual(['Reset 8 ledgerReset c', 'CaughtUp 8']);
    expect(seen.times[0]).toBeGreaterThan(9_000);
    expect(seen.times[0]).toBeLessThan(12_000);
  });

  it.each([-1, 1.5, Number.NaN])('of the offset %d is an invalid request', (resumeFrom) => {
    const { seen, service } = follow({ options: { resumeFrom } });
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError', problems: [{ path: 'resumeFrom' }] });
    expect(service.requests).toEqual([]);
  });
});
