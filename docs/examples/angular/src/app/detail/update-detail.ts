import { Component, computed, inject, input } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { isPrunedError, type Update } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { CONNECTION } from '../connection/connection';
import { formatOf } from '../feed/format-of';
import { readUpdate } from '../feed/read-update';
import { EventCard } from './event-card';
import { reasonOf } from './reason-of';
import { shownEvents } from './shown-event';

/** A whole update, which is read from the ledger again. */
@Component({
  selector: 'app-update-detail',
  imports: [EventCard],
  template: `
    @if (update.hasValue()) {
      <dl>
        @for (fact of facts(); track fact[0]) {
          <dt>{{ fact[0] }}</dt>
          <dd [class.id]="fact[1].length > 40">{{ fact[1] }}</dd>
        }
      </dl>
      <h3>{{ events().length }} {{ events().length === 1 ? 'event' : 'events' }}</h3>
      @for (event of events(); track $index) {
        <app-event-card [event]="event" />
      }
    } @else if (update.error(); as error) {
      <p class="waiting" role="alert">{{ reasonOf(error) }}</p>
      @if (!isGone(error)) {
        <button type="button" (click)="update.reload()">Try again</button>
      }
    } @else {
      <p class="waiting">Reading…</p>
    }
  `,
  styleUrl: './facts.css',
})
export class UpdateDetail {
  readonly offset = input.required<number>();
  readonly #ledger = injectLedger();
  readonly #format = formatOf(inject(CONNECTION));
  protected readonly update = rxResource({
    params: () => this.offset(),
    stream: ({ params }) => readUpdate(this.#ledger, params, this.#format),
  });
  protected readonly isGone = isPrunedError;
  protected readonly reasonOf = reasonOf;
  protected readonly events = computed(() => (this.update.hasValue() ? shownEvents(this.update.value()) : []));
  protected readonly facts = computed(() => (this.update.hasValue() ? factsOf(this.update.value()) : []));
}

const names: readonly (readonly [name: string, field: string])[] = [
  ['Variant', '_tag'],
  ['Update id', 'updateId'],
  ['Record time', 'recordTime'],
  ['Effective at', 'effectiveAt'],
  ['Synchronizer', 'synchronizerId'],
  ['Command', 'commandId'],
  ['Workflow', 'workflowId'],
  ['Traffic cost', 'paidTrafficCost'],
  ['Signed hash', 'externalTransactionHash'],
];

/** The fields of the header that are present, in a fixed order. */
function factsOf(update: Update): readonly (readonly [name: string, value: string])[] {
  const fields = new Map<string, unknown>(Object.entries(update));
  return names.flatMap(([name, field]) => {
    const value = fields.get(field) ?? '';
    return value === '' ? [] : [[name, String(value)] as const];
  });
}
