import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractsUpdated } from '../../src/contracts/ContractChange.js';
import type { ContractsWork } from '../../src/process/index.js';

/** The changes of updates among works. */
export const changesIn = (works: readonly ContractsWork[]): readonly ContractsUpdated[] =>
  works.flatMap((work) => (work._tag === 'ContractsChanged' && work.reason === undefined ? [work] : []));

/** A change as another participant sends it, with another offset. */
export function at(change: ContractsUpdated, offset: number): ContractsUpdated {
  const renumber = (contract: AnyContract): AnyContract =>
    contract.createdEvent.offset === change.offset
      ? { ...contract, offset, createdEvent: { ...contract.createdEvent, offset } }
      : contract;
  const { update } = change;
  return { ...change, offset, added: change.added.map(renumber), update: { ...update, offset } };
}

/** The places of changes with such offsets: each epoch begins where offsets no longer ascend. */
export function placesOf(offsets: readonly number[], start = 0) {
  const epochs = [{ first_offset: 0, first_ix: 0 }];
  let latest = { offset: start, ix: start };
  return {
    epochs,
    places: offsets.map((offset) => {
      if (offset <= latest.offset) epochs.push({ first_offset: offset, first_ix: latest.ix + 1 });
      const { first_ix, first_offset } = epochs.at(-1) ?? { first_ix: 0, first_offset: 0 };
      latest = { offset, ix: first_ix + offset - first_offset };
      return { ...latest, epoch: epochs.length - 1 };
    }),
  };
}
