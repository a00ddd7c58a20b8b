import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { asyncScheduler, takeUntil, timer } from 'rxjs';
import { contractsSource } from '../../src/contracts/ContractQuery.js';
import { join } from '../../src/contracts/join.js';
import { observe } from '../helpers/observe.js';
import type { ServiceRequest } from '../helpers/scripted.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld, pagePath } from '../helpers/virtualContracts.js';
import { errorBody, errorReply, ok } from '../helpers/wire.js';
import { archive, create, follow, marbles, reported } from './joinSupport.js';

beforeEach(() => {
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const isPage = ({ path }: ServiceRequest): boolean => path === pagePath;
const isUpdates = ({ path }: ServiceRequest): boolean => path.startsWith('/v2/updates');
const isLedgerEnd = ({ path }: ServiceRequest): boolean => path === '/v2/state/ledger-end';
const pruned = errorReply(400, errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, { earliest_offset: '5' }));

describe('after a gap', () => {
  it('by pruning, all contracts are read again, and say why (pitfall 32) (G30)', () => {
    let isDown = false;
    const { seen, diagnostics } = follow({
      given: [create(2, 'a', 'b')],
      fault: () => (isDown ? new Error('ECONNREFUSED') : undefined),
      during: {
        1_000: ({ participant }) => {
          isDown = true;
          participant.ledger.disconnect();
          participant.append(archive(3, 'a'), create(5, 'c'), create(6, 'd'));
          participant.ledger.pruned = 5;
        },
        5_000: () => {
          isDown = false;
        },
      },
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 2 start a,b',
      'CaughtUp 2',
      'FellBehind 2',
      'Reset 6 pruned b,c,d',
      'CaughtUp 6',
    ]);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([
      { cursor: 2, cause: { _tag: 'PrunedError', earliestOffset: 5 }, resumesFrom: 6, feed: 1 },
    ]);
    expect(reported(diagnostics, 'FeedStarted')).toMatchObject([{ beginExclusive: 2 }, { beginExclusive: 6 }]);
  });

  it('by the restore of a backup, all contracts are read again, also those that existed before (G30)', () => {
    const { seen } = follow({
      given: [create(2, 'a', 'b'), create(5, 'c'), archive(7, 'a')],
      during: {
        2_000: ({ participant }) => {
          participant.ledger.restore(5);
        },
      },
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 7 start b,c',
      'CaughtUp 7',
      'FellBehind 7',
      'Reset 5 ledgerReset a,b,c',
      'CaughtUp 5',
    ]);
    // only after a grace period
    expect(seen.times[2]).toBeGreaterThan(12_000);
  });

  itInVirtualTime('the contracts before it stay as they are until the others are complete', ({ flush }) => {
    let isPruned = false;
    const { participant, client } = contractsWorld({
      latencyMs: 5,
      fault: (request) => (isPruned && isUpdates(request) && request.body['beginExclusive'] === 2 ? pruned : undefined),
    });
    participant.append(create(2, 'a'));
    const source = contractsSource(client, { maxSnapshotPageSize: 1 })();
    const seen = observe(join(source, { query: marbles }).pipe(takeUntil(timer(60_000))));
    const keys = (index: number): string[] =>
      [...(seen.values.at(index)?.contracts ?? [])].map(({ contractId }) => contractId);
    timer(1_000).subscribe(() => {
      isPruned = true;
      participant.ledger.disconnect();
      participant.append(create(6, 'x', 'y', 'z'));
    });
    timer(1_020).subscribe(() => {
      expect(keys(-1)).toEqual(['a']);
    });
    flush();
    expect(keys(0)).toEqual(['a']);
    expect(keys(-1)).toEqual(['a', 'x', 'y', 'z']);
  });

  it('nothing is read again if the caller says so: the error of the gap ends it (G30)', () => {
    const { seen, diagnostics } = follow({
      query: { ...marbles, onGap: 'fail' },
      during: {
        1_000: ({ participant }) => {
          participant.ledger.disconnect();
          participant.append(create(6, 'b'));
          participant.ledger.pruned = 5;
        },
      },
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
      fault: (request) => (isUpdates(request) ? pruned : undefined),
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
      fault: (request) => (isUpdates(request) ? pruned : undefined),
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
        if (isPruned && isUpdates(request) && request.body['beginExclusive'] === 4) return pruned;
        return isLedgerEnd(request) && lagsUntil > asyncScheduler.now() ? ok({ offset: 2 }) : undefined;
      },
      during: {
        1_000: ({ participant }) => {
          isPruned = true;
          lagsUntil = asyncScheduler.now() + 4_000;
          participant.ledger.disconnect();
        },
        3_000: ({ participant }) => {
          participant.append(create(6, 'c'));
        },
      },
    });
    expect(seen.error).toBeUndefined();
    expect(seen.values).toEqual([
      'Reset 4 start a,b',
      'CaughtUp 4',
      'FellBehind 4',
      'Reset 6 pruned a,b,c',
      'CaughtUp 6',
    ]);
  });

  it('an error that ends the reload also reports the gap', () => {
    let isOver = false;
    const { seen, diagnostics } = follow({
      fault: (request) => {
        if (!isOver) return undefined;
        if (isUpdates(request)) return pruned;
        return isPage(request) ? errorReply(403, errorBody('PERMISSION_DENIED', 7)) : undefined;
      },
      during: {
        1_000: () => {
          isOver = true;
        },
      },
    });
    expect(seen.values).toEqual(['Reset 2 start a', 'CaughtUp 2', 'FellBehind 2']);
    expect(reported(diagnostics, 'GapFound')).toMatchObject([{ cursor: 2, cause: { _tag: 'PrunedError' } }]);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'PERMISSION_DENIED' });
  });
});
