import { computed, inject, Injectable } from '@angular/core';
import type { ConnectionField } from '../connection/connection';
import { numeral } from './numbers';
import { Route } from './route';
import type { AnyContract } from 'canton-rx/contracts';

/** A panel next to the table. */
export type Panel =
  | { readonly kind: 'update'; readonly offset: number }
  | { readonly kind: 'contract'; readonly contractId: string }
  | { readonly kind: 'submit'; readonly archive?: { readonly contractId: string; readonly templateId: string } }
  | { readonly kind: 'exercise'; readonly contract: AnyContract; readonly choices: readonly string[] }
  | { readonly kind: 'connection'; readonly field?: ConnectionField }
  | { readonly kind: 'activity' };

/** The open panel, and the panels to go back to: an entry of the browser's history each, so that its Back closes them. */
@Injectable()
export class Panels {
  readonly #route = inject(Route);
  readonly current = computed(() => this.#route.panels().at(-1));
  /** The panel to go back to. */
  readonly previous = computed(() => this.#route.panels().at(-2));

  /** Opens a panel from the table, with no panel to go back to. */
  show(panel: Panel): void {
    if (this.current() === undefined) this.#route.open([panel]);
    else this.#route.show([panel]);
  }

  /** Opens a panel from another one. */
  push(panel: Panel): void {
    this.#route.open([...this.#route.panels(), panel]);
  }

  /** Shows another panel in the place of the open one. */
  replace(panel: Panel): void {
    this.#route.show([...this.#route.panels().slice(0, -1), panel]);
  }

  back(): void {
    this.#route.back();
  }

  close(): void {
    this.#route.close();
  }
}

const titles = {
  contract: 'Contract',
  exercise: 'Exercise a choice',
  submit: 'Submit',
  connection: 'Connection',
  activity: 'Activity of the client',
} as const;

/** The title of a panel. */
export const titleOf = (panel: Panel): string =>
  panel.kind === 'update' ? `Update ${numeral(panel.offset)}` : titles[panel.kind];
