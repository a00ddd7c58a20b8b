import { Injectable, signal, type WritableSignal } from '@angular/core';
import type { Row } from './row';

/** The choices of the filters: all values in the updates that were read. */
@Injectable()
export class Facets {
  readonly synchronizers = signal<readonly string[]>([]);
  readonly templates = signal<readonly string[]>([]);
  readonly parties = signal<readonly string[]>([]);
  readonly #seen = new Set<string>();

  add(rows: readonly Row[]): void {
    this.#note(
      this.synchronizers,
      rows.map(({ synchronizer }) => synchronizer),
    );
    this.#note(
      this.templates,
      rows.flatMap(({ templates }) => templates),
    );
    this.#note(
      this.parties,
      rows.flatMap(({ parties }) => parties),
    );
  }

  clear(): void {
    this.#seen.clear();
    for (const facet of [this.synchronizers, this.templates, this.parties]) facet.set([]);
  }

  #note(facet: WritableSignal<readonly string[]>, values: readonly string[]): void {
    const fresh = [...new Set(values)].filter((value) => value !== '' && !this.#seen.has(value));
    if (fresh.length === 0) return;
    for (const value of fresh) this.#seen.add(value);
    facet.update((known) => [...known, ...fresh].sort());
  }
}
