import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { ContractsFold } from '../../src/contracts/ContractsFold.js';
import { makeContract } from '../../src/contracts/Contract.js';
import { contractHistories, contractsAt, entriesAt, offsetIn } from '../helpers/contractHistory.js';
import { effort } from '../helpers/effort.js';
import { checkFold, decodeEntry, statesOf } from '../helpers/foldLaw.js';

describe('ContractsFold: the law', () => {
  it('has the contracts of a full replay, from any snapshot on, after each update (G28)', () => {
    fc.assert(
      fc.property(contractHistories(), fc.nat(), (history, place) => {
        checkFold(new ContractsFold(makeContract()), history, offsetIn(history, place));
      }),
      { numRuns: effort(300, 5000) },
    );
  });

  it('has the same contracts whatever the order of the entries of a snapshot, and whichever come twice (pitfall 13)', () => {
    const snapshots = fc
      .tuple(contractHistories(), fc.nat())
      .map(([history, place]) => ({ history, offset: offsetIn(history, place) }))
      .chain(({ history, offset }) => {
        const entries = entriesAt(history, offset);
        return fc.record({
          expected: fc.constant(contractsAt(history, offset)),
          entries: fc.shuffledSubarray([...entries, ...entries], { minLength: entries.length * 2 }),
        });
      });
    fc.assert(
      fc.property(snapshots, ({ expected, entries }) => {
        const fold = new ContractsFold(makeContract());
        for (const entry of entries) fold.load([decodeEntry(entry)]);
        fold.settle();
        expect(statesOf(fold.contracts)).toEqual(expected);
      }),
      { numRuns: effort(200, 3000) },
    );
  });

  it('is tested with histories that have contracts in two places, contracts in flight, and ghosts', () => {
    const snapshots = fc
      .sample(fc.tuple(contractHistories(), fc.nat()), { numRuns: 300, seed: 16 })
      .map(([history, place]) => {
        const offset = offsetIn(history, place);
        const shown = contractsAt(history, offset);
        const entries = entriesAt(history, offset).map(decodeEntry);
        const isGhost = entries.some(
          (entry) => entry._tag === 'ActiveContract' && !shown.has(entry.createdEvent.contractId),
        );
        return new Set([...entries.map(({ _tag }) => _tag), ...(isGhost ? ['Ghost'] : [])]);
      });
    const countOf = (tag: string): number => snapshots.filter((tags) => tags.has(tag)).length;
    expect(countOf('IncompleteAssigned')).toBeGreaterThan(50);
    expect(countOf('IncompleteUnassigned')).toBeGreaterThan(50);
    expect(countOf('Ghost')).toBeGreaterThan(5);
  });
});
