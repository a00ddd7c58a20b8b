import { Component, computed, inject, input } from '@angular/core';
import { numeral } from '../shell/numbers';
import { localTime, timeOfDay } from '../shell/times';
import { Identities } from '../submit/identities';
import { EffectChip } from './effect-chip';
import { shortId } from './names';
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
    <span role="gridcell" class="offset">{{ offset() }}</span>
    <span role="gridcell" class="time" [title]="localTime()">{{ time() }}</span>
    <span role="gridcell" class="variant" [attr.data-variant]="row().variant">{{ variant() }}</span>
    <span role="gridcell" class="effects">
      @for (effect of row().effects; track $index) {
        <app-effect-chip [effect]="effect" />
      }
    </span>
    <span role="gridcell" class="package">{{ packages() }}</span>
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
  protected readonly offset = computed(() => numeral(this.row().offset));
  protected readonly localTime = computed(() => localTime(this.row().recordTime));
  protected readonly packages = computed(() => this.row().packages.join(', '));
  protected readonly time = computed(() => timeOfDay(this.row().recordTime));
  protected readonly variant = computed(() => variants[this.row().variant]);
  protected readonly parties = computed(() => this.row().parties.map(shortId).join(', '));
  protected readonly synchronizer = computed(() => shortId(this.row().synchronizer));
}
