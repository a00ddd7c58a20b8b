import { Component, computed, inject, input } from '@angular/core';
import { Identities } from '../submit/identities';
import { EffectChip } from './effect-chip';
import { shortId, timeOfDay } from './names';
import type { Row } from './row';

const variants = {
  Transaction: 'Transaction',
  Reassignment: 'Reassignment',
  TopologyTransaction: 'Topology',
  UnknownUpdate: 'Unknown',
} as const;

@Component({
  selector: 'app-update-row',
  imports: [EffectChip],
  template: `
    <span role="gridcell" class="offset">{{ row().offset }}</span>
    <span role="gridcell" class="time">{{ time() }}</span>
    <span role="gridcell" class="variant" [attr.data-variant]="row().variant">{{ variant() }}</span>
    <span role="gridcell" class="effects">
      @for (effect of row().effects; track $index) {
        <app-effect-chip [effect]="effect" />
      }
    </span>
    <span role="gridcell" class="parties" [class.is-mine]="isMine()">{{ parties() }}</span>
    <span role="gridcell" class="synchronizer">{{ synchronizer() }}</span>
  `,
  styleUrl: './update-row.css',
})
export class UpdateRow {
  readonly #identities = inject(Identities);
  readonly row = input.required<Row>();
  /** Whether a party of this browser's identities is involved. */
  protected readonly isMine = computed(() => this.row().parties.some((party) => this.#identities.isOurs(party)));
  protected readonly time = computed(() => timeOfDay(this.row().recordTime));
  protected readonly variant = computed(() => variants[this.row().variant]);
  protected readonly parties = computed(() => this.row().parties.map(shortId).join(', '));
  protected readonly synchronizer = computed(() => shortId(this.row().synchronizer));
}
