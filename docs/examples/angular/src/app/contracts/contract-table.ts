import {
  CdkFixedSizeVirtualScroll,
  CdkVirtualForOf,
  CdkVirtualScrollableElement,
  CdkVirtualScrollViewport,
} from '@angular/cdk/scrolling';
import { DecimalPipe } from '@angular/common';
import {
  afterNextRender,
  Component,
  computed,
  DestroyRef,
  effect,
  type ElementRef,
  inject,
  Injector,
  signal,
  untracked,
  viewChild,
} from '@angular/core';
import { Feed } from '../feed/feed';
import { Panels } from '../shell/panels';
import { RowPlace } from '../shell/row-place';
import { Screen } from '../shell/screen';
import { LedgerProblem } from '../status/ledger-problem';
import { stepOf } from '../updates/step-of';
import type { Column } from './column';
import { ContractCells } from './contract-cells';
import { ContractFilters } from './contract-filters';
import { ContractList } from './contract-list';
import type { ContractRow } from './contract-row';
import { layOut } from './lay-out';
import { RowAnchor } from './row-anchor';

/** The table of contracts, of which only the visible rows, and a few around them, are in the page. */
@Component({
  selector: 'app-contract-table',
  imports: [
    CdkFixedSizeVirtualScroll,
    CdkVirtualForOf,
    CdkVirtualScrollableElement,
    CdkVirtualScrollViewport,
    ContractCells,
    DecimalPipe,
    LedgerProblem,
  ],
  templateUrl: './contract-table.html',
  styleUrl: './contract-table.css',
})
export class ContractTable {
  protected readonly list = inject(ContractList);
  protected readonly filters = inject(ContractFilters);
  protected readonly unknownParties = inject(Feed).unknownParties;
  protected readonly panels = inject(Panels);
  readonly #screen = inject(Screen);
  readonly #injector = inject(Injector);
  private readonly grid = viewChild.required<ElementRef<HTMLElement>>('grid');
  private readonly viewport = viewChild.required(CdkVirtualScrollViewport);

