/** The bound of a ratio. */
export interface Goal {
  readonly atMost?: number;
  readonly atLeast?: number;
}

/** One row of the table. */
export interface Row {
  readonly id: string;
  /** The two things that are compared. */
  readonly figure: string;
  /** One for each set; none if it could not be measured. */
  readonly ratios: readonly number[];
  /** A row without a goal is informative. */
  readonly goal?: Goal;
  /** Further information, such as absolute figures. */
  readonly note?: string;
}

/** How long to measure. */
export interface Effort {
  /** How many times each variant is measured, each time in a process of its own. */
  readonly sets: number;
  /** The length of a run, where 1 is the usual one. */
  readonly scale: number;
}

/** A measurement that can be chosen by its name. It has several rows, if they are measured together. */
export interface Line {
  readonly id: string;
  readonly about: string;
  readonly isOnDemand?: boolean;
  readonly measure: (effort: Effort) => Promise<readonly Row[]>;
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (i: number): number => sorted[i] ?? NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}

export const goalText = ({ atMost, atLeast }: Goal): string =>
  atMost === undefined ? `>= ${(atLeast ?? NaN).toFixed(2)}` : `<= ${atMost.toFixed(2)}`;

/** Whether a row's goal is met; `undefined` if it has none, or was not measured. */
export function isMet({ goal, ratios }: Row): boolean | undefined {
  if (goal === undefined || ratios.length === 0) return undefined;
  const { atMost = Infinity, atLeast = -Infinity } = goal;
  const value = median(ratios);
  return value <= atMost && value >= atLeast;
}

const header = ['line', 'figure', 'median', 'min..max', 'goal', 'met', 'note'];

const metText = (row: Row): string => {
  const met = isMet(row);
  if (met === undefined) return '';
  return met ? 'yes' : 'NO';
};

function cellsOf(row: Row): readonly string[] {
  const { id, figure, ratios, goal, note = '' } = row;
  const isMeasured = ratios.length > 0;
  return [
    id,
    figure,
    isMeasured ? median(ratios).toFixed(2) : '-',
    isMeasured ? `${Math.min(...ratios).toFixed(2)}..${Math.max(...ratios).toFixed(2)}` : '-',
    goal === undefined ? '' : goalText(goal),
    metText(row),
    note,
  ];
}

/** Text in aligned columns. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** All rows as a table. */
export const table = (rows: readonly Row[]): string => columns([header, ...rows.map(cellsOf)]);
