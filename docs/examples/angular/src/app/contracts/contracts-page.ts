import { Component, ElementRef, inject } from '@angular/core';
import type { FocusablePage } from '../shell/pages';

/** The active contracts of the ledger. */
@Component({
  selector: 'app-contracts-page',
  template: `<p>No contracts yet.</p>`,
  styles: `
    p {
      margin: 5rem 0;
      color: var(--muted);
      text-align: center;
    }
  `,
  host: { tabindex: '-1' },
})
export class ContractsPage implements FocusablePage {
  readonly #host = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;

  focus(): void {
    this.#host.focus();
  }

  hasFocus(): boolean {
    return this.#host.contains(document.activeElement);
  }
}
