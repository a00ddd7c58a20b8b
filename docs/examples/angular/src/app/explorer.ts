import { afterRenderEffect, Component, computed, ElementRef, inject, viewChild } from '@angular/core';
import { CdkTrapFocus } from '@angular/cdk/a11y';
import { ActivityPanel } from './connection/activity-panel';
import { CONNECTION } from './connection/connection';
import { ConnectionForm } from './connection/connection-form';
import { ContractPanel } from './contracts/contract-panel';
import { ContractsPage } from './contracts/contracts-page';
import { ExercisePanel } from './contracts/exercise-panel';
import { ContractDetail } from './detail/contract-detail';
import { UpdateDetail } from './detail/update-detail';
import { UpdateSteps } from './detail/update-steps';
import { SandboxBar } from './sandbox/sandbox-bar';
import { CommandsPage } from './commands/commands-page';
import { Pages, type FocusablePage } from './shell/pages';
import { Panels, titleOf } from './shell/panels';
import { Screen } from './shell/screen';
import { TopBar } from './shell/top-bar';
import { SubmitPanel } from './submit/submit-panel';
import { UpdatesPage } from './updates/updates-page';

/** A page, and the panel next to it. */
@Component({
  selector: 'app-explorer',
  imports: [
    ActivityPanel,
    CdkTrapFocus,
    CommandsPage,
    ConnectionForm,
    ContractDetail,
    ContractPanel,
    ContractsPage,
    ExercisePanel,
    SandboxBar,
    SubmitPanel,
    TopBar,
    UpdateDetail,
    UpdateSteps,
    UpdatesPage,
  ],
  templateUrl: './explorer.html',
  styleUrl: './explorer.css',
  host: { '(document:keydown)': 'onKey($event)' },
})
export class Explorer {
  protected readonly connection = inject(CONNECTION);
  protected readonly pages = inject(Pages);
  protected readonly panels = inject(Panels);
  protected readonly screen = inject(Screen);
  protected readonly title = computed(() => {
    const panel = this.panels.current();
    return panel === undefined ? '' : titleOf(panel);
  });
  protected readonly back = computed(() => {
    const panel = this.panels.previous();
    return panel === undefined ? '' : `Back to ${titleOf(panel)}`;
  });
  private readonly page = viewChild<FocusablePage>('page');
  private readonly side = viewChild<ElementRef<HTMLElement>>('side');

  constructor() {
    afterRenderEffect(() => {
      // moves the focus into the panel, but not out of a table, whose keys choose what the panel shows
      if (this.panels.current() === undefined || this.page()?.hasFocus() === true) return;
      const side = this.side()?.nativeElement;
      if (side?.contains(document.activeElement) === false) side.focus();
    });
  }

  protected close(): void {
    this.panels.close();
    this.page()?.focus();
  }

  protected onKey(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || this.panels.current() === undefined) return;
    event.preventDefault();
    this.close();
  }
}
