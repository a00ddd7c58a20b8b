/** What a subscriber is told of changes of the contracts. */
import { expect } from '@jest/globals';
import type { AnyContract } from '../../../src/contracts/Contract.js';
import type { ContractChange } from '../../../src/contracts/ContractChange.js';
import type { Observed } from '../../helpers/observe.js';

/** The IDs of contracts, sorted. */
export const idsOf = (contracts: Iterable<AnyContract>): readonly string[] =>
  [...contracts].map(({ contractId }) => contractId).sort();

/** A change in short: `selectionChanged@3 +ab1 -a2 ~abc3`. */
function brief(change: ContractChange): string | undefined {
  if (change._tag === 'Reset') return `${change.reason}@${change.offset} ${idsOf(change.contracts).join(' ')}`.trim();
  if (change._tag !== 'ContractsChanged') return undefined;
  const { reason = 'update', offset, added, removed, moved } = change;
  const parts = [
    ...idsOf(added).map((id) => `+${id}`),
    ...idsOf(removed).map((id) => `-${id}`),
    ...idsOf(moved.map(({ contract }) => contract)).map((id) => `~${id}`),
  ];
  return `${reason}@${offset} ${parts.join(' ')}`;
}

/** Changes in short, without checkpoints. There was no error. */
export const told = ({ values, error }: Observed<ContractChange>): readonly string[] => {
  expect(error).toBeUndefined();
  return values.flatMap((change) => brief(change) ?? []);
};

/** The contracts after some changes, and which parties see each. A contract that is added twice, or removed without being there, fails. */
export function contractsAfter(changes: readonly ContractChange[]): Readonly<Record<string, readonly string[]>> {
  const contracts = new Map<string, readonly string[]>();
  for (const change of changes) {
    if (change._tag === 'Reset') {
      contracts.clear();
      for (const each of change.contracts) contracts.set(each.contractId, each.createdEvent.witnessParties);
    }
    if (change._tag !== 'ContractsChanged') continue;
    for (const { contractId } of change.removed) expect(contracts.delete(contractId)).toBe(true);
    for (const each of change.added) {
      expect([each.contractId, contracts.has(each.contractId)]).toEqual([each.contractId, false]);
      contracts.set(each.contractId, each.createdEvent.witnessParties);
    }
    for (const { contract } of change.moved) contracts.set(contract.contractId, contract.createdEvent.witnessParties);
  }
  return Object.fromEntries([...contracts].map(([contractId, witnesses]) => [contractId, [...witnesses].sort()]));
}
