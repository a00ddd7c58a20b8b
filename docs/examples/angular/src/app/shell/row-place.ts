/** The rows of a table, as they are on the screen. */
export interface RowsOnScreen {
  /** Where the first row is while nothing is scrolled, in pixels of the window. */
  readonly top: () => number;
  readonly scrollTop: () => number;
  readonly rowHeight: () => number;
  /** The height in which rows are visible. */
  readonly height: () => number;
}

/** Keeps a row where it is on the screen while the layout changes around it: a panel opens, and columns become cards. */
export class RowPlace {
  #y: number | undefined;

  constructor(private readonly rows: RowsOnScreen) {}

  /** Notes where a row is; a negative index is none. */
  note(index: number): void {
    const { top, scrollTop, rowHeight } = this.rows;
    this.#y = index < 0 ? undefined : top() + index * rowHeight() - scrollTop();
  }

  /** Returns how far to scroll until the row is where it was, or as near to that as it is visible. */
  find(index: number): number {
    const { top, scrollTop, rowHeight } = this.rows;
    return this.reveal(index, this.#y === undefined ? scrollTop() : top() + index * rowHeight() - this.#y);
  }

  /** Returns how far to scroll from somewhere until the row is visible. */
  reveal(index: number, from = this.rows.scrollTop()): number {
    const { rowHeight, height } = this.rows;
    return Math.max(Math.min(from, index * rowHeight()), (index + 1) * rowHeight() - height());
  }
}
