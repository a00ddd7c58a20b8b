import { Component, computed, effect, inject, input } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { CONNECTION } from '../connection/connection';
import { ContractDetail } from '../detail/contract-detail';
import { EventCard } from '../detail/event-card';
import type { ShownEvent } from '../detail/shown-event';
import { TemplateName } from '../detail/template-name';
import { reasonOf } from '../detail/reason-of';
import { CopyButton } from '../shell/copy-button';
import { numeral } from '../shell/numbers';
import { Panels } from '../shell/panels';
import { contractLink } from '../shell/route';
import { localTime } from '../shell/times';
import { Submissions } from '../submit/submissions';
import { shortId } from '../updates/names';
import { OpenContracts } from './open-contracts';
import { PayloadView } from './payload-view';
import { readHistory } from './read-history';
import { showValue } from './show-value';

/** A contract of the table: what it is, where it is, its arguments, and its history as the ledger has it. */
@Component({
  selector: 'app-contract-panel',
  imports: [ContractDetail, CopyButton, EventCard, PayloadView, TemplateName],
  templateUrl: './contract-panel.html',
  styleUrl: './contract-panel.css',
})
export class ContractPanel {
  readonly contractId = input.required<string>();
  protected readonly panels = inject(Panels);
  protected readonly contractLink = contractLink;
  protected readonly shortId = shortId;
  protected readonly reasonOf = reasonOf;
  protected readonly numeral = numeral;
  protected readonly localTime = localTime;
  readonly #open = inject(OpenContracts);
  readonly #list = this.#open.list;
  readonly #ledger = injectLedger();
  readonly #submissions = inject(Submissions);
  readonly #parties = inject(CONNECTION).parties;

  /** The contract, if it is active. */
  readonly #active = computed(() => this.#list()?.find(this.contractId()));
  /** The contract; its last value if it is not active any more. */
  protected readonly row = computed(() => this.#active() ?? this.#open.seen.get(this.contractId()));
  protected readonly isGone = computed(() => this.#active() === undefined);
  protected readonly created = computed(() => showValue(this.row()?.createdAt, 'time'));
  protected readonly json = computed(() => JSON.stringify(this.row()?.fields, null, 2));

  protected readonly isDown = computed(() => this.#list()?.trouble() !== undefined);

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
  /** The events, without what all of them have in common, which is above. */
  protected readonly events = computed(() => (this.read()?.events ?? []).map(ofOneContract));
  protected readonly archivedAt = computed(
    () => this.read()?.events.findLast(({ effect }) => effect.kind === 'archived')?.offset,
  );

  constructor() {
    effect(() => {
      const row = this.#active();
      if (row !== undefined) this.#open.seen.set(row.contractId, row);
    });
  }

  protected exercise(): void {
    const row = this.row();
    if (row === undefined) return;
    const seen = (this.read()?.events ?? []).flatMap(({ effect }) => effect.label.split('.').slice(1));
    this.panels.push({ kind: 'exercise', contract: row.contract, choices: [...new Set(['Archive', ...seen])] });
  }
}

/** An event in the history of its contract. */
function ofOneContract({ effect, ...event }: ShownEvent): ShownEvent {
  const [, arrow, synchronizer] = / ([←→]) (.*)$/.exec(effect.label) ?? [];
  const plain = { ...event, templateId: undefined };
  if (effect.kind === 'created') return { ...plain, roles: [], values: [], effect: { ...effect, label: 'Created' } };
  if (effect.kind === 'moved') {
    const label = arrow === '→' ? `Left for ${synchronizer}` : `Arrived from ${synchronizer}`;
    return { ...plain, roles: [], values: [], effect: { ...effect, label } };
  }
  return { ...plain, effect: { ...effect, label: effect.label.replace(/^.*\./, '') } };
}
