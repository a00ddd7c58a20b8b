import { DecimalPipe } from '@angular/common';
import { Component, computed, inject, input } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { reasonOf } from '../detail/reason-of';
import { Troubles } from '../status/troubles';
import { head, templateName } from '../updates/names';
import { activeContracts } from './active-contracts';
import { submitText, type Identity } from './identity';
import { notTwice } from './not-twice';
import { Submissions } from './submissions';

/** Archives a contract of the party. */
@Component({
  selector: 'app-archive-form',
  imports: [DecimalPipe],
  template: `
    <form (submit)="submit($event, contract.value)">
      <label>
        Contract
        <select #contract required>
          @for (item of contracts(); track item.contractId) {
            <option [value]="item.contractId" [selected]="item.contractId === chosen()?.contractId">
              {{ templateName(item.templateId, item.packageName) }} · {{ head(item.contractId, 8) }} · at
              {{ item.offset | number }}
            </option>
          } @empty {
            <option value="" disabled selected>{{ nothing() }}</option>
          }
        </select>
      </label>
      <button type="submit" class="primary" (click)="notTwice($event)" [disabled]="contracts().length === 0">
        {{ submitText(identity()) }}
      </button>
    </form>
  `,
  styleUrl: '../shell/form.css',
})
export class ArchiveForm {
  readonly identity = input.required<Identity>();
  readonly chosen = input<{ readonly contractId: string; readonly templateId: string } | undefined>();
  readonly #ledger = injectLedger();
  readonly #submissions = inject(Submissions);
  protected readonly notTwice = notTwice;
  protected readonly submitText = submitText;
  protected readonly head = head;
  protected readonly templateName = templateName;
  readonly #troubles = inject(Troubles);
  readonly #ended = computed(() => this.#submissions.runs().filter(({ outcome }) => outcome !== undefined).length);
  protected readonly read = rxResource({
    // read again after each submission
    params: () => ({ party: this.identity().party, ended: this.#ended() }),
    stream: ({ params }) => activeContracts(this.#ledger, params.party),
  });
  protected readonly contracts = computed(() => (this.read.hasValue() ? this.read.value() : []));

  protected readonly nothing = computed(() => {
    const error = this.read.error();
    if (error !== undefined) return reasonOf(error);
    if (this.#troubles.isDown()) return 'The ledger does not answer';
    return this.read.isLoading() ? 'Reading…' : 'None is active';
  });

  protected submit(event: Event, contractId: string): void {
    event.preventDefault();
    const templateId = this.contracts().find((contract) => contract.contractId === contractId)?.templateId;
    if (templateId === undefined) return;
    const exercise = { templateId, contractId, choice: 'Archive', choiceArgument: {} };
    this.#submissions.submit(`Archive ${head(contractId, 10)}`, { ExerciseCommand: exercise }, this.identity());
  }
}
