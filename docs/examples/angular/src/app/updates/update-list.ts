import { computed, inject, Injectable, signal } from '@angular/core';
import { SETTINGS } from '../connection/settings';
import { Facets } from './facets';
import { Filters } from './filters';
import type { Row } from './row';

/** The updates that were read, by ascending offset, each once; and those of them that pass the filters. */
@Injectable()
export class UpdateList {
  readonly #filters = inject(Filters);
  readonly #facets = inject(Facets);
  /** How many rows the page holds; then the oldest tenth goes. */
  readonly #capacity = inject(SETTINGS).capacity ?? 150_000;
  // arrays that grow in place, and a signal that tells: a copy of a hundred thousand rows for each update would be a waste
  #rows: Row[] = [];
  #shown: Row[] = [];
  #filtered: { predicate: (row: Row) => boolean; count: number } | undefined;
  readonly #version = signal(0);

  readonly count = computed(() => (this.#version(), this.#rows.length));
  readonly newest = computed(() => (this.#version(), this.#rows.at(-1)?.offset));
  readonly isFull = computed(() => this.count() >= 0.9 * this.#capacity);
  /** The offset of the last row that was let go of. */
  readonly letGoUpTo = signal(0);

  /** What passes the filters, ascending. A new view each time; its rows are read at once. */
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

  /** Adds what came. What is there already was handed over once more, after a pause for instance. */
  append(rows: readonly Row[]): void {
    const newest = this.#rows.at(-1)?.offset ?? -1;
    const fresh = rows.filter(({ offset }) => offset > newest);
    this.#facets.add(fresh);
    this.#rows.push(...fresh);
    if (this.#rows.length > this.#capacity) this.#letGo();
    this.#version.update((version) => version + 1);
  }

  /** Adds what was read backward, ascending. */
  prepend(rows: readonly Row[]): void {
    const oldest = this.#rows[0]?.offset ?? Infinity;
    const earlier = rows.filter(({ offset }) => offset < oldest);
    this.#facets.add(earlier);
    this.#replace([...earlier, ...this.#rows]);
    this.#version.update((version) => version + 1);
  }

  /** Another ledger: nothing of the one before is left, to be chosen from neither. */
  clear(): void {
    this.letGoUpTo.set(0);
    this.#facets.clear();
    this.#filters.clear();
    this.#replace([]);
    this.#version.update((version) => version + 1);
  }

  /** Where a contract occurs, ascending. */
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
