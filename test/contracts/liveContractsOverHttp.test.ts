import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { map, type Observable, take, takeUntil, timer } from 'rxjs';
import { contractChanges } from '../../src/contracts/contractChanges.js';
import type { ContractsOptions } from '../../src/contracts/ContractQuery.js';
import { conflate } from '../../src/contracts/conflate.js';
import { liveContracts } from '../../src/contracts/liveContracts.js';
import type { LiveState } from '../../src/contracts/LiveState.js';
import type { LedgerOptions } from '../../src/ledger/LedgerOptions.js';
import { effort } from '../helpers/effort.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime } from '../helpers/time.js';
import { contractsWorld, pagePath } from '../helpers/virtualContracts.js';
import { useAverageDelays } from './averageDelays.js';
import { briefState, ids } from './brief.js';
import { archive, create, marbles, toBrief, unassign } from './joinSupport.js';

useAverageDelays();
afterEach(() => {
  jest.useRealTimers();
});

const briefly = (state$: Observable<LiveState>): Observable<string> => state$.pipe(map(briefState));

describe('a live view over HTTP', () => {
  itInVirtualTime(
    'shows the snapshot and then each change, by one snapshot and one feed for all (pitfall 46)',
    ({ flush }) => {
      const { participant, client, service } = contractsWorld({ latencyMs: 5 });
      participant.append(create(2, 'a', 'b'));
      const view = liveContracts(client, marbles);
      const end$ = timer(10_000);
      const states = observe(briefly(view.state$).pipe(takeUntil(end$)));
      const lists = observe(view.all$().pipe(map(ids), takeUntil(end$)));
      timer(1_000).subscribe(() => {
        participant.append(create(3, 'c'));
      });
      timer(2_000).subscribe(() => {
        participant.append(unassign(4, 'c'), archive(5, 'a'));
      });
      const seen: ReturnType<typeof observe<string>>[] = [];
      timer(1_500).subscribe(() => {
        seen.push(observe(view.changes$.pipe(toBrief(), takeUntil(end$))));
      });
      flush();
      expect(states.error).toBeUndefined();
      expect(states.values).toEqual([
        'loading/connecting',
        'loading/open',
        'stale/open 2 ab',
        'live/open 2 ab',
        'live/open 3 abc',
        'live/open 4 abc',
        'live/open 5 bc',
      ]);
      expect(lists.values).toEqual(['ab', 'abc', 'abc', 'bc']);
      expect(seen[0]?.values).toEqual([
        'Reset 3 start a,b,c',
        'CaughtUp 3',
        'ContractsChanged 4 ~c',
        'ContractsChanged 5 -a',
      ]);
      expect(service.requests.filter(({ path }) => path === pagePath)).toHaveLength(1);
      expect(service.open).toBe(0);
    },
  );

  itInVirtualTime(
    'keeps its contracts as stale ones while the service is down for an hour, unless a policy limits that (pitfall 31) (G33)',
    ({ flush }) => {
      let isDown = false;
      const world = (client: Partial<LedgerOptions> = {}) =>
        contractsWorld({ latencyMs: 5, fault: () => (isDown ? new Error('ECONNREFUSED') : undefined), client });
      const [plain, limited] = [world(), world({ retry: { giveUpAfterMs: 10 * 60_000 } })];
      for (const { participant } of [plain, limited]) participant.append(create(2, 'a'));
      const end$ = timer(70 * 60_000);
      const stateOf = ({ client }: typeof plain, options: ContractsOptions = {}) =>
        observe(briefly(liveContracts(client, marbles, options).state$).pipe(takeUntil(end$)));
      const unlimited = liveContracts(plain.client, marbles, { retry: { giveUpAfterMs: undefined } });
      const live = observe(briefly(unlimited.state$).pipe(takeUntil(end$)));
      const changes = observe(unlimited.changes$.pipe(toBrief(), takeUntil(end$)));
      const snapshots = (): number => plain.service.requests.filter(({ path }) => path === pagePath).length;
      const ending = [stateOf(plain, { retry: { giveUpAfterMs: 20 * 60_000 } }), stateOf(limited)];
      ending.push(observe(contractChanges(plain.client, marbles).pipe(toBrief())));
      let before = 0;
      timer(60_000).subscribe(() => {
        isDown = true;
        before = snapshots();
        plain.participant.ledger.disconnect();
        limited.participant.ledger.disconnect();
      });
      timer(30 * 60_000).subscribe(() => {
        plain.participant.append(create(3, 'b'));
      });
      timer(61 * 60_000).subscribe(() => (isDown = false));
      flush();
      expect(live.error).toBeUndefined();
      const distinct = live.values.filter((state, i) => state !== live.values[i - 1]);
      expect(distinct.slice(3)).toEqual(['live/open 2 a', 'stale/retrying 2 a', 'stale/open 2 a', 'live/open 3 ab']);
      expect(changes.values).toEqual(['Reset 2 start a', 'CaughtUp 2', 'ContractsChanged 3 +b']);
      expect(snapshots()).toBe(before);
      const ended = ending.map(({ endedAt = 0 }) => Math.round((endedAt - 60_000) / 60_000));
      expect(ended).toEqual([20, 10, 5]);
      expect(ending[0]?.error).toMatchObject({ _tag: 'ConnectionError' });
    },
  );

  it('leaves no request and no timer, at whatever time its last subscriber leaves (pitfall 45)', () => {
    jest.restoreAllMocks();
    jest.useFakeTimers();
    const { participant, client, service } = contractsWorld({
      latencyMs: 3,
      fault: (_, count) => (count % 7 === 0 ? new Error('ECONNRESET') : undefined),
    });
    participant.append(create(2, 'a', 'b'));
    const view = liveContracts(client, marbles, { maxSnapshotPageSize: 1 });
    const slow = conflate(view, 10);
    const rounds = effort(200, 10_000);
    for (let round = 0; round < rounds; round += 1) {
      const subscriptions = [view.state$, slow.all$(), view.atOffset(2).pipe(take(1))].map(
        (each$: Observable<unknown>) => each$.subscribe(),
      );
      jest.advanceTimersByTime(round % 29);
      for (const subscription of subscriptions) subscription.unsubscribe();
      if (service.open > 0 || jest.getTimerCount() > 0) throw new Error(`left open in round ${round}`);
    }
    // in the other rounds, all requests had an answer, or the next attempt was due later
    expect(service.aborted.length).toBeGreaterThan(rounds / 3);
    expect(service.open).toBe(0);
    expect(jest.getTimerCount()).toBe(0);
  });
});
