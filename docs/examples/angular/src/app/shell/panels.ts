import { computed, Injectable, signal } from '@angular/core';

/** What stands beside the table. */
export type Panel =
  | { readonly kind: 'update'; readonly offset: number }
  | { readonly kind: 'contract'; readonly contractId: string }
  | { readonly kind: 'submit'; readonly archive?: { readonly contractId: string; readonly templateId: string } }
  | { readonly kind: 'connection' };

/** The panel beside the table, and those that one came through to it. */
@Injectable()
export class Panels {
  readonly #stack = signal<readonly Panel[]>([]);
  readonly current = computed(() => this.#stack().at(-1));
  readonly hasBack = computed(() => this.#stack().length > 1);

  /** From the table: nothing to go back to. */
  show(panel: Panel): void {
    this.#stack.set([panel]);
  }

  /** From within a panel. */
  push(panel: Panel): void {
    this.#stack.update((stack) => [...stack, panel]);
  }

  back(): void {
    this.#stack.update((stack) => stack.slice(0, -1));
  }

  close(): void {
    this.#stack.set([]);
  }
}
