import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { explain } from '../status/explain';
import { ContractList } from './contract-list';

/** Says that the contracts in the table may have changed, while the ledger does not answer. */
@Component({
  selector: 'app-stale-notice',
  imports: [DecimalPipe],
  template: `
    @if (trouble(); as error) {
      <p role="alert" [title]="explain(error)">
        The ledger does not answer. These are its contracts at offset {{ list.offset() | number }}, of
        {{ since() }} UTC.
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
export class StaleNotice {
  protected readonly list = inject(ContractList);
  protected readonly explain = explain;
  protected readonly trouble = computed(() => (this.list.isKnown() ? this.list.trouble() : undefined));
  protected readonly since = computed(() => {
    const since = this.list.live.staleSince();
    return since === undefined ? '' : new Date(since).toISOString().slice(11, 19);
  });
}
