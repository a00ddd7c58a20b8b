import { computed, inject, Injectable, signal } from '@angular/core';
import { SETTINGS } from '../connection/settings';
import { Facets } from './facets';
import { Filters } from './filters';
import type { Row } from './row';

/** The updates that were read, each once, by ascending offset, and those of them that pass the filters. */
@Injectable()
export class UpdateList {
  readonly #filters = inject(Filters);
  readonly #facets = inject(Facets);
  /** The most rows that the page holds. Beyond it, the oldest tenth is removed. */
  readonly #capacity = inject(SETTINGS).capacity ?? 150_000;
  // arrays that grow in place and a version signal: copying a hundred thousand rows for each update would be slow
  #rows: Row[] = [];
  #shown: Row[] = [];
  #filtered: { predicate: (row: Row) => boolean; count: number } | undefined;
  readonly #version = signal(0);

  readonly count = computed(() => (this.#version(), this.#rows.length));
  readonly newest = computed(() => (this.#version(), this.#rows.at(-1)?.offset));
  readonly isFull = computed(() => this.count() >= 0.9 * this.#capacity);
  /** The offset of the last row that was removed. */
  readonly letGoUpTo = signal(0);

  /** The rows that pass the filters, ascending. A new object each time; its rows must be read synchronously. */
  readonly shown = computed((): { readonly rows: readonly Row[] } => {
    this.#version();
    const predicate = this.#filters.predicate();
    const isSame = this.#filtered?.predicate === predicate;
    const from = isSame ? (this.#filtered?.count ?? 0) : 0;
    if (!isSame) this.#shown = [];
    for (let at = from; at < this.#rows.length; at += 1) {
      const row = this.#rows[at];
      if (row !== undefined && predicate(row)) this.#shown.push(row);
    }
    this.#filtered = { predicate, count: this.#rows.length };
    return { rows: this.#shown };
  });

  /** Adds new rows. Rows that are in the list already, after a pause for example, are ignored. */
  append(rows: readonly Row[]): void {
    const newest = this.#rows.at(-1)?.offset ?? -1;
    const fresh = rows.filter(({ offset }) => offset > newest);
    this.#facets.add(fresh);
    this.#rows.push(...fresh);
    if (this.#rows.length > this.#capacity) this.#letGo();
    this.#version.update((version) => version + 1);
  }

  /** Adds earlier rows, in ascending order. */
  prepend(rows: readonly Row[]): void {
    const oldest = this.#rows[0]?.offset ?? Infinity;
    const earlier = rows.filter(({ offset }) => offset < oldest);
    this.#facets.add(earlier);
    this.#replace([...earlier, ...this.#rows]);
    this.#version.update((version) => version + 1);
  }

  /** Removes all rows, and the choices of the filters, for another ledger. */
  clear(): void {
    this.letGoUpTo.set(0);
    this.#facets.clear();
    this.#filters.clear();
    this.#replace([]);
    this.#version.update((version) => version + 1);
  }

  /** The offsets of the updates with events of a contract, ascending. */
  offsetsOf(contractId: string): readonly number[] {
    this.#version();
    return this.#rows.filter(({ contractIds }) => contractIds.includes(contractId)).map(({ offset }) => offset);
  }

  #letGo(): void {
    const kept = this.#rows.slice(-Math.ceil(0.9 * this.#capacity));
    this.letGoUpTo.set((kept[0]?.offset ?? 1) - 1);
    this.#replace(kept);
  }

  #replace(rows: Row[]): void {
    this.#rows = rows;
    this.#filtered = undefined;
  }
}
