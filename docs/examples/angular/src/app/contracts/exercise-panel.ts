import { Component, computed, inject, input, signal } from '@angular/core';
import type { AnyContract } from 'canton-rx/contracts';
import { Identities } from '../submit/identities';
import { submitText } from '../submit/identity';
import { IdentityForm } from '../submit/identity-form';
import { notTwice } from '../submit/not-twice';
import { RunView } from '../submit/run-view';
import { Submissions } from '../submit/submissions';
import { head, shortId } from '../updates/names';

/** Exercises a choice of a contract, for a party of this browser. */
@Component({
  selector: 'app-exercise-panel',
  imports: [IdentityForm, RunView],
  template: `
    <p class="contract" [title]="contract().contractId">
      <b>{{ entity() }}</b> {{ contract().packageName }} · <code>{{ head(contract().contractId, 14) }}</code>
    </p>
    <app-identity-form />
    @if (identities.current(); as identity) {
      <form (submit)="submit($event)">
        <label>
          Choice
          <input
            required
            list="known-choices"
            pattern="[A-Za-z_][A-Za-z0-9_$']*"
            autocomplete="off"
            spellcheck="false"
            [value]="choice()"
            #name
            (input)="choice.set(name.value.trim())"
          />
          <datalist id="known-choices">
            @for (known of choices(); track known) {
              <option [value]="known"></option>
            }
          </datalist>
        </label>
        <label>
          Argument
          <textarea
            rows="5"
            spellcheck="false"
            aria-describedby="argument-problem"
            [attr.aria-invalid]="problem() !== ''"
            [value]="argument()"
            #json
            (input)="argument.set(json.value)"
          ></textarea>
        </label>
        <p id="argument-problem" class="problem" aria-live="polite">{{ problem() }}</p>
        @if (warning(); as text) {
          <p class="warning">{{ text }}</p>
        }
        <button type="submit" class="primary" [disabled]="problem() !== ''" (click)="notTwice($event)">
          {{ submitText(identity) }}
        </button>
      </form>
    }
    @for (run of runs(); track run.commandId) {
      <app-run-view [run]="run" />
    }
  `,
  styleUrls: ['../shell/form.css', './exercise-panel.css'],
})
export class ExercisePanel {
  readonly contract = input.required<AnyContract>();
  /** Choices that are known of it, as proposals. */
  readonly choices = input<readonly string[]>([]);
  protected readonly identities = inject(Identities);
  readonly #submissions = inject(Submissions);
  protected readonly runs = this.#submissions.runs;
  protected readonly head = head;
  protected readonly entity = computed(() => this.contract().templateId.replace(/^.*:/, ''));
  protected readonly notTwice = notTwice;
  protected readonly submitText = submitText;
  protected readonly choice = signal('Archive');
  protected readonly argument = signal('{}');
  readonly #parsed = computed(() => parse(this.argument()));
  protected readonly problem = computed(() => this.#parsed().problem ?? '');
  protected readonly warning = computed(() => {
    const { signatories, observers } = this.contract();
    const party = this.identities.current()?.party;
    if (party === undefined || [...signatories, ...observers].includes(party)) return '';
    return `${shortId(party)} is neither a signatory nor an observer: the ledger may refuse it.`;
  });

  protected submit(event: Event): void {
    event.preventDefault();
    const identity = this.identities.current();
    const { value, problem } = this.#parsed();
    if (identity === undefined || problem !== undefined) return;
    const { contractId, templateId } = this.contract();
    const choice = this.choice();
    const exercise = { templateId, contractId, choice, choiceArgument: value };
    this.#submissions.submit(`${this.entity()}.${choice}`, { ExerciseCommand: exercise }, identity);
  }
}

/** The argument of a choice, which is always a record; or what is wrong with it. */
function parse(text: string): { readonly value?: object; readonly problem?: string } {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { value };
    return { problem: 'The argument of a choice is a record: { "field": value }.' };
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^JSON\.parse: /, '') : '';
    return { problem: `This is not JSON. ${reason}` };
  }
}
