import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { liveContracts } from '../../src/contracts/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const start = sandboxes();

it('a live view does not retain a contract of its first snapshot that was archived', async () => {
  const sandbox = await start();
  const party = sandbox.hostedParty('alice');
  const create = (contractId: string) =>
    sandbox.append({ Transaction: { value: { events: [{ CreatedEvent: { contractId, signatories: [party] } }] } } });
  create('00aa');
  create('00bb');
  const view = liveContracts(createLedger({ baseUrl: sandbox.url }), { parties: [party] });
  const watching = view.state$.subscribe();
  const withSize = (size: number) =>
    firstValueFrom(view.state$.pipe(filter((state) => state.data === 'live' && state.contracts.size === size)));
  const held = await withSize(2).then((state) => {
    const contract = state.data === 'live' ? state.contracts.get('00aa') : undefined;
    return contract && new WeakRef(contract);
  });
  expect(held?.deref()?.contractId).toBe('00aa');
  sandbox.append({ Transaction: { value: { events: [{ ArchivedEvent: { contractId: '00aa' } }] } } });
  await withSize(1);
  // the last change has the contract that it removes
  create('00cc');
  await withSize(2);
  await until(() => {
    collect();
    return held?.deref() === undefined;
  });
  watching.unsubscribe();
});
