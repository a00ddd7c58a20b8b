import { computed, inject, Injectable, signal, type WritableSignal } from '@angular/core';
import { Route } from '../shell/route';
import type { Row, Variant } from './row';

/** The filters of the table. An empty string is no filter. */
@Injectable()
export class Filters {
  readonly text = signal('');
  readonly variant = signal<Variant | ''>('');
  readonly synchronizer = signal('');
  readonly template = signal('');
  readonly party = signal('');

  /** The number of filters that are set, beside the text. */
  readonly chosen = computed(
    () => [this.variant(), this.synchronizer(), this.template(), this.party()].filter((value) => value !== '').length,
  );
  readonly isActive = computed(() => this.text() !== '' || this.chosen() > 0);

  /** Whether a row passes the filters; a new function when a filter changes. */
  readonly predicate = computed((): ((row: Row) => boolean) => {
    const [variant, synchronizer, template, party] = [
      this.variant(),
      this.synchronizer(),
      this.template(),
      this.party(),
    ];
    const words = this.text()
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '')
      .map((word) => (isGrouped.test(word) ? word.replaceAll(',', '') : word));
    return (row) =>
      (variant === '' || row.variant === variant) &&
      (synchronizer === '' || row.synchronizer === synchronizer) &&
      (template === '' || row.templates.includes(template)) &&
      (party === '' || row.parties.includes(party)) &&
      words.every((word) => hasWord(row, word));
  });

  constructor() {
    const { text, synchronizer, template, party } = this;
    // a variant that does not exist matches nothing
    const variant = this.variant as WritableSignal<string>;
    inject(Route).keep('updates', { text, variant, synchronizer, template, party });
  }

  clear(): void {
    for (const filter of [this.text, this.synchronizer, this.template, this.party]) filter.set('');
    this.variant.set('');
  }
}

/** `1,234`, as offsets are shown. */
const isGrouped = /^\d{1,3}(,\d{3})+$/;

/** Ids match by their start, all other text by any part. */
const hasWord = (row: Row, word: string): boolean =>
  row.text.includes(word) || row.updateId.startsWith(word) || row.contractIds.some((id) => id.startsWith(word));
