import type { ContractRow } from './stored-contract.js';

/** Something that happened to a contract. */
export type ContractEvent = {
  readonly offset: number;
  readonly at: Date;
} & (
  | { readonly event: 'created' | 'archived' }
  | {
      readonly event: 'exercised';
      readonly choice: string;
      /** Whether it archived the contract. */
      readonly consuming: boolean;
      readonly argument: unknown;
      readonly result: unknown;
      readonly controllers: readonly string[];
    }
);

/** A row of `lookup_exercises`; `bigint` is a string. */
export interface ExerciseRow {
  readonly choice: string;
  readonly consuming: boolean;
  readonly argument: unknown;
  readonly result: unknown;
  readonly controllers: readonly string[];
  readonly exercised_at_offset: string;
  readonly exercised_effective_at: Date;
}

/** The creation, the exercises and the archival, in the order of the ledger. */
export function historyOf(contract: ContractRow, exercises: readonly ExerciseRow[]): readonly ContractEvent[] {
  const { created_at_offset: offset, created_effective_at: at } = contract;
  const { archived_at_offset: archivedOffset, archived_effective_at: archivedAt } = contract;
  const exercised = exercises.map((row) => ({
    event: 'exercised' as const,
    offset: Number(row.exercised_at_offset),
    at: row.exercised_effective_at,
    choice: row.choice,
    consuming: row.consuming,
    argument: row.argument,
    result: row.result,
    controllers: row.controllers,
  }));
  return [
    { event: 'created', offset: Number(offset), at },
    ...exercised,
    ...(archivedOffset !== null && archivedAt !== null
      ? [{ event: 'archived' as const, offset: Number(archivedOffset), at: archivedAt }]
      : []),
  ];
}
