import { Component, computed, inject, input } from '@angular/core';
import { Panels } from '../shell/panels';
import type { Row } from '../updates/row';
import { TableView } from '../updates/table-view';

/** Leads from the update of the panel to those beside it in the table. */
@Component({
  selector: 'app-update-steps',
  template: `
    <button
      type="button"
      class="icon"
      aria-label="Newer update"
      title="Newer update"
      (click)="show(newer())"
      [attr.aria-disabled]="newer() === undefined"
    >
      ↑
    </button>
    <button
      type="button"
      class="icon"
      aria-label="Older update"
      title="Older update"
      (click)="show(older())"
      [attr.aria-disabled]="older() === undefined"
    >
      ↓
    </button>
  `,
  styles: `
    :host {
      display: flex;
    }
    [aria-disabled='true'] {
      opacity: 0.4;
      cursor: default;
    }
  `,
})
export class UpdateSteps {
  readonly offset = input.required<number>();
  readonly #view = inject(TableView);
  readonly #panels = inject(Panels);
  /** The number of newer rows; the filters may hide the update itself. */
  readonly #newerCount = computed(() => countAbove(this.#view.rows(), this.offset()));
  protected readonly newer = computed(() => this.#view.rows()[this.#newerCount() - 1]);
  protected readonly older = computed(() => {
    const rows = this.#view.rows();
    const at = this.#newerCount();
    return rows[at]?.offset === this.offset() ? rows[at + 1] : rows[at];
  });

  protected show(row: Row | undefined): void {
    if (row === undefined) return;
    this.#view.activate(row);
    this.#panels.replace({ kind: 'update', offset: row.offset });
  }
}

/** The number of rows with a greater offset, by binary search: the rows descend. */
function countAbove(rows: readonly Row[], offset: number): number {
  let [low, high] = [0, rows.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle]?.offset ?? 0) > offset) low = middle + 1;
    else high = middle;
  }
  return low;
}
