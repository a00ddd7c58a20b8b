import type { PayloadOf, Problem } from 'canton-rx';
import { types, type TypeName, type Types } from './types.js';

/** A contract as the tables have it. */
interface Facts {
  readonly contractId: string;
  readonly template: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly synchronizerId: string;
  /** The synchronizer that it is on its way to; `null` unless it is. */
  readonly inFlightTo: string | null;
  readonly reassignmentCounter: number;
  readonly createdAtOffset: number;
  readonly createdAt: Date;
  /** `null` while the contract is active. */
  readonly archivedAtOffset: number | null;
  readonly archivedAt: Date | null;
}

type Typed = { [N in TypeName]: { readonly type: N; readonly payload: PayloadOf<Types[N]> } }[TypeName];

/** A payload of a later version of its package, say: the contract is there all the same. */
interface Undecoded {
  readonly type: null;
  readonly payload: unknown;
  readonly problems: readonly Problem[] | string;
}

/** A contract, typed: `contract.type === 'asset'` says which payload it has. */
export type StoredContract = Facts & (Typed | Undecoded);

/** A row of the functions of the projection; `bigint` is a string. */
export interface ContractRow {
  readonly type_name: string;
  readonly payload: unknown;
  readonly contract_id: string;
  readonly template_fqn: string;
  readonly signatories: readonly string[];
  readonly observers: readonly string[];
  readonly synchronizer_id: string;
  readonly in_flight_to: string | null;
  readonly reassignment_counter: string;
  readonly created_at_offset: string;
  readonly created_effective_at: Date;
  readonly archived_at_offset: string | null;
  readonly archived_effective_at: Date | null;
}

export const contractColumns = `type_name, payload, contract_id, template_fqn, signatories, observers, synchronizer_id,
  in_flight_to, reassignment_counter, created_at_offset, created_effective_at, archived_at_offset, archived_effective_at`;

export const contractOf = (row: ContractRow): StoredContract => ({
  ...payloadOf(row),
  contractId: row.contract_id,
  template: row.template_fqn,
  signatories: row.signatories,
  observers: row.observers,
  synchronizerId: row.synchronizer_id,
  inFlightTo: row.in_flight_to,
  reassignmentCounter: Number(row.reassignment_counter),
  createdAtOffset: Number(row.created_at_offset),
  createdAt: row.created_effective_at,
  archivedAtOffset: row.archived_at_offset === null ? null : Number(row.archived_at_offset),
  archivedAt: row.archived_effective_at,
});

/** The payload is stored as the ledger sent it, and decoded when it is read: another type needs no other table. */
function payloadOf({ type_name: type, payload }: ContractRow): Typed | Undecoded {
  if (!isTypeName(type)) return { type: null, payload, problems: 'a type that the service does not have' };
  const decoded = types[type].decoder.run(payload);
  // the compiler does not connect the name of the type with its payload
  if (decoded.ok) return { type, payload: decoded.result } as Typed;
  return { type: null, payload, problems: decoded.error.problems ?? 'it does not decode' };
}

export const isTypeName = (name: string): name is TypeName => Object.hasOwn(types, name);
