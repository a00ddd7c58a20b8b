import { DecimalPipe } from '@angular/common';
import { Component, computed, type ElementRef, inject, output, signal, viewChild } from '@angular/core';
import { Screen } from '../shell/screen';
import { Facets } from './facets';
import { Filters } from './filters';
import { longId, shortId } from './names';
import type { Variant } from './row';
import { UpdateList } from './update-list';

const variants: readonly { readonly value: Variant | ''; readonly label: string }[] = [
  { value: '', label: 'All' },
  { value: 'Transaction', label: 'Transactions' },
  { value: 'Reassignment', label: 'Reassignments' },
  { value: 'TopologyTransaction', label: 'Topology' },
];

/** Filters the table. The filters work in the page; the feed reads all updates. */
@Component({
  selector: 'app-filter-bar',
  imports: [DecimalPipe],
  templateUrl: './filter-bar.html',
  styleUrl: './filter-bar.css',
  host: { role: 'search' },
})
export class FilterBar {
  /** Emits when the arrow down key is to move the focus from the text filter to the table. */
  readonly left = output();
  protected readonly filters = inject(Filters);
  protected readonly facets = inject(Facets);
  protected readonly list = inject(UpdateList);
  protected readonly screen = inject(Screen);
  /** Whether a narrow page shows the filters other than the text. */
  protected readonly isOpen = signal(false);
  protected readonly variants = variants;
  protected readonly shortId = shortId;
  /** The parties and their names; computed once for all, since there may be thousands. */
  protected readonly parties = computed(() => {
    const parties = this.facets.parties();
    const names = parties.map(shortId);
    // sorted, so that parties of one name are adjacent
    const several = new Set(names.filter((name, at) => name === names[at - 1]));
    return parties.map((value, at) => {
      const name = names[at] ?? value;
      return { value, label: several.has(name) ? longId(value) : name };
    });
  });
  protected readonly shown = computed(() => this.list.shown().rows.length);
  private readonly text = viewChild.required<ElementRef<HTMLInputElement>>('text');

  focus(): void {
    this.text().nativeElement.focus();
    this.text().nativeElement.select();
  }

  protected onArrowDown(event: Event): void {
    event.preventDefault();
    this.left.emit();
  }

  protected onEscape(event: Event): void {
    // the first Escape clears the field, the next closes the panel
    if (this.filters.text() !== '') event.stopPropagation();
    this.filters.text.set('');
  }
}
