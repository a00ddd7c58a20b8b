import { expect, it } from '@jest/globals';
import { firstValueFrom, tap, timer } from 'rxjs';
import { contractChanges } from '../../src/contracts/index.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { createSandbox, type Sandbox, type WireEventInput } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { until } from '../helpers/time.js';

const updateOf = (synchronizerId: string, event: WireEventInput) => ({
  Transaction: { value: { synchronizerId, events: [event] } },
});
const ended = '00aa';

/** Two participants of one ledger: the second one shows the contract that has ended after the one that is active. */
const participants = (): readonly [Sandbox, Sandbox] => {
  const first = createSandbox({ profile: '3.4', synchronizers: ['one::1220ab', 'two::1220ab'] });
  first.append(
    updateOf('two::1220ab', { CreatedEvent: { contractId: ended } }),
    updateOf('two::1220ab', { ArchivedEvent: { contractId: ended } }),
    updateOf('one::1220ab', { CreatedEvent: { contractId: '00bb' } }),
  );
  for (let replicaSeed = 1; ; replicaSeed += 1) {
    const second = createSandbox({ profile: '3.4', replicaOf: first, replicaSeed });
    if (JSON.stringify(second.updates[0]).includes('00bb')) return [first, second];
  }
};

it('a contract that has ended does not come back at a participant that shows its synchronizer later', async () => {
  const [first, second] = participants();
  let node = first;
  const ledger = createLedger({ baseUrl: 'http://sandbox', port: (request) => node.port(request) });
  let isMoved = false;
  ledger.diagnostics$.subscribe(({ _tag }) => {
    isMoved ||= _tag === 'PositionMoved';
  });
  const changes: unknown[] = [];
  const seen = observe(
    contractChanges(ledger, { parties: 'any' }, { onOtherNode: 'relocate', idleTimeoutMs: 100 }).pipe(
      tap((change) => {
        if (change._tag === 'Reset') changes.push(change.contracts.map(({ contractId }) => contractId));
        if (change._tag === 'ContractsChanged') changes.push([change.added, change.removed]);
      }),
    ),
  );
  await until(() => changes.length > 0);
  node = second;
  await until(() => isMoved);
  second.append(updateOf('one::1220ab', { CreatedEvent: { contractId: '00cc' } }));
  await until(() => changes.length > 1);
  await firstValueFrom(timer(0));
  seen.subscription.unsubscribe();
  expect(changes).toMatchObject([['00bb'], [[{ contractId: '00cc' }], []]]);
  await Promise.all([first.close(), second.close()]);
});
