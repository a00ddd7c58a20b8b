import { Component, inject } from '@angular/core';
import { Feed } from '../feed/feed';
import { Panels } from '../shell/panels';

/** What is to be known of the ledger on every page: that it is another one, or does not host a party. */
@Component({
  selector: 'app-ledger-notices',
  template: `
    @if (feed.isAnotherLedger()) {
      <p role="alert">
        Another ledger has taken the place of the first. What is shown is read from this one.
        <button type="button" class="link" (click)="feed.isAnotherLedger.set(false)">Dismiss</button>
      </p>
    }
    @for (party of feed.unknownParties(); track party) {
      <p role="alert">
        This participant does not know the party {{ party }}, so nothing of it is shown.
        <button type="button" class="link" (click)="panels.show({ kind: 'connection', field: 'parties' })">
          Change the parties
        </button>
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
      overflow-wrap: anywhere;
    }
    @container page (max-width: 699px) {
      p {
        padding-inline: 12px;
      }
    }
  `,
})
export class LedgerNotices {
  protected readonly feed = inject(Feed);
  protected readonly panels = inject(Panels);
}
