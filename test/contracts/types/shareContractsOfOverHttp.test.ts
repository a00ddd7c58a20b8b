import { afterEach, describe, expect, it } from '@jest/globals';
import * as t from 'io-ts';
import { filter, firstValueFrom, map } from 'rxjs';
import { contractType, interfaceType } from '../../../src/codecs/TemplateType.js';
import type { AnyContract, ContractTypes } from '../../../src/contracts/Contract.js';
import { liveContracts, shareContractsOf, type SharedContracts } from '../../../src/contracts/index.js';
import { createLedger } from '../../../src/ledger/createLedger.js';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { webSocketTransport } from '../../../src/ws/index.js';
import { sandboxes } from '../../helpers/localServers.js';
import { observe } from '../../helpers/observe.js';
import { until } from '../../helpers/time.js';

const start = sandboxes();
const opened: SharedContracts[] = [];
afterEach(() => {
  for (const shared of opened.splice(0)) shared.clear();
});

const types = {
  asset: contractType('#sandbox-assets:Main:Asset', t.UnknownRecord),
  offer: contractType('#sandbox-assets:Main:Offer', t.UnknownRecord),
  task: contractType('#sandbox-tasks:Tasks.Model:Task', t.UnknownRecord),
  holding: interfaceType('#sandbox-api:Api:Holding', t.UnknownRecord),
} as const;

const idsOf = (contracts: Iterable<AnyContract>): readonly string[] =>
  [...contracts].map(({ contractId }) => contractId).sort();

/** The contracts of some types now, by a snapshot. */
const contractsNow = (sandbox: Sandbox, selected: ContractTypes): Promise<readonly string[]> =>
  firstValueFrom(
    liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: 'any', types: selected })
      .all$()
      .pipe(map(idsOf)),
  );

describe('views that are read together over HTTP', () => {
  it.each([
    ['polls', undefined],
    ['a WebSocket', webSocketTransport()],
  ])(
    'follow the ledger by %s: one feed for all, through a restart, each with the contracts of its types',
    async (_, transport) => {
      const sandbox = await start({});
      sandbox.generate(200, { seed: 3 });
      const ledger = createLedger({ baseUrl: sandbox.url, transport, retry: { baseDelayMs: 1, maxDelayMs: 20 } });
      const shared = shareContractsOf(ledger, Object.values(types), { keepMs: 0 });
      opened.push(shared);
      const selections = [
        { asset: types.asset },
        { task: types.task, offer: types.offer },
        { holding: types.holding },
        { asset: types.asset, holding: types.holding },
      ];
      const views = selections.map((selected) => shared.view({ types: selected, parties: 'any' }));
      const seen = views.map(({ state$ }) => observe(state$.pipe(filter(({ data }) => data === 'live'))));
      await until(() => seen.every(({ values }) => values.length > 0));
      sandbox.generate(40, { seed: 4 });
      const restarted = sandbox.restart();
      await restarted;
      sandbox.generate(40, { seed: 5 });
      for (const [index, selected] of selections.entries()) {
        const expected = await contractsNow(sandbox, selected);
        expect(expected.length).toBeGreaterThan(0);
        const isThere = (): boolean => {
          const state = seen[index]?.values.at(-1);
          return state?.data === 'live' && idsOf(state.contracts).join() === expected.join();
        };
        await until(isThere);
      }
      const snapshots = sandbox.requests.filter(({ path }) => path.includes('/v2/state/active-contracts')).length;
      // one for the views, and one for each comparison
      expect(snapshots).toBe(1 + selections.length);
      for (const { subscription, error } of seen) {
        expect(error).toBeUndefined();
        subscription.unsubscribe();
      }
    },
  );
});
