import { Component, inject, input } from '@angular/core';
import { CopyButton } from '../shell/copy-button';
import { numeral } from '../shell/numbers';
import { Panels } from '../shell/panels';
import { timeOfDay } from '../shell/times';
import { EffectChip } from '../updates/effect-chip';
import { head, shortId } from '../updates/names';
import { JsonView } from './json-view';
import type { ShownEvent } from './shown-event';
import { TemplateName } from './template-name';

/** One event: its kind, its contract, its parties and its arguments. */
@Component({
  selector: 'app-event-card',
  imports: [CopyButton, EffectChip, JsonView, TemplateName],
  template: `
    <div class="head">
      <app-effect-chip [effect]="event().effect" />
      @if (isOfContract()) {
        <button type="button" class="link where" (click)="panels.push({ kind: 'update', offset: event().offset })">
          {{ numeral(event().offset) }} · {{ timeOfDay(event().recordTime) }} UTC
        </button>
      }
    </div>
    @if (event().templateId; as templateId) {
      <app-template-name [templateId]="templateId" [packageName]="event().packageName" />
    }
    @if (!isOfContract() && event().contractId; as contractId) {
      <p>
        <button type="button" class="link" [title]="contractId" (click)="panels.push({ kind: 'contract', contractId })">
          Contract {{ head(contractId) }}
        </button>
        <app-copy-button [text]="contractId" label="contract id" />
      </p>
    }
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
  protected readonly numeral = numeral;
  protected readonly shortId = shortId;
  protected readonly timeOfDay = timeOfDay;
}
