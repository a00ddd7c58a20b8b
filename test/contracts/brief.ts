import type { AnyContract } from '../../src/contracts/Contract.js';
import type { ContractChange } from '../../src/contracts/ContractChange.js';
import type { LiveState } from '../../src/contracts/LiveState.js';

/** The ids of contracts: `xyz`. */
export const ids = (contracts: Iterable<AnyContract>): string =>
  Array.from(contracts, ({ contractId }) => contractId).join('');

/** The ids of contracts, sorted: `x,y,z`. */
const sortedIds = (contracts: readonly AnyContract[]): string =>
  contracts
    .map(({ contractId }) => contractId)
    .sort()
    .join();

/** A change on one line: `Reset 1 start x,y`, `ContractsChanged 2 +z -x ~y` or `CaughtUp 2`. */
export function brief(change: ContractChange): string {
  const at = `${change._tag} ${change.offset}`;
  if (change._tag === 'Reset') return `${at} ${change.reason} ${sortedIds(change.contracts)}`.trim();
  if (change._tag !== 'ContractsChanged') return at;
  const { added, removed, moved } = change;
  const parts = { '+': added, '-': removed, '~': moved.map(({ contract }) => contract) };
  const changes = Object.entries(parts).filter(([, contracts]) => contracts.length > 0);
  return [
    change.reason === undefined ? at : `${at} ${change.reason}`,
    ...changes.map(([sign, contracts]) => sign + sortedIds(contracts)),
  ].join(' ');
}

/** A state of a live view on one line: `loading/connecting` or `live/open 1 xy`. */
export const briefState = (state: LiveState): string => {
  const rest = state.data === 'loading' ? '' : ` ${state.offset} ${ids(state.contracts)}`;
  return `${state.data}/${state.connection.status}${rest}`;
};
