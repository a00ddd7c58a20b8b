import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { numeral } from '../shell/numbers';
import { CONNECTION } from '../connection/connection';
import { nameOf, problemOf } from '../status/problem-of';
import { ContractList } from './contract-list';

const words = {
  loading: 'Reading',
  live: 'Live',
  behind: 'Catching up',
  retrying: 'Retrying',
  failed: 'Stopped',
} as const;

/** Whether the contracts are current, and how many there are. */
@Component({
  selector: 'app-contracts-strip',
  imports: [DecimalPipe],
  template: `
    <div class="state" [attr.data-phase]="phase()">
      <span class="word" role="status"><i aria-hidden="true"></i>{{ word() }}</span>
      <small class="reason" [title]="explanation()">{{ reason() }}</small>
    </div>
    <dl>
      <div>
        <dt>Active contracts</dt>
        <dd>{{ known(list.count()) }}</dd>
      </div>
      <div>
        <dt>In flight</dt>
        <dd>{{ known(list.inFlight()) }}</dd>
      </div>
      <div>
        <dt>Templates</dt>
        <dd>{{ known(list.templates().length) }}</dd>
      </div>
      <div>
        <dt>At offset</dt>
        <dd>{{ (list.offset() | number) ?? '–' }}</dd>
      </div>
    </dl>
  `,
  styleUrl: './contracts-strip.css',
  host: { role: 'region', 'aria-label': 'Status' },
})
export class ContractsStrip {
  protected readonly list = inject(ContractList);
  readonly #connection = inject(CONNECTION);
  protected readonly phase = computed((): keyof typeof words => {
    const { error, isLive } = this.list.live;
    if (error() !== undefined) return 'failed';
    if (this.list.trouble() !== undefined) return 'retrying';
    if (!this.list.isKnown()) return 'loading';
    return isLive() ? 'live' : 'behind';
  });
  protected readonly word = computed(() => words[this.phase()]);
  protected readonly reason = computed(() => {
    const { error } = this.list.live;
    const cause = error() ?? this.list.trouble();
    if (cause !== undefined) return error() === undefined ? nameOf(cause) : problemOf(cause, this.#connection).text;
    if (!this.list.isKnown()) return 'All contracts at the end of the ledger';
    return this.phase() === 'live' ? 'As the ledger is now' : 'As the ledger was at this offset';
  });
  protected readonly explanation = computed(() => {
    const cause = this.list.live.error() ?? this.list.trouble();
    return cause === undefined ? this.reason() : problemOf(cause, this.#connection).text;
  });

  /** A number, which is not 0 while it is not known. */
  protected readonly known = (count: number): string => (this.list.isKnown() ? numeral(count) : '–');
}
