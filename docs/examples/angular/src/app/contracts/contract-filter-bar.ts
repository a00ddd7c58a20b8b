import { DecimalPipe } from '@angular/common';
import { Component, computed, type ElementRef, inject, output, signal, viewChild } from '@angular/core';
import { Screen } from '../shell/screen';
import { longId, shortId } from '../updates/names';
import type { Column } from './column';
import { ContractFilters } from './contract-filters';
import { ContractList } from './contract-list';
import type { Sort } from './sort-order';

/** Filters the table. The filters work in the page, which has all contracts. */
@Component({
  selector: 'app-contract-filter-bar',
  imports: [DecimalPipe],
  templateUrl: './contract-filter-bar.html',
  styleUrl: './contract-filter-bar.css',
  host: { role: 'search' },
})
export class ContractFilterBar {
  /** Emits when the arrow down key is to move the focus from the text filter to the table. */
  readonly left = output();
  protected readonly filters = inject(ContractFilters);
  protected readonly list = inject(ContractList);
  protected readonly screen = inject(Screen);
  /** Whether a narrow page shows the filters other than the text and the template. */
  protected readonly isOpen = signal(false);
  protected readonly shortId = shortId;
  protected readonly parties = computed(() => {
    const parties = this.list.parties();
    const names = parties.map(shortId);
    // sorted, so that parties of one name are adjacent
    const several = new Set(names.filter((name, at) => name === names[at - 1]));
    return parties.map((value, at) => {
      const name = names[at] ?? value;
      return { value, label: several.has(name) ? longId(value) : name };
    });
  });
  /** The contracts among which the filters choose. */
  protected readonly total = computed(() => {
    const template = this.filters.template();
    return this.list.templates().find((item) => item.template === template)?.count ?? this.list.count();
  });
  /** The orders, where there are no heads of columns to click on. */
  protected readonly orders = computed(() => {
    const current = this.list.sortedBy();
    const { isDescending } = this.list.sort();
    return this.list.columns().flatMap((column) =>
      [false, true].map((isDown) => ({
        value: `${isDown ? 'down' : 'up'} ${column.id}`,
        label: orderText(column, isDown),
        isCurrent: column === current && isDown === isDescending,
      })),
    );
  });
  private readonly text = viewChild.required<ElementRef<HTMLInputElement>>('text');

  focus(): void {
    this.text().nativeElement.focus();
    this.text().nativeElement.select();
  }

  protected sortOf(value: string): Sort {
    const at = value.indexOf(' ');
    return { column: value.slice(at + 1), isDescending: value.startsWith('down') };
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

/** The order of their creation has a name of its own, since it is the first. */
function orderText({ id, label }: Column, isDown: boolean): string {
  if (id === 'created') return isDown ? 'Newest first' : 'Oldest first';
  return `${label} ${isDown ? '↓' : '↑'}`;
}
