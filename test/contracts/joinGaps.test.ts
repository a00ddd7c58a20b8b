import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { contractsSource } from '../../src/contracts/ContractQuery.js';
import { join } from '../../src/contracts/join.js';
import { transactionOf } from '../helpers/contractEvents.js';
import { entriesAt, type HistoryUpdate } from '../helpers/contractHistory.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import { useAverageDelays } from './averageDelays.js';
import { ids } from './brief.js';
import { archive, create, follow, home, marbles, missed, nothing, pruned, reported } from './joinSupport.js';

useAverageDelays();

const isPage = ({ path }: ServiceRequest): boolean => path === pagePath;
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isLedgerEnd = ({ path }: ServiceRequest): boolean => path === '/v2/state/ledger-end';
const refusal = errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '5' }));

describe('after a gap', () => {
  it('by pruning, all contracts are read again, and say why (pitfall 32) (G30)', () => {
    let isDown = false;
    const { seen, diagnostics } = follow({
      given: [create(2, 'a', 'b')],
      fault: () => (isDown ? new Error('ECONNREFUSED') : undefined),
      during: {
        1_000: (world) => {
          isDown = true;
          pruned(5, archive(3, 'a'), create(5, 'c'), create(6, 'd'))(world);
        },
        5_000: () => (isDown = false),
      },
    });
    expect(seen.error).toBeUndefined();
    const before = ['Reset 2 start a,b', 'CaughtUp 2', 'FellBehind 2'];
    expect(seen.values).toEqual([...before, 'Reset 6 pruned b,c,d', 'CaughtUp 6']);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([
      { cursor: 2, cause: { _tag: 'PrunedError', earliestOffset: 5 }, resumesFrom: 6, feed: 1 },
    ]);
    expect(reported(diagnostics, 'FeedStarted')).toMatchObject([{ beginExclusive: 2 }, { beginExclusive: 6 }]);
  });

  it('by the restore of a backup, all contracts are read again, also those that existed before (G30)', () => {
    const { seen } = follow({
      given: [create(2, 'a', 'b'), create(5, 'c'), archive(7, 'a')],
      client: { retry: { giveUpAfterMs: 10_000 } },
      during: {
        2_000: ({ participant }) => {
          participant.ledger.restore(5);
        },
      },
    });
    expect(seen.error).toBeUndefined();
    const before = ['Reset 7 start b,c', 'CaughtUp 7', 'FellBehind 7'];
    expect(seen.values).toEqual([...before, 'Reset 5 ledgerReset a,b,c', 'CaughtUp 5']);
    // only after the time of the policy
    expect(seen.times[2]).toBeGreaterThan(12_000);
  });

  itInVirtualTime('the contracts before it stay as they are until the others are complete', ({ flush }) => {
    let isPruned = false;
    const world = contractsWorld({
      latencyMs: 5,
      fault: (request) =>
        isPruned && isUpdates(request) && request.body['beginExclusive'] === 2 ? refusal : undefined,
    });
    world.participant.append(create(2, 'a'));
    const source = contractsSource(world.client, { maxSnapshotPageSize: 1 })();
    const seen = observe(join(source, { query: marbles }).pipe(takeUntil(timer(60_000))));
    const idsOf = (index: number): string => ids(seen.values.at(index)?.contracts ?? []);
    timer(1_000).subscribe(() => {
      isPruned = true;
      missed(create(6, 'x', 'y', 'z'))(world);
    });
    timer(1_020).subscribe(() => {
      expect(idsOf(-1)).toBe('a');
    });
    flush();
    expect([idsOf(0), idsOf(-1)]).toEqual(['a', 'axyz']);
  });

  it('nothing is read again if the caller says so: the error of the gap ends it (G30)', () => {
    const { seen, diagnostics } = follow({
      query: { ...marbles, onGap: 'fail' },
      during: { 1_000: pruned(5, create(6, 'b')) },
    });
    expect(seen.values).toEqual(['Reset 2 start a', 'CaughtUp 2']);
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 5 });
    expect(reported(diagnostics, 'GapFound')).toMatchObject([{ cursor: 2, cause: { _tag: 'PrunedError' } }]);
    expect(reported(diagnostics, 'GapFound')[0]).not.toHaveProperty('resumesFrom');
    expect(reported(diagnostics, 'FeedEnded')).toHaveLength(1);
  });

  it('a participant that prunes all at once is asked less and less often, and for a limited time', () => {
    const { seen, service } = follow({
      client: { retry: { giveUpAfterMs: 60_000 } },
      fault: (request) => (isUpdates(request) ? refusal : undefined),
      forMs: 200_000,
    });
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', retried: { times: expect.any(Number) } });
    expect(seen.values[0]).toBe('Reset 2 start a');
    expect(seen.endedAt).toBeGreaterThan(60_000);
    expect(seen.endedAt).toBeLessThan(70_000);
    expect(service.requests.filter(isPage).length).toBeLessThan(20);
    const waits = seen.times.map((ms, i) => ms - (seen.times[i - 1] ?? 0));
    expect(Math.max(...waits)).toBeGreaterThan(10_000);
  });

  it('without retries, the contracts are read again once', () => {
    const { seen, service } = follow({
      client: { retry: { giveUpAfterMs: 0 } },
      fault: (request) => (isUpdates(request) ? refusal : undefined),
    });
    const resets = seen.values.filter((line) => line.startsWith('Reset'));
    expect(resets).toEqual(['Reset 2 start a', 'Reset 2 pruned a']);
    expect(seen.error).toMatchObject({ _tag: 'PrunedError' });
    expect(service.requests.filter(isPage)).toHaveLength(2);
  });

  it('the contracts of a replica that lags are not taken: they would be older than the changes before (pitfall 35)', () => {
    let lagsUntil = 0;
    let isPruned = false;
    const { seen } = follow({
      given: [create(2, 'a'), create(4, 'b')],
      fault: (request) => {
        if (isPruned && isUpdates(request) && Number(request.body['beginExclusive']) <= 4) return refusal;
        return isLedgerEnd(request) && lagsUntil > asyncScheduler.now() ? ok({ offset: 2 }) : undefined;
      },
      during: {
        1_000: (world) => {
          isPruned = true;
          lagsUntil = asyncScheduler.now() + 4_000;
          missed()(world);
        },
        3_000: [create(6, 'c')],
      },
    });
    expect(seen.error).toBeUndefined();
    const before = ['Reset 4 start a,b', 'CaughtUp 4', 'FellBehind 4'];
    expect(seen.values).toEqual([...before, 'Reset 6 pruned a,b,c', 'CaughtUp 6']);
  });

  it('an error that ends the reload also reports the gap', () => {
    let isOver = false;
    const { seen, diagnostics } = follow({
      fault: (request) => {
        if (!isOver) return undefined;
        if (isUpdates(request)) return refusal;
        return isPage(request) ? errorReply(403, errorBody('PERMISSION_DENIED', 7)) : undefined;
      },
      during: { 1_000: () => (isOver = true) },
    });
    expect(seen.values).toEqual(['Reset 2 start a', 'CaughtUp 2', 'FellBehind 2']);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([{ cursor: 2, cause: { _tag: 'PrunedError' } }]);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
  });
});

