import type { Column } from './column';

export interface Layout {
  /** The value of `grid-template-columns`. */
  readonly template: string;
  /** The width of a row, in pixels: at least that of the table. */
  readonly width: number;
}

const gap = 16;

/** The widths of columns in a table of some width. What is left goes to the columns with a share, or stays at the end. */
export function layOut(columns: readonly Column[], tableWidth: number): Layout {
  const least = columns.reduce((sum, { width }) => sum + width, 0) + gap * (columns.length + 1);
  const left = Math.max(0, tableWidth - least);
  const shares = columns.reduce((sum, { share }) => sum + share, 0);
  const widths = columns.map(({ width, share }) => width + (shares === 0 ? 0 : Math.floor((left * share) / shares)));
  return {
    template: `${widths.map((width) => `${width}px`).join(' ')}`,
    width: Math.max(least, tableWidth),
  };
}
