import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { numeral } from '../shell/numbers';
import { LedgerProblem } from '../status/ledger-problem';
import { Undecodable } from './undecodable';
import { ContractList } from './contract-list';

/** Says that the contracts in the table may have changed, while the ledger does not answer. */
@Component({
  selector: 'app-stale-notice',
  imports: [DecimalPipe, LedgerProblem],
  template: `
    @if (trouble(); as error) {
      <p role="alert">
        The ledger does not answer. These are its contracts at offset {{ list.offset() | number }}, of
        {{ since() }} UTC.
      </p>
    } @else if (list.isKnown() && list.live.error()) {
      <app-ledger-problem
        class="is-banner"
        [error]="list.live.error()!"
        [isFinal]="true"
        (again)="list.live.reload()"
      />
      <p>These are the contracts at offset {{ list.offset() | number }}.</p>
    }
    @if (undecodable.entries().length > 0) {
      <details>
        <summary>{{ missing() }}</summary>
        <ul>
          @for (entry of undecodable.entries(); track $index) {
            <li>
              <code>{{ entry.contractId || 'Without a contract id' }}</code> {{ entry.reason }}
            </li>
          }
        </ul>
      </details>
    }
  `,
  styles: `
    ul {
      max-height: 30vh;
      margin: 4px 0 0;
      padding-left: 18px;
      overflow: auto;
    }
    p,
    details {
      margin: 0;
      padding: 6px 16px;
      border-bottom: 1px solid var(--line);
      background: var(--warn-soft);
      font-size: 13px;
      overflow-wrap: anywhere;
    }
    @container page (max-width: 699px) {
      p,
      details {
        padding-inline: 12px;
      }
    }
  `,
})
export class StaleNotice {
  protected readonly list = inject(ContractList);
  protected readonly undecodable = inject(Undecodable);
  protected readonly missing = computed(() => {
    const { length } = this.undecodable.entries();
    return length === 1
      ? 'One entry of the ledger cannot be decoded, and is not in the table.'
      : `${numeral(length)} entries of the ledger cannot be decoded, and are not in the table.`;
  });
  protected readonly trouble = computed(() => (this.list.isKnown() ? this.list.trouble() : undefined));
  protected readonly since = computed(() => {
    const since = this.list.live.staleSince();
    return since === undefined ? '' : new Date(since).toISOString().slice(11, 19);
  });
}
