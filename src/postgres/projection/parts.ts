import type { ContractRow, ExerciseRow } from './rows.js';

/**
 * The size of the JSON in a statement, in characters. PostgreSQL accepts at most 256 MB, and needs several times as
 * much memory.
 */
export const maxPartSize = 16_000_000;

/** Returns the size of the fields of a row that may be large, in characters. */
export const sizeOf = (row: ContractRow | ExerciseRow): number => {
  const json = lengthOf(row.as_sent);
  return 'payload' in row
    ? json + lengthOf(row.payload) + lengthOf(row.contract_key) + lengthOf(row.metadata)
    : json + lengthOf(row.argument) + lengthOf(row.result);
};

/** Divides rows into parts that are small enough for a statement, unless a single row is too large. */
export function partsOf(rows: readonly ContractRow[]): readonly (readonly ContractRow[])[] {
  const parts: ContractRow[][] = [];
  let size = Infinity;
  for (const row of rows) {
    size += sizeOf(row);
    const last = parts.at(-1);
    if (last !== undefined && size <= maxPartSize) {
      last.push(row);
      continue;
    }
    parts.push([row]);
    size = sizeOf(row);
  }
  return parts;
}

const lengthOf = (text: string | undefined): number => text?.length ?? 0;
