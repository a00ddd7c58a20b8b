import { computed, inject, Injectable, signal } from '@angular/core';
import { Route } from '../shell/route';
import { type ContractRow, hasWord } from './contract-row';

/** The contracts to show, and what was selected. They stay while another page is shown. An empty string is no filter. */
@Injectable()
export class ContractFilters {
  readonly text = signal('');
  /** `package-name:Module:Entity` */
  readonly template = signal('');
  readonly party = signal('');
  readonly synchronizer = signal('');
  /** `'yes'` for contracts in flight alone. */
  readonly inFlight = signal('');
  readonly isInFlight = computed(() => this.inFlight() !== '');
  /** The contract that is selected in the table. */
  readonly activeId = signal('');

  /** Whether there is any filter, apart from the template. */
  readonly isActive = computed(
    () => this.isInFlight() || [this.text(), this.party(), this.synchronizer()].some((value) => value !== ''),
  );

  /** The number of filters that are set, apart from the text and the template. */
  readonly chosen = computed(
    () => Number(this.isInFlight()) + [this.party(), this.synchronizer()].filter((value) => value !== '').length,
  );

  /** Whether a row passes the filters; a new function when a filter changes. */
  readonly predicate = computed((): ((row: ContractRow) => boolean) => {
    const [template, party, synchronizer] = [this.template(), this.party(), this.synchronizer()];
    const isInFlight = this.isInFlight();
    const words = this.text()
      .toLowerCase()
      .split(/\s+/)
      .filter((word) => word !== '');
    return (row) =>
      (template === '' || row.template === template) &&
      (!isInFlight || row.isInFlight) &&
      (party === '' || row.stakeholders.includes(party)) &&
      (synchronizer === '' || row.synchronizers.includes(synchronizer)) &&
      words.every((word) => hasWord(row, word));
  });

  constructor() {
    const { text, template, party, synchronizer, inFlight } = this;
    inject(Route).keep('contracts', { text, template, party, synchronizer, inFlight });
  }

  clear(): void {
    for (const filter of [this.text, this.party, this.synchronizer]) filter.set('');
    this.inFlight.set('');
  }
}
