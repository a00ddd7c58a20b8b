import { Component, computed, inject, input, linkedSignal, signal } from '@angular/core';
import { submitText, type Identity } from './identity';
import { notTwice } from './not-twice';
import { Submissions } from './submissions';

/** Creates a contract. */
@Component({
  selector: 'app-create-form',
  template: `
    <form (submit)="submit($event, template.value, values.value)">
      <label>
        Template
        <input #template required [value]="templateId()" spellcheck="false" />
      </label>
      <label>
        Arguments
        <textarea #values rows="6" spellcheck="false" [value]="example()"></textarea>
      </label>
      @if (problem(); as text) {
        <p class="problem" role="alert">{{ text }}</p>
      }
      <button type="submit" class="primary" (click)="notTwice($event)">{{ submitText(identity()) }}</button>
    </form>
  `,
  styleUrl: '../shell/form.css',
})
export class CreateForm {
  readonly identity = input.required<Identity>();
  readonly #submissions = inject(Submissions);
  protected readonly notTwice = notTwice;
  protected readonly submitText = submitText;
  protected readonly problem = signal('');
  readonly #party = computed(() => this.identity().party);
  protected readonly templateId = signal('#sandbox-assets:Main:Asset');
  protected readonly example = linkedSignal(() => {
    const values = { owner: this.#party(), amount: '25.0', tag: 'gold', serial: '1' };
    return JSON.stringify(values, null, 2);
  });

  protected submit(event: Event, templateId: string, values: string): void {
    event.preventDefault();
    this.problem.set('');
    try {
      const createArguments: unknown = JSON.parse(values);
      const title = `Create ${templateId.slice(templateId.lastIndexOf(':') + 1)}`;
      this.#submissions.submit(title, { CreateCommand: { templateId, createArguments } }, this.identity());
    } catch {
      this.problem.set('The arguments are not JSON.');
    }
  }
}
