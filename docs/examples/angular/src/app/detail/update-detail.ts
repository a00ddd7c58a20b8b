import { Component, computed, inject, input } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import type { Update } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { CONNECTION } from '../connection/connection';
import { formatOf } from '../feed/format-of';
import { readUpdate } from '../feed/read-update';
import { CopyButton } from '../shell/copy-button';
import { numeral } from '../shell/numbers';
import { localTime } from '../shell/times';
import { EventCard } from './event-card';
import { Reading } from './reading';
import { shownEvents } from './shown-event';

/** A whole update, which is read from the ledger again. */
@Component({
  selector: 'app-update-detail',
  imports: [CopyButton, EventCard, Reading],
  template: `
    @if (update.hasValue()) {
      <dl>
        @for (fact of facts(); track fact[0]) {
          <dt>{{ fact[0] }}</dt>
          <dd [class.id]="fact[1].length > 40">
            {{ fact[1] }}
            @if (isId(fact[0])) {
              <app-copy-button [text]="fact[1]" [label]="fact[0].toLowerCase()" />
            } @else if (isTime(fact[0])) {
              <small>{{ localTime(fact[1]) }}</small>
            }
          </dd>
        }
      </dl>
      <h3>{{ events().length }} {{ events().length === 1 ? 'event' : 'events' }}</h3>
      @for (event of events(); track $index) {
        <app-event-card [event]="event" />
      }
    } @else {
      <app-reading [error]="update.error()" (again)="update.reload()" />
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
  protected readonly localTime = localTime;
  protected readonly isId = (name: string): boolean => ids.has(name);
  protected readonly isTime = (name: string): boolean => times.has(name);
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

const ids: ReadonlySet<string> = new Set(['Update id', 'Synchronizer', 'Command', 'Workflow', 'Signed hash']);
const times: ReadonlySet<string> = new Set(['Record time', 'Effective at']);

/** The fields of the header that are present, in a fixed order. */
function factsOf(update: Update): readonly (readonly [name: string, value: string])[] {
  const fields = new Map<string, unknown>(Object.entries(update));
  return names.flatMap(([name, field]) => {
    const value = fields.get(field) ?? '';
    if (value === '') return [];
    return [[name, field === 'paidTrafficCost' ? numeral(Number(value)) : String(value)] as const];
  });
}