  readonly #width = signal(0);
  /** Whether there is no room for columns; the style sheet of the filters has the same limit. */
  protected readonly isCompact = computed(() => (this.#width() === 0 ? this.#screen.isNarrow() : this.#width() < 700));
  /** The height of the row of heads, which stays above the rows. */
  readonly #headHeight = computed(() => (this.isCompact() ? 0 : 29));
  protected readonly rowHeight = computed(() => (this.isCompact() ? 58 : 32));
  protected readonly isScrolled = signal(false);
  protected readonly layout = computed(() => layOut(this.list.columns(), this.#width()));
  protected readonly anchor = new RowAnchor(this.rowHeight);
  protected readonly activeIndex = computed(() => {
    const id = this.filters.activeId();
    return id === '' ? -1 : this.list.rows().findIndex(({ contractId }) => contractId === id);
  });
  protected readonly activeId = computed(() => (this.activeIndex() < 0 ? null : `contract-${this.filters.activeId()}`));
  protected readonly byId = (_: number, { contractId }: ContractRow): string => contractId;
  readonly #place = new RowPlace({
    top: () => this.#scroller.getBoundingClientRect().top + this.#headHeight(),
    scrollTop: () => this.#scroller.scrollTop,
    rowHeight: this.rowHeight,
    height: () => this.#visibleHeight,
  });
  /** Where the selection was, for when its contract is gone. */
  #lastIndex = -1;
  #lastHeight = this.rowHeight();

  constructor() {
    effect(() => {
      // to the top when the filters or the order change
      this.filters.predicate();
      this.list.sort();
      this.anchor.forget();
      this.#scrollTo(0);
    });
    effect(() => {
      const scrollTop = this.anchor.keep(this.list.rows(), this.filters.activeId(), this.#visibleHeight);
      if (scrollTop !== undefined) this.#scrollTo(scrollTop);
    });
    effect(() => {
      // where columns become cards, because a panel has opened, the same rows stay in view
      const scale = this.rowHeight() / this.#lastHeight;
      this.#lastHeight = this.rowHeight();
      this.#width();
      const active = untracked(this.activeIndex);
      if (active >= 0) this.#scrollTo(() => this.#place.find(active));
      else if (scale !== 1) this.#scrollTo(this.#scroller.scrollTop * scale);
    });
    const destroyed = inject(DestroyRef);
    afterNextRender(() => {
      const observer = new ResizeObserver(() => {
        this.#width.set(this.#scroller.clientWidth);
        this.viewport().checkViewportSize();
      });
      observer.observe(this.#scroller);
      destroyed.onDestroy(() => observer.disconnect());
    });
  }

  focus(): void {
    this.#scroller.focus();
  }

  hasFocus(): boolean {
    return this.#scroller === document.activeElement;
  }

  chooseFirst(): void {
    this.#choose(0);
  }

  protected ariaSort({ id }: Column): 'ascending' | 'descending' | 'none' {
    if (this.list.sortedBy()?.id !== id) return 'none';
    return this.list.sort().isDescending ? 'descending' : 'ascending';
  }

  protected onScroll(): void {
    const { scrollTop } = this.#scroller;
    this.isScrolled.set(scrollTop > this.rowHeight());
    this.anchor.note(scrollTop);
    this.#place.note(this.activeIndex());
  }

  protected onPointer({ clientY, pointerType }: PointerEvent): void {
    const y = clientY - this.#scroller.getBoundingClientRect().top - this.#headHeight();
    if (pointerType === 'mouse' && y >= 0) this.anchor.hover(y);
    else this.anchor.leave();
  }

  protected open(row: ContractRow | undefined): void {
    if (row === undefined) return;
    this.#activate(row);
    this.panels.show({ kind: 'contract', contractId: row.contractId });
  }

  protected clear(): void {
    this.filters.clear();
    this.filters.template.set('');
  }

  protected toTop(): void {
    this.filters.activeId.set('');
    this.anchor.forget();
    this.#scrollTo(0);
    this.focus();
  }

  protected onKey(event: KeyboardEvent): void {
    // keys on the head of a column are for its button
    if (event.target !== this.#scroller) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      return this.open(this.list.rows()[this.activeIndex()]);
    }
    if (event.key === 'Escape' && this.panels.current() === undefined) return this.toTop();
    const rows = this.list.rows();
    const pageRows = Math.floor(this.#visibleHeight / this.rowHeight()) - 1;
    const at = this.activeIndex() < 0 ? this.#lastIndex : this.activeIndex();
    const next = stepOf(event.key, at, rows.length, pageRows);
    if (next === undefined) return;
    event.preventDefault();
    this.#choose(next);
  }

  #activate(row: ContractRow): void {
    this.filters.activeId.set(row.contractId);
    this.#lastIndex = this.activeIndex();
    this.#place.note(this.#lastIndex);
  }

  #choose(index: number): void {
    const row = this.list.rows()[index];
    if (row === undefined) return;
    this.#activate(row);
    this.#scrollTo(() => this.#place.reveal(index));
    // an open panel follows the selection
    if (this.panels.current()?.kind === 'contract') this.open(row);
  }

  get #scroller(): HTMLElement {
    return this.grid().nativeElement;
  }

  get #visibleHeight(): number {
    return this.#scroller.clientHeight - this.#headHeight();
  }

  /** Scrolls when the rows are in the page. */
  #scrollTo(scrollTop: number | (() => number)): void {
    afterNextRender(
      {
        earlyRead: () => (typeof scrollTop === 'number' ? scrollTop : scrollTop()),
        write: (wanted) => {
          if (wanted !== this.#scroller.scrollTop) this.#scroller.scrollTop = wanted;
        },
      },
      { injector: this.#injector },
    );
  }
}