describe('an update of an unknown kind', () => {
  it('is not before the position of the changes that come before the error', () => {
    const { seen } = followSteps([create(3, 'b'), unknown(4), create(5, 'c')]);
    expect(seen.error).toMatchObject({ _tag: 'DecodeError', offset: 4 });
    expect(seen.values.at(-1)).toMatchObject({
      offset: 3,
      position: { offset: 3, lastUpdate: { offset: 3, updateId: '12203' } },
    });
  });
});

/** Follows the contracts of a ledger on which updates appear in one page. */
function followSteps(updates: readonly HistoryUpdate[]) {
  return new TestScheduler(() => undefined).run(({ flush }) => {
    const world = contractsWorld({ latencyMs: 5 });
    world.participant.append(create(2, 'a'), ...updates);
    const source = contractsSource(world.client, {})();
    const seen = observe(join(source, { query: marbles, resumeFrom: 2 }).pipe(takeUntil(timer(60_000))));
    flush();
    return { seen };
  });
}

/** A transaction with an event of a kind that only later releases have. */
const unknown = (offset: number): HistoryUpdate => ({
  offset,
  element: transactionOf(offset, home, [{ SplitEvent: { offset, nodeId: 0, contractId: 'a' } }]),
  events: [],
});

describe('contracts that are read again at a position', () => {
  itInVirtualTime('end at once if what shows it is pruned, and the participant does not report its ID', ({ flush }) => {
    const world = contractsWorld({ latencyMs: 5 });
    world.participant.append(create(2, 'a'), nothing(4), create(6, 'b'), nothing(8));
    world.participant.ledger.pruned = 5;
    const source = contractsSource(world.client, {})();
    const lastUpdate = { offset: 6, updateId: 'moved' };
    const recordTimes = { [home]: { recordTime: '2026-07-24T09:00:00Z', updateId: 'moved' } };
    const position = { offset: 6, participantId: undefined, lastUpdate, recordTimes };
    const seen = observe(join(source, { query: marbles, resumeFrom: 6, position }).pipe(takeUntil(timer(60_000))));
    flush();
    expect(seen.error).toMatchObject({ _tag: 'PrunedError', earliestOffset: 5 });
    expect(seen.values).toEqual([]);
    expect(seen.endedAt).toBeLessThan(1_000);
  });

  itInVirtualTime('are not those of a ledger that has taken the place of the first meanwhile', ({ flush }) => {
    let isReplaced = false;
    const others = [create(2, 'x'), nothing(4)];
    const world = contractsWorld({
      latencyMs: 5,
      participantId: 'p1',
      fault: (request) => {
        if (!isPage(request) || isReplaced) return undefined;
        isReplaced = true;
        world.participant.elementsAt = (offset) => entriesAt(others, offset);
        world.participant.ledger.replace(others, 4, 'p2');
        return undefined;
      },
    });
    world.participant.append(create(2, 'a'), nothing(4));
    const source = contractsSource(world.client, {})();
    const position = { offset: 2, participantId: 'p1', recordTimes: {} };
    const compare = () => 'appeared' as const;
    const query = { ...marbles, onGap: 'fail' } as const;
    const seen = observe(join(source, { query, resumeFrom: 2, position, compare }).pipe(takeUntil(timer(60_000))));
    flush();
    expect(isReplaced).toBe(true);
    expect(seen.values).toEqual([]);
    expect(seen.error).toMatchObject({ _tag: 'LedgerResetError' });
  });
});
