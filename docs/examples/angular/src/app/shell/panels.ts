import { computed, Injectable, signal } from '@angular/core';
import type { AnyContract } from 'canton-rx/contracts';

/** A panel next to the table. */
export type Panel =
  | { readonly kind: 'update'; readonly offset: number }
  | { readonly kind: 'contract'; readonly contractId: string }
  | { readonly kind: 'submit'; readonly archive?: { readonly contractId: string; readonly templateId: string } }
  | { readonly kind: 'exercise'; readonly contract: AnyContract; readonly choices: readonly string[] }
  | { readonly kind: 'connection' };

/** The open panel, and the panels to go back to. */
@Injectable()
export class Panels {
  readonly #stack = signal<readonly Panel[]>([]);
  readonly current = computed(() => this.#stack().at(-1));
  readonly hasBack = computed(() => this.#stack().length > 1);

  /** Opens a panel from the table, with no panel to go back to. */
  show(panel: Panel): void {
    this.#stack.set([panel]);
  }

  /** Opens a panel from another one. */
  push(panel: Panel): void {
    this.#stack.update((stack) => [...stack, panel]);
  }

  /** Shows another panel in the place of the open one. */
  replace(panel: Panel): void {
    this.#stack.update((stack) => [...stack.slice(0, -1), panel]);
  }

  back(): void {
    this.#stack.update((stack) => stack.slice(0, -1));
  }

  close(): void {
    this.#stack.set([]);
  }
}
