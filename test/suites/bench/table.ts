import type { Row } from './Line.js';
import { goalText, isMet, median } from './ratios.js';

const heads = ['line', 'figure', 'median', 'min..max', 'goal', 'met', 'note'];

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

/** Lines of text, one column under the other. */
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

/** The table of what was measured. */
export const table = (rows: readonly Row[]): string => columns([heads, ...rows.map(cellsOf)]);
