import { computed, inject, Injectable, signal } from '@angular/core';
import type { Row } from './row';
import { UpdateList } from './update-list';

/**
 * The rows of the table, the newest first. The table follows the ledger while its top is visible. When a row is selected
 * or the table is scrolled, it stops, and new rows are only counted.
 */
@Injectable()
export class TableView {
  readonly #list = inject(UpdateList);
  /** The newest offset that is shown; absent while all are shown. */
  readonly #ceiling = signal<number | undefined>(undefined);
  readonly activeOffset = signal<number | undefined>(undefined);

  readonly isHeld = computed(() => this.#ceiling() !== undefined);
  /** The rows that pass the filters and the number that is shown; equal as long as the table does not change. */
  readonly #span = computed(
    () => {
      const { rows } = this.#list.shown();
      return { rows, count: this.#countIn(rows) };
    },
    { equal: (a, b) => a.rows === b.rows && a.count === b.count },
  );
  readonly rows = computed((): readonly Row[] => {
    const { rows, count } = this.#span();
    return rows.slice(0, count).reverse();
  });
  /** The number of new rows that are not shown. */
  readonly waiting = computed(() => this.#list.shown().rows.length - this.#span().count);
  readonly activeIndex = computed(() => {
    const active = this.activeOffset();
    return active === undefined ? -1 : this.rows().findIndex(({ offset }) => offset === active);
  });

  hold(): void {
    this.#ceiling.update((ceiling) => ceiling ?? this.#list.newest() ?? 0);
  }

  release(): void {
    this.activeOffset.set(undefined);
    this.#ceiling.set(undefined);
  }

  activate(row: Row | undefined): void {
    if (row === undefined) return;
    this.hold();
    this.activeOffset.set(row.offset);
  }

  #countIn(rows: readonly Row[]): number {
    const ceiling = this.#ceiling();
    if (ceiling === undefined) return rows.length;
    // binary search for the first row beyond the ceiling
    let [low, high] = [0, rows.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((rows[middle]?.offset ?? 0) > ceiling) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
