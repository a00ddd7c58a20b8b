import { Component, viewChild } from '@angular/core';
import { isTyping } from '../shell/is-typing';
import type { FocusablePage } from '../shell/pages';
import { LedgerNotices } from '../status/ledger-notices';
import { StatusStrip } from '../status/status-strip';
import { FilterBar } from './filter-bar';
import { UpdateTable } from './update-table';

/** The updates of the ledger: the state of the feed, the filters and the table. */
@Component({
  selector: 'app-updates-page',
  imports: [LedgerNotices, FilterBar, StatusStrip, UpdateTable],
  template: `
    <app-status-strip />
    <app-ledger-notices />
    <app-filter-bar (left)="enterTable()" />
    <app-update-table />
  `,
  styles: `
    :host {
      display: flex;
      flex-direction: column;
    }
    app-update-table {
      flex: 1;
      min-height: 0;
    }
  `,
  host: { '(document:keydown./)': 'onSlash($event)' },
})
export class UpdatesPage implements FocusablePage {
  private readonly filters = viewChild.required(FilterBar);
  private readonly table = viewChild.required(UpdateTable);

  focus(): void {
    this.table().focus();
  }

  hasFocus(): boolean {
    return this.table().hasFocus();
  }

  protected enterTable(): void {
    this.table().focus();
    this.table().chooseFirst();
  }

  protected onSlash(event: Event): void {
    if (isTyping(event.target)) return;
    event.preventDefault();
    this.filters().focus();
  }
}
