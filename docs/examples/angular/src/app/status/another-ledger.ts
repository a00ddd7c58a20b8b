import { Component, inject } from '@angular/core';
import { Feed } from '../feed/feed';

/** Says that another ledger has taken the place of the one that the page showed. */
@Component({
  selector: 'app-another-ledger',
  template: `
    @if (feed.isAnotherLedger()) {
      <p role="alert">
        Another ledger has taken the place of the first. What is shown is read from this one.
        <button type="button" class="link" (click)="feed.isAnotherLedger.set(false)">Dismiss</button>
      </p>
    }
  `,
  styles: `
    p {
      margin: 0;
      padding: 6px 16px;
      border-bottom: 1px solid var(--line);
      background: var(--warn-soft);
      font-size: 13px;
    }
    @container page (max-width: 699px) {
      p {
        padding-inline: 12px;
      }
    }
  `,
})
export class AnotherLedger {
  protected readonly feed = inject(Feed);
}
