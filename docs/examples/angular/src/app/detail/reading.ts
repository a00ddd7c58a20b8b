import { Component, inject, input, output } from '@angular/core';
import { isLedgerError } from 'canton-rx';
import { Troubles } from '../status/troubles';
import { reasonOf } from './reason-of';

/** What stands in a panel until what it shows is read: that it is read, that the ledger does not answer, or an error. */
@Component({
  selector: 'app-reading',
  template: `
    @if (error(); as error) {
      <p role="alert">{{ reasonOf(error) }}</p>
      @if (!isGone(error)) {
        <button type="button" (click)="again.emit()">Try again</button>
      }
    } @else if (isDown()) {
      <p role="status">The ledger does not answer. This is read as soon as it does.</p>
    } @else {
      <p>Reading…</p>
    }
  `,
  styles: `
    p {
      margin: 0 0 8px;
      color: var(--muted);
    }
  `,
})
export class Reading {
  readonly error = input<Error | undefined>();
  /** Emits when it is to be read again. */
  readonly again = output();
  protected readonly isDown = inject(Troubles).isDown;
  protected readonly isGone = (error: Error): boolean => isLedgerError(error, 'PrunedError');
  protected readonly reasonOf = reasonOf;
}
