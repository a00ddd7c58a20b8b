import { Component, DestroyRef, inject, viewChild } from '@angular/core';
import { isTyping } from '../shell/is-typing';
import type { FocusablePage } from '../shell/pages';
import { LedgerNotices } from '../status/ledger-notices';
import { ContractFilterBar } from './contract-filter-bar';
import { ContractList } from './contract-list';
import { ContractTable } from './contract-table';
import { ContractsStrip } from './contracts-strip';
import { OpenContracts } from './open-contracts';
import { StaleNotice } from './stale-notice';
import { TemplateRail } from './template-rail';

/** The active contracts of the ledger, as they are now. */
@Component({
  selector: 'app-contracts-page',
  imports: [ContractFilterBar, ContractTable, ContractsStrip, LedgerNotices, StaleNotice, TemplateRail],
  template: `
    <app-contracts-strip />
    <app-ledger-notices />
    <app-contract-filter-bar (left)="enterTable()" />
    <app-stale-notice />
    <div class="body">
      <app-template-rail />
      <app-contract-table />
    </div>
  `,
  styles: `
    :host {
      display: flex;
      flex-direction: column;
    }
    .body {
      flex: 1;
      display: flex;
      min-height: 0;
    }
    app-contract-table {
      flex: 1;
    }
    @container page (max-width: 1000px) {
      app-template-rail {
        display: none;
      }
    }
  `,
  // the contracts are read as long as the page is shown
  providers: [ContractList],
  host: { '(document:keydown./)': 'onSlash($event)' },
})
export class ContractsPage implements FocusablePage {
  private readonly filters = viewChild.required(ContractFilterBar);
  private readonly table = viewChild.required(ContractTable);

  constructor() {
    const { list } = inject(OpenContracts);
    list.set(inject(ContractList));
    inject(DestroyRef).onDestroy(() => list.set(undefined));
  }

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
