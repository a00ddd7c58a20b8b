import { Injectable, signal, type WritableSignal } from '@angular/core';
import type { Row } from './row';

/** What there is to choose from in the filters: whatever has been seen. */
@Injectable()
export class Facets {
  readonly synchronizers = signal<readonly string[]>([]);
  readonly templates = signal<readonly string[]>([]);
  readonly parties = signal<readonly string[]>([]);
  readonly #seen = new Set<string>();

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      this.#note(this.synchronizers, row.synchronizer);
      for (const template of row.templates) this.#note(this.templates, template);
      for (const party of row.parties) this.#note(this.parties, party);
    }
  }

  clear(): void {
    this.#seen.clear();
    for (const facet of [this.synchronizers, this.templates, this.parties]) facet.set([]);
  }

  #note(facet: WritableSignal<readonly string[]>, value: string): void {
    if (value === '' || this.#seen.has(value)) return;
    this.#seen.add(value);
    facet.update((values) => [...values, value].sort());
  }
}
