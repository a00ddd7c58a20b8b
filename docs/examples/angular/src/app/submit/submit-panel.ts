import { afterRenderEffect, Component, computed, ElementRef, inject, input, linkedSignal } from '@angular/core';
import { CreateForm } from './create-form';
import { ArchiveForm } from './archive-form';
import { Identities } from './identities';
import { IdentityForm } from './identity-form';
import { RunView } from './run-view';
import { Submissions } from './submissions';

/** The panel of submissions: the identity, the forms, and the steps of each submission. */
@Component({
  selector: 'app-submit-panel',
  imports: [ArchiveForm, CreateForm, IdentityForm, RunView],
  template: `
    <app-identity-form />
    @if (identities.current(); as identity) {
      <div class="tabs" role="group" aria-label="Command">
        <button type="button" [attr.aria-pressed]="command() === 'create'" (click)="command.set('create')">
          Create
        </button>
        <button type="button" [attr.aria-pressed]="command() === 'archive'" (click)="command.set('archive')">
          Archive
        </button>
      </div>
      @if (command() === 'create') {
        <app-create-form [identity]="identity" />
      } @else {
        <app-archive-form [identity]="identity" [chosen]="archive()" />
      }
    }
    @for (run of runs(); track run.commandId) {
      <app-run-view [run]="run" />
    }
  `,
  styleUrl: './submit-panel.css',
})
export class SubmitPanel {
  readonly archive = input<{ readonly contractId: string; readonly templateId: string } | undefined>();
  protected readonly identities = inject(Identities);
  protected readonly runs = computed(() => this.#submissions.runs());
  readonly #submissions = inject(Submissions);
  protected readonly command = linkedSignal<'create' | 'archive'>(() => (this.archive() ? 'archive' : 'create'));
  readonly #host = inject<ElementRef<HTMLElement>>(ElementRef).nativeElement;

  constructor() {
    // scrolls to the steps of the newest submission
    afterRenderEffect(() => {
      const [newest] = this.runs();
      if (newest !== undefined) this.#host.querySelector('app-run-view')?.scrollIntoView({ block: 'nearest' });
    });
  }
}
