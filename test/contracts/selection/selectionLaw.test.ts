import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject } from 'rxjs';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import { contractChanges } from '../../../src/contracts/contractChanges.js';
import { chooseSeed, effort } from '../../helpers/effort.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { alice, bob, carol, PartyWorld } from '../../helpers/PartyWorld.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { errorBody, errorReply } from '../../helpers/wire.js';
import { contractsAfter } from './told.js';

const unavailable = errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));

describe('a change of the parties in trouble (G82)', () => {
  const names = fc.array(fc.constantFrom('a', 'b', 'c', 'ab', 'bc', 'abc'), { minLength: 1, maxLength: 5 });
  const parties = fc.subarray([alice, bob, carol]);
  const outage = fc.record({ kind: fc.constant('outage' as const), requests: fc.integer({ min: 1, max: 6 }) });
  const restore = fc.record({
    kind: fc.constant('restore' as const),
    after: fc.integer({ min: 3, max: 9 }),
    by: fc.integer({ min: -4, max: 4 }),
    grows: fc.oneof(fc.constant([]), names),
  });

  it('ends with what the last parties see, each contract once, with an outage or a restore at any request', () => {
    const seed = chooseSeed();
    process.stdout.write(`selection trouble: seed ${seed}\n`);
    fc.assert(
      fc.property(
        fc.record({
          ...{ first: names, during: names, last: names, before: parties, after: parties },
          ...{ atRequest: fc.integer({ min: 1, max: 30 }), trouble: fc.oneof(outage, restore) },
          ignoresOrder: fc.boolean(),
        }),
        ({ first, during, last, before, after, atRequest, trouble, ignoresOrder }) => {
          const parties$ = new BehaviorSubject<readonly string[]>(before);
          const ledger = new PartyWorld();
          ledger.ignoresOrder = ignoresOrder;
          let count = 0;
          const create = (list: readonly string[]): void => {
            ledger.create(...list.map((name) => `${name}${(count += 1)}`));
          };
          // what nobody sees, so that a restore can move the rest to smaller offsets
          const skip = (): void => {
            ledger.world.participant.ledger.end += 4;
          };
          skip();
          // without an update that the parties see, nothing shows a restore
          ledger.create('abc0');
          create(first);
          let requests = -Infinity;
          ledger.fault = () => {
            requests += 1;
            if (trouble.kind === 'outage')
              return requests >= atRequest && requests < atRequest + trouble.requests ? unavailable : undefined;
            if (requests !== atRequest) return undefined;
            ledger.move(trouble.by < 0 ? 0 : trouble.after, trouble.by);
            create(trouble.grows);
            return undefined;
          };
          let seen: Observed<ContractChange> | undefined;
          runVirtually(() => {
            const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
            later(1_000, () => {
              requests = 0;
              parties$.next(after);
            });
            later(1_150, () => {
              create(during);
              ledger.archive(`${first[0] ?? ''}1`);
            });
            later(60_000, () => {
              create(last);
            });
            later(900_000, () => {
              changes.subscription.unsubscribe();
            });
          });
          expect(seen?.error).toBeUndefined();
          const changes = seen?.values ?? [];
          const resets = changes.flatMap((change) => (change._tag === 'Reset' ? [change.reason] : []));
          // of a restored participant that has nothing to show it, the contracts are read again
          if (trouble.kind === 'outage') expect(resets).toEqual(['start']);
          expect(contractsAfter(changes)).toEqual(ledger.seenBy(after));
          expect(ledger.world.service.open).toBe(0);
        },
      ),
      { seed, numRuns: effort(60, 1_000, 150) },
    );
  });
});
