import { Component, inject, input } from '@angular/core';
import { Panels } from '../shell/panels';
import { EffectChip } from '../updates/effect-chip';
import { head, shortId, timeOfDay } from '../updates/names';
import { JsonView } from './json-view';
import type { ShownEvent } from './shown-event';

/** One event: its kind, its contract, its parties and its arguments. */
@Component({
  selector: 'app-event-card',
  imports: [EffectChip, JsonView],
  template: `
    <div class="head">
      <app-effect-chip [effect]="event().effect" />
      @if (isOfContract()) {
        <button type="button" class="link where" (click)="panels.push({ kind: 'update', offset: event().offset })">
          {{ event().offset }} · {{ timeOfDay(event().recordTime) }}
        </button>
      } @else if (event().contractId; as contractId) {
        <button
          type="button"
          class="link where id"
          [title]="'Contract ' + contractId"
          [attr.aria-label]="'Contract ' + head(contractId)"
          (click)="panels.push({ kind: 'contract', contractId })"
        >
          {{ head(contractId) }} →
        </button>
      }
    </div>
    @for (role of event().roles; track role[0]) {
      <p>
        {{ role[0] }}
        @for (party of role[1]; track $index) {
          <b [title]="party">{{ shortId(party) }}</b>
        }
      </p>
    }
    @for (value of event().values; track value[0]) {
      <app-json-view [label]="value[0]" [value]="value[1]" />
    }
  `,
  styleUrl: './event-card.css',
})
export class EventCard {
  readonly event = input.required<ShownEvent>();
  /** Whether it is shown in the history of a contract, and not in an update. */
  readonly isOfContract = input(false);
  protected readonly panels = inject(Panels);
  protected readonly head = head;
  protected readonly shortId = shortId;
  protected readonly timeOfDay = timeOfDay;
}
