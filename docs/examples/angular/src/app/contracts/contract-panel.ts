import { Component, computed, inject, input, linkedSignal, signal } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { CONNECTION } from '../connection/connection';
import { ContractDetail } from '../detail/contract-detail';
import { EventCard } from '../detail/event-card';
import { reasonOf } from '../detail/reason-of';
import { Panels } from '../shell/panels';
import { Submissions } from '../submit/submissions';
import { shortId } from '../updates/names';
import type { ContractRow } from './contract-row';
import { CopyText } from './copy-text';
import { OpenContracts } from './open-contracts';
import { PayloadView } from './payload-view';
import { readHistory } from './read-history';
import { showValue } from './show-value';

/** A contract of the table: what it is, where it is, its arguments, and its history as the ledger has it. */
@Component({
  selector: 'app-contract-panel',
  imports: [ContractDetail, CopyText, EventCard, PayloadView],
  templateUrl: './contract-panel.html',
  styleUrl: './contract-panel.css',
})
export class ContractPanel {
  readonly contractId = input.required<string>();
  protected readonly panels = inject(Panels);
  protected readonly shortId = shortId;
  protected readonly reasonOf = reasonOf;
  readonly #list = inject(OpenContracts).list;
  readonly #ledger = injectLedger();
  readonly #submissions = inject(Submissions);
  readonly #parties = inject(CONNECTION).parties;

  /** The contract, if it is active. */
  readonly #active = computed(() => this.#list()?.find(this.contractId()));
  /** The contract; its last value if it is not active any more. */
  protected readonly row = linkedSignal<{ id: string; now: ContractRow | undefined }, ContractRow | undefined>({
    source: () => ({ id: this.contractId(), now: this.#active() }),
    computation: ({ id, now }, previous) => now ?? (previous?.source.id === id ? previous.value : undefined),
  });
  protected readonly isGone = computed(() => this.#active() === undefined);
  protected readonly templateId = computed(() => this.row()?.contract.templateId ?? '');
  protected readonly packageId = computed(() => this.templateId().split(':')[0] ?? '');
  protected readonly qualifiedName = computed(() => this.templateId().slice(this.packageId().length + 1));
  protected readonly isPackageShown = signal(false);
  protected readonly created = computed(() => showValue(this.row()?.createdAt, 'time'));
  protected readonly json = computed(() => JSON.stringify(this.row()?.fields, null, 2));

  /** The last submission of this page that was committed, which may have exercised the contract without changing it. */
  readonly #committed = computed(() =>
    Math.max(0, ...this.#submissions.runs().map(({ outcome }) => outcome?.offset ?? 0)),
  );
  protected readonly history = rxResource({
    // read again when the contract has changed
    params: () => {
      const row = this.row();
      return row && { row, isGone: this.isGone(), committed: this.#committed() };
    },
    stream: ({ params: { row } }) => readHistory(this.#ledger, row, this.#parties),
  });
  protected readonly read = computed(() => (this.history.hasValue() ? this.history.value() : undefined));
  /** The events, without the arguments and the parties of the contract, which are above. */
  protected readonly events = computed(() =>
    (this.read()?.events ?? []).map((event) =>
      event.effect.kind === 'exercised' || event.effect.kind === 'archived' ? event : { ...event, roles: [], values: [] },
    ),
  );
  protected readonly archivedAt = computed(
    () => this.read()?.events.findLast(({ effect }) => effect.kind === 'archived')?.offset,
  );

  protected exercise(): void {
    const row = this.row();
    if (row === undefined) return;
    const seen = (this.read()?.events ?? []).flatMap(({ effect }) => effect.label.split('.').slice(1));
    this.panels.push({ kind: 'exercise', contract: row.contract, choices: [...new Set(['Archive', ...seen])] });
  }
}
