import { describe, expect, it } from '@jest/globals';
import { BehaviorSubject, filter } from 'rxjs';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import { contractChanges } from '../../../src/contracts/contractChanges.js';
import { liveContracts } from '../../../src/contracts/liveContracts.js';
import type { LiveState } from '../../../src/contracts/LiveState.js';
import { crossed } from '../../helpers/contractEvents.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { alice, bob, carol, PartyWorld } from '../../helpers/PartyWorld.js';
import { partiesIn } from '../../helpers/partyHistory.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';
import { errorBody, errorReply } from '../../helpers/wire.js';
import { contractsAfter, told } from './told.js';

const unavailable = errorReply(503, errorBody('SERVICE_NOT_RUNNING', 1));

describe('a change of the parties in trouble (G82)', () => {
  /** What a subscriber gets of parties that change at one second, while something happens to the participant. */
  const changesOf = (
    ledger: PartyWorld,
    [before, after]: readonly [readonly string[], readonly string[]],
    happens: (() => void) | readonly [number, () => void][],
    forMs = 30_000,
  ): Observed<ContractChange> => {
    const parties$ = new BehaviorSubject(before);
    let seen: Observed<ContractChange> | undefined;
    runVirtually(() => {
      const changes = (seen = observe(contractChanges(ledger.client, { parties: parties$ })));
      later(1_000, () => {
        parties$.next(after);
      });
      for (const [ms, action] of typeof happens === 'function' ? [[1_000, happens] as const] : happens)
        later(ms, action);
      later(forMs, () => {
        changes.subscription.unsubscribe();
      });
    });
    if (seen === undefined) throw new Error('nothing was observed');
    return seen;
  };

  const refuse = (ledger: PartyWorld, party: string): void => {
    ledger.fault = ({ body }) =>
      partiesIn(body).includes(party) ? errorReply(403, errorBody('PERMISSION_DENIED', 7)) : undefined;
  };

  it.each([
    ['another one', [bob]],
    ['the others', [bob, carol]],
    ['none', []],
  ])('takes %s instead of a party that may no longer be read', (_, after) => {
    const ledger = new PartyWorld('a1', 'b2', 'c3');
    const seen = changesOf(ledger, [[alice], after], () => {
      refuse(ledger, alice);
    });
    expect(seen.error).toBeUndefined();
    expect(contractsAfter(seen.values)).toEqual(ledger.seenBy(after));
  });

  it('ends with the error if it is the right of a new party that is missing', () => {
    const ledger = new PartyWorld('a1', 'b2');
    refuse(ledger, bob);
    expect(changesOf(ledger, [[alice], [alice, bob]], []).error).toMatchObject({ _tag: 'ApiError', status: 403 });
  });

  it('reads the contracts again if another ledger has taken the place of this one', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const other = new PartyWorld('b1', 'c2', 'c3', 'a4');
    const seen = changesOf(ledger, [[alice], [bob]], () => {
      ledger.becomes(other);
    });
    expect(told(seen)).toEqual(['start@2 a1', 'ledgerReset@4 b1']);
  });

  it('ends once, not twice, after the time of the retries', () => {
    const ledger = new PartyWorld('a1', 'b2');
    let isDown = false;
    ledger.fault = ({ path }) => (isDown && !path.includes('active-contracts') ? unavailable : undefined);
    const seen = changesOf(ledger, [[alice], [bob]], [[1_000, () => (isDown = true)]], 2_000_000);
    expect(seen.error).toMatchObject({ _tag: 'ApiError', status: 503 });
    expect(seen.endedAt).toBeLessThan(320_000);
  });

  it('is tried again after ten seconds, or at the next offset, where the contracts cannot be read', () => {
    const ledger = new PartyWorld('a1', 'b2', 'b3');
    const { participant } = ledger.world;
    const { elementsAt } = participant;
    participant.elementsAt = (offset) =>
      offset === 3 ? [...elementsAt(1), crossed('b2', 'b3', 3), crossed('b3', 'b3', 3)] : elementsAt(offset);
    const seen = changesOf(
      ledger,
      [[alice], [alice, bob]],
      [
        [
          35_000,
          () => {
            ledger.create('a4');
          },
        ],
      ],
      40_000,
    );
    expect(told(seen)).toEqual(['start@3 a1', 'update@4 +a4', 'selectionChanged@4 +b2 +b3']);
    // at 1, 11, 21 and 31 seconds, and at the next offset
    expect(ledger.snapshots.slice(1)).toHaveLength(5);
  });

  it('leaves a position that a restored participant shows, also where the last update was of a party that went', () => {
    const ledger = new PartyWorld('a1', 'b2');
    const seen = changesOf(
      ledger,
      [[alice, bob], [alice]],
      [
        [
          5_000,
          () => {
            ledger.move(0, 2);
          },
        ],
        [
          9_000,
          () => {
            ledger.create('a3');
          },
        ],
      ],
    );
    expect(told(seen)).toEqual(['start@2 a1 b2', 'selectionChanged@2 -b2', 'update@5 +a3']);
  });

  /** A ledger that begins with offsets that nobody sees: a restore can move what follows to smaller ones. */
  const lateLedger = (...contractIds: readonly string[]): PartyWorld => {
    const ledger = new PartyWorld();
    ledger.world.participant.ledger.end = 4;
    ledger.create(...contractIds);
    return ledger;
  };

  it('leaves a position that proves the ledger, also on a participant that ignores the order of updates', () => {
    const ledger = lateLedger('b1', 'a2');
    ledger.ignoresOrder = true;
    const restore = (): void => {
      ledger.move(0, -2);
      ledger.create('a3', 'a4', 'a5');
    };
    const seen = changesOf(ledger, [[alice], [alice, bob]], [[5_000, restore]]);
    expect(told(seen)).toEqual([
      ...['start@6 a2', 'selectionChanged@6 +b1'],
      ...['update@5 +a3', 'update@6 +a4', 'update@7 +a5'],
    ]);
  });

  it('takes no position of a participant that was restored after its contracts were read', () => {
    const ledger = lateLedger('a1', 'b2');
    let isRestored = false;
    ledger.fault = ({ body }) => {
      if (isRestored || body['descendingOrder'] !== true || partiesIn(body).length < 2) return undefined;
      isRestored = true;
      ledger.move(0, -2);
      ledger.create('a3', 'a4');
      return undefined;
    };
    const seen = changesOf(ledger, [[alice], [alice, bob]], []);
    expect(isRestored).toBe(true);
    expect(contractsAfter(seen.values)).toEqual(ledger.seenBy([alice, bob]));
  });

  it('does not take the end of a contract, at the offset where it was created before a restore, for its creation', () => {
    const ledger = lateLedger('ab1', 'a2', 'b3');
    let requests = -Infinity;
    ledger.fault = () => {
      requests += 1;
      // the contracts were read, and not yet their position
      if (requests === 4) ledger.move(0, -3);
      return undefined;
    };
    const seen = changesOf(
      ledger,
      [[], [alice]],
      [
        [1_000, () => (requests = 0)],
        [
          1_150,
          () => {
            ledger.create('a4');
            ledger.archive('a2');
            ledger.create('a5');
          },
        ],
      ],
    );
    expect(contractsAfter(seen.values)).toEqual(ledger.seenBy([alice]));
  });

  it.each([
    ['from the start', []],
    ['before the changes were read for the first time', [alice]],
  ])('to no parties has nothing to wait for: the view is live, %s', (_, before) => {
    const ledger = new PartyWorld('a1');
    ledger.world.participant.reconfigure({ latencyMs: 400 });
    const parties$ = new BehaviorSubject<readonly string[]>(before);
    let seen: Observed<LiveState> | undefined;
    runVirtually(() => {
      const states = (seen = observe(liveContracts(ledger.client, { parties: parties$ }).state$));
      states.subscription.add(
        parties$.pipe(filter((list) => list.length > 0)).subscribe(() => {
          later(1_000, () => {
            parties$.next([]);
          });
        }),
      );
      later(9_000, () => {
        states.subscription.unsubscribe();
      });
    });
    expect(seen?.values.at(-1)).toMatchObject({ data: 'live', contracts: { size: 0 } });
  });
});
