import type { Column } from './column';
import type { ContractRow } from './contract-row';

export interface Sort {
  readonly column: string;
  readonly isDescending: boolean;
}

/** The newest first. */
export const newestFirst: Sort = { column: 'created', isDescending: true };

type Compare = (a: ContractRow, b: ContractRow) => number;

/** The order of a column. Contracts without a value come last, and of equal ones the newest comes first. */
export function orderBy({ kind, value }: Column, isDescending: boolean): Compare {
  const compare = compareOf(kind);
  const sign = isDescending ? -1 : 1;
  return (a, b) => {
    const [one, other] = [value(a), value(b)];
    const order =
      one === undefined || other === undefined
        ? Number(one === undefined) - Number(other === undefined)
        : sign * compare(textOf(one), textOf(other));
    return order || b.offset - a.offset || compareTexts(a.contractId, b.contractId);
  };
}

/** Rows in an order. Only what has changed since the last time is put in its place. */
export class SortedRows {
  #rows: ContractRow[] = [];
  #known = new Set<ContractRow>();
  #compare: Compare | undefined;

  sort(rows: readonly ContractRow[], compare: Compare): readonly ContractRow[] {
    const wanted = new Set(rows);
    const isSame = compare === this.#compare;
    const kept = isSame ? this.#rows.filter((row) => wanted.has(row)) : [];
    const fresh = isSame ? rows.filter((row) => !this.#known.has(row)) : rows;
    this.#rows = merge(kept, [...fresh].sort(compare), compare);
    this.#known = wanted;
    this.#compare = compare;
    return this.#rows;
  }
}

/** Puts rows into others, both in order. Compares each with a few of the others: there may be a hundred thousand. */
function merge(rows: readonly ContractRow[], added: readonly ContractRow[], compare: Compare): ContractRow[] {
  const merged: ContractRow[] = [];
  let from = 0;
  for (const row of added) {
    const place = placeOf(row, rows, from, compare);
    for (; from < place; from += 1) merged.push(rows[from]!);
    merged.push(row);
  }
  for (; from < rows.length; from += 1) merged.push(rows[from]!);
  return merged;
}

/** The index of the first row that comes after another one. */
function placeOf(row: ContractRow, rows: readonly ContractRow[], from: number, compare: Compare): number {
  let [low, high] = [from, rows.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compare(rows[middle]!, row) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function compareOf(kind: Column['kind']): (a: string, b: string) => number {
  if (kind === 'number') return compareNumbers;
  // the fraction of a second, which a time may lack, is before the Z
  return kind === 'time' ? (a, b) => compareTexts(a.slice(0, -1), b.slice(0, -1)) : compareTexts;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function compareTexts(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Compares decimals of any length, for which a number has too few digits. */
function compareNumbers(a: string, b: string): number {
  const difference = Number(a) - Number(b);
  if (difference !== 0) return difference;
  const [[one = '', oneDigits = ''], [other = '', otherDigits = '']] = [a.split('.'), b.split('.')];
  const sign = a.startsWith('-') ? -1 : 1;
  const length = Math.max(one.length, other.length);
  return sign * (compareTexts(one.padStart(length), other.padStart(length)) || compareTexts(oneDigits, otherDigits));
}
