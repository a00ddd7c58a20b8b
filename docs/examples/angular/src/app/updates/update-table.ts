import { CdkFixedSizeVirtualScroll, CdkVirtualForOf, CdkVirtualScrollViewport } from '@angular/cdk/scrolling';
import { DecimalPipe } from '@angular/common';
import { afterNextRender, Component, computed, effect, inject, Injector, untracked, viewChild } from '@angular/core';
import { Earlier } from '../feed/earlier';
import { injectSize } from '../shell/inject-size';
import { Panels } from '../shell/panels';
import { RowPlace } from '../shell/row-place';
import { EmptyTable } from './empty-table';
import { Filters } from './filters';
import type { Row } from './row';
import { stepOf } from './step-of';
import { TableView } from './table-view';
import { UpdateList } from './update-list';
import { UpdateRow } from './update-row';

/** The table of updates, the newest first. Only the visible rows, and a few around them, are in the page. */
@Component({
  selector: 'app-update-table',
  imports: [CdkFixedSizeVirtualScroll, CdkVirtualForOf, CdkVirtualScrollViewport, DecimalPipe, EmptyTable, UpdateRow],
  templateUrl: './update-table.html',
  styleUrl: './update-table.css',
})
export class UpdateTable {
  protected readonly view = inject(TableView);
  protected readonly earlier = inject(Earlier);
  protected readonly panels = inject(Panels);
  protected readonly filters = inject(Filters);
  protected readonly list = inject(UpdateList);
  readonly #size = injectSize();
  readonly #injector = inject(Injector);
  private readonly viewport = viewChild.required(CdkVirtualScrollViewport);
  readonly #place = new RowPlace({
    top: () => this.#grid.getBoundingClientRect().top,
    scrollTop: () => this.viewport().measureScrollOffset(),
    rowHeight: () => this.rowHeight(),
    height: () => this.viewport().getViewportSize(),
  });

  protected readonly rowHeight = computed(() => (this.#size().width <= 760 ? 58 : 32));
  protected readonly activeId = computed(() =>
    this.view.activeIndex() < 0 ? null : `row-${this.view.activeOffset()}`,
  );
  protected readonly byOffset = (_: number, row: Row): number => row.offset;

  constructor() {
    effect(() => {
      // scrolls to the top when the filters change
      this.filters.predicate();
      this.viewport().scrollToIndex(0);
    });
    effect(() => {
      // also where a panel has chosen it
      if (this.view.activeOffset() === undefined) return;
      const active = untracked(this.view.activeIndex);
      this.#scrollTo(() => this.#place.reveal(active));
    });
    effect(() => {
      this.rowHeight();
      this.#size();
      const active = untracked(this.view.activeIndex);
      if (active >= 0) this.#scrollTo(() => this.#place.find(active));
    });
    effect(() => {
      if (!this.view.isHeld()) this.viewport().scrollToIndex(0);
    });
  }

  focus(): void {
    this.#grid.focus();
  }

  hasFocus(): boolean {
    return this.#grid === document.activeElement;
  }

  chooseFirst(): void {
    this.#choose(0);
  }

  protected onScroll(): void {
    this.#place.note(this.view.activeIndex());
    // rows must not move while the user reads further down
    if (this.viewport().measureScrollOffset() > this.rowHeight()) this.view.hold();
    else if (this.view.activeOffset() === undefined) this.view.release();
  }

  protected open(row: Row | undefined): void {
    if (row === undefined) return;
    this.view.activate(row);
    // now, since the panel changes the layout
    this.#place.note(this.view.activeIndex());
    this.panels.show({ kind: 'update', offset: row.offset });
  }

  protected toNewest(): void {
    this.view.release();
    this.focus();
  }

  protected onKey(event: KeyboardEvent): void {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      this.open(this.view.rows()[this.view.activeIndex()]);
      return;
    }
    if (event.key === 'Escape' && this.panels.current() === undefined) return this.toNewest();
    const rows = this.view.rows();
    const pageRows = Math.floor(this.viewport().getViewportSize() / this.rowHeight()) - 1;
    const next = stepOf(event.key, this.view.activeIndex(), rows.length, pageRows);
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(next);
  }

  get #grid(): HTMLElement {
    return this.viewport().elementRef.nativeElement;
  }

  #choose(index: number): void {
    const row = this.view.rows()[index];
    if (row === undefined) return;
    this.view.activate(row);
    // an open panel follows the selection
    if (this.panels.current()?.kind === 'update') this.open(row);
  }

  #scrollTo(scrollTop: () => number): void {
    const viewport = this.viewport();
    afterNextRender(
      {
        earlyRead: scrollTop,
        write: (wanted) => {
          if (wanted !== viewport.measureScrollOffset()) viewport.scrollToOffset(wanted);
        },
      },
      { injector: this.#injector },
    );
  }
}
