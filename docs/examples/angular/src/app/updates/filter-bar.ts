import { DecimalPipe } from '@angular/common';
import { Component, computed, type ElementRef, inject, output, viewChild } from '@angular/core';
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

/** Narrows the table to what is looked for. All of it happens here, at once; the feed brings everything. */
@Component({
  selector: 'app-filter-bar',
  imports: [DecimalPipe],
  templateUrl: './filter-bar.html',
  styleUrl: './filter-bar.css',
  host: { role: 'search' },
})
export class FilterBar {
  /** The arrow down leads from the text to what it found. */
  readonly left = output();
  protected readonly filters = inject(Filters);
  protected readonly facets = inject(Facets);
  protected readonly list = inject(UpdateList);
  protected readonly variants = variants;
  protected readonly shortId = shortId;
  /** The parties, and what they are called; once for all, as there may be thousands. */
  protected readonly parties = computed(() => {
    const parties = this.facets.parties();
    const names = parties.map(shortId);
    // sorted, so that those of one name stand side by side
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
    // the first one clears the field, the next one closes the panel
    if (this.filters.text() !== '') event.stopPropagation();
    this.filters.text.set('');
  }
}
