import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BehaviorSubject, filter } from 'rxjs';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange, ContractsChanged } from '../../../src/contracts/ContractChange.js';
import { contractsFor } from '../../../src/contracts/contractsFor.js';
import { liveContracts } from '../../../src/contracts/liveContracts.js';
import type { LiveState } from '../../../src/contracts/LiveState.js';
import { contractHistories } from '../../helpers/contractHistory.js';
import { effort } from '../../helpers/effort.js';
import { observe, type Observed } from '../../helpers/observe.js';
import { allParties, partyLists, stakeholderRules, worldOf } from '../../helpers/partyHistory.js';
import { later, runVirtually } from '../../helpers/virtualTime.js';

const keyOf = (parties: readonly string[]): string => allParties.filter((party) => parties.includes(party)).join();

/** A reader: when it comes, and which parties it has then and later. Times are the number of updates before. */
const anyReader = fc.record({
  joinsAt: fc.nat(8),
  parties: partyLists,
  switches: fc.array(fc.record({ at: fc.nat(24), parties: partyLists }), { maxLength: 3 }),
});

const anyTrouble = fc.option(fc.record({ at: fc.nat(20), isPruned: fc.boolean() }), { nil: undefined });

const byId = (one: AnyContract, other: AnyContract): number => (one.contractId < other.contractId ? -1 : 1);
const sorted = (contracts: Iterable<AnyContract>): readonly AnyContract[] => [...contracts].sort(byId);

/** The contracts of a view now. */
function contractsNow({ values, error }: Observed<LiveState>): readonly AnyContract[] {
  expect(error).toBeUndefined();
  const state = values.at(-1);
  if (state?.data !== 'live') throw new Error(`not live: ${JSON.stringify(state)}`);
  return sorted(state.contracts);
}

/** A change in a form that two views of the same contracts have in common. The submitter's part of an update is in one of them. */
function comparable(change: ContractChange): unknown {
  if (change._tag === 'Reset') return { ...change, contracts: sorted(change.contracts) };
  if (change._tag !== 'ContractsChanged') return undefined;
  const update: { commandId?: unknown; paidTrafficCost?: unknown } = { ...change.update };
  delete update.commandId;
  delete update.paidTrafficCost;
  return { ...change, update, added: sorted(change.added), removed: sorted(change.removed) };
}

const isChange = (change: ContractChange): change is ContractsChanged => change._tag === 'ContractsChanged';

/** Applies changes as a subscriber does, and fails at one that does not follow from the former. */
function addUp(changes: readonly ContractChange[]): readonly AnyContract[] {
  const contracts = new Map<string, AnyContract>();
  for (const change of changes) {
    if (change._tag === 'Reset') {
      contracts.clear();
      for (const each of change.contracts) contracts.set(each.contractId, each);
    }
    if (!isChange(change)) continue;
    for (const each of change.removed) {
      expect(contracts.get(each.contractId)).toBe(each);
      contracts.delete(each.contractId);
    }
    for (const each of change.added) {
      expect(contracts.has(each.contractId)).toBe(false);
      contracts.set(each.contractId, each);
    }
    for (const { contract, from } of change.moved) {
      expect(contracts.get(contract.contractId)?.location).toEqual(from);
      contracts.set(contract.contractId, contract);
    }
  }
  return sorted(contracts.values());
}

const tickMs = 8_000;

describe('the contracts of some parties out of a shared view (G80)', () => {
  it('are at any time those of a view of these parties alone, and so are the changes', () => {
    fc.assert(
      fc.property(
        contractHistories({ maxEvents: 12 }),
        stakeholderRules,
        fc.array(anyReader, { minLength: 1, maxLength: 3 }),
        anyTrouble,
        (history, stakeholdersOf, plans, trouble) => {
          runVirtually(() => {
            const all = worldOf(allParties, stakeholdersOf);
            const live = liveContracts(all.client, { parties: [...allParties] });
            const lists = plans.flatMap(({ parties, switches }) => [parties, ...switches.map((each) => each.parties)]);
            const used = [...new Map(lists.map((parties) => [keyOf(parties), parties])).values()];
            const worlds = used.map((parties) => ({ parties, world: worldOf(parties, stakeholdersOf) }));
            const own = new Map(
              worlds.map(({ parties, world }) => {
                // no participant answers for no parties
                const view = liveContracts(world.client, { parties: parties.length === 0 ? [...allParties] : parties });
                return [keyOf(parties), { state: observe(view.state$), changes: observe(view.changes$) }];
              }),
            );
            const readers: { parties: string; state: Observed<LiveState>; changes: Observed<ContractChange> }[] = [];
            const start = observe(live.state$.pipe(filter(({ data }) => data === 'live')));
            for (const { joinsAt: someTime, parties, switches } of plans) {
              const joinsAt = someTime % (history.length + 1);
              const parties$ = new BehaviorSubject(parties);
              later(joinsAt * tickMs + 4_000, () => {
                const view = contractsFor(live, parties$);
                const reader = {
                  parties: keyOf(parties),
                  state: observe(view.state$),
                  changes: observe(view.changes$),
                };
                readers.push(reader);
                for (const each of switches.filter(({ at }) => at >= joinsAt && at <= history.length))
                  later((each.at - joinsAt) * tickMs, () => {
                    parties$.next(each.parties);
                    reader.parties = keyOf(each.parties);
                  });
              });
            }
            const seen = new Map<object, readonly [own: number, reader: number, parties: string]>();
            const check = (): void => {
              for (const reader of readers) {
                const mine = own.get(reader.parties);
                if (mine === undefined) throw new Error('no view');
                expect(contractsNow(reader.state)).toEqual(contractsNow(mine.state));
                expect(addUp(reader.changes.values)).toEqual(contractsNow(reader.state));
                const [ownCount, readerCount, parties] = seen.get(reader) ?? [];
                if (parties === reader.parties) {
                  const changes = reader.changes.values
                    .slice(readerCount)
                    .filter((change) => !(isChange(change) && change.reason === 'selectionChanged'));
                  const expected = mine.changes.values.slice(ownCount);
                  expect(changes.map(comparable).filter(Boolean)).toEqual(expected.map(comparable).filter(Boolean));
                }
                seen.set(reader, [mine.changes.values.length, reader.changes.values.length, reader.parties]);
              }
            };
            history.forEach((update, index) => {
              later((index + 1) * tickMs, () => {
                for (const world of [all, ...worlds.map((each) => each.world)]) {
                  if (trouble?.at === index) world.participant.ledger.disconnect();
                  world.append(update);
                  if (trouble?.at === index && trouble.isPruned) world.participant.ledger.pruned = update.offset;
                }
              });
              later((index + 1) * tickMs + 7_000, check);
            });
            later((history.length + 2) * tickMs, () => {
              for (const { subscription } of [start, ...readers.flatMap(({ state, changes }) => [state, changes])])
                subscription.unsubscribe();
              for (const { state, changes } of own.values()) {
                state.subscription.unsubscribe();
                changes.subscription.unsubscribe();
              }
            });
          });
        },
      ),
      { numRuns: effort(15, 400) },
    );
  });
});
