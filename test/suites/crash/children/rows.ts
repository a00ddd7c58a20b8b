import { createHash } from 'node:crypto';

/** A contract, in the form in which a table is compared with the ledger. */
export interface ContractState {
  readonly contractId: string;
  /** The synchronizer that it is on, or has left. */
  readonly synchronizerId: string;
  /** Where it goes to; `null` unless it is in flight. */
  readonly inFlightTo: string | null;
  readonly reassignmentCounter: number;
  readonly payload: unknown;
}

/** A short token for the state of a contract. */
export const tokenOf = (state: ContractState): string => {
  const { contractId, synchronizerId, inFlightTo, reassignmentCounter, payload } = state;
  return digest([contractId, synchronizerId, inFlightTo, reassignmentCounter, canonical(payload)]);
};

/** A short token for a contract, whatever its state. */
export const idTokenOf = (contractId: string): string => digest([contractId]);

const digest = (values: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(values)).digest('hex').slice(0, 12);

/** The same value with the keys of its records in order: `jsonb` keeps none. */
export function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const sorted = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, each]) => [key, canonical(each)]));
}
