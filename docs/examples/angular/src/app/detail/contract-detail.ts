import { Component, computed, inject, input } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { forkJoin, map, of } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { formatOf } from '../feed/format-of';
import { readUpdate } from '../feed/read-update';
import { CopyButton } from '../shell/copy-button';
import { Panels } from '../shell/panels';
import { Identities } from '../submit/identities';
import { UpdateList } from '../updates/update-list';
import { EventCard } from './event-card';
import { Reading } from './reading';
import { shownEvents } from './shown-event';
import { TemplateName } from './template-name';

/** The history of a contract: all of its events that the feed has read, updated while the feed runs. */
@Component({
  selector: 'app-contract-detail',
  imports: [CopyButton, EventCard, Reading, TemplateName],
  template: `
    <dl>
      <dt>Contract id</dt>
      <dd class="id">{{ contractId() }} <app-copy-button [text]="contractId()" label="contract id" /></dd>
      @if (created(); as created) {
        <dt>Template</dt>
        <dd><app-template-name [templateId]="created.templateId" [packageName]="created.packageName" /></dd>
      }
      @if (events().length > 0) {
        <dt>State</dt>
        <dd>{{ isArchived() ? 'Archived' : 'Active, as far as was seen' }}</dd>
      }
    </dl>
    @if (isMine()) {
      <button type="button" class="archive" (click)="archive()">Archive…</button>
    }
    <h3>{{ events().length }} {{ events().length === 1 ? 'event' : 'events' }} seen</h3>
    @for (event of events(); track $index) {
      <app-event-card [event]="event" [isOfContract]="true" />
    } @empty {
      @if (offsets().length === 0) {
        <p>None of its events is among the updates of this page.</p>
      } @else {
        <app-reading [error]="read.error()" (again)="read.reload()" />
      }
    }
  `,
  styleUrl: './facts.css',
})
export class ContractDetail {
  readonly contractId = input.required<string>();
  protected readonly panels = inject(Panels);
  readonly #list = inject(UpdateList);
  readonly #ledger = injectLedger();
  readonly #identities = inject(Identities);
  readonly #format = formatOf(inject(CONNECTION));

  // compared by value: the list changes with each update, the offsets of one contract hardly ever
  protected readonly offsets = computed(() => this.#list.offsetsOf(this.contractId()), {
    equal: (a, b) => a.length === b.length && a.every((offset, index) => offset === b[index]),
  });
  protected readonly read = rxResource({
    params: () => ({ contractId: this.contractId(), offsets: this.offsets() }),
    stream: ({ params: { contractId, offsets } }) => {
      if (offsets.length === 0) return of([]);
      const reads = offsets.map((offset) => readUpdate(this.#ledger, offset, this.#format));
      return forkJoin(reads).pipe(
        map((updates) => updates.flatMap(shownEvents).filter((event) => event.contractId === contractId)),
      );
    },
  });
  protected readonly events = computed(() => (this.read.hasValue() ? this.read.value() : []));
  /** The names of its template, which each of its events has. */
  protected readonly created = computed(() =>
    this.events()
      .flatMap(({ templateId, packageName }) => (templateId === undefined ? [] : [{ templateId, packageName }]))
      .at(0),
  );
  protected readonly isArchived = computed(() => this.events().some(({ effect }) => effect.kind === 'archived'));
  protected readonly isMine = computed(() => {
    const party = this.#identities.current()?.party;
    const isSigned = this.events().some(({ roles }) =>
      roles.some(([role, parties]) => role === 'Signatories' && parties.length === 1 && parties[0] === party),
    );
    return isSigned && !this.isArchived();
  });

  protected archive(): void {
    const archive = { contractId: this.contractId(), templateId: this.created()?.templateId ?? '' };
    this.panels.push({ kind: 'submit', archive });
  }
}
