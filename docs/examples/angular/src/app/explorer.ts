import { afterRenderEffect, Component, computed, ElementRef, inject, viewChild } from '@angular/core';
import { CdkTrapFocus } from '@angular/cdk/a11y';
import { CONNECTION } from './connection/connection';
import { ConnectionForm } from './connection/connection-form';
import { ContractDetail } from './detail/contract-detail';
import { UpdateDetail } from './detail/update-detail';
import { SandboxBar } from './sandbox/sandbox-bar';
import { isTyping } from './shell/is-typing';
import { Panels } from './shell/panels';
import { Screen } from './shell/screen';
import { TopBar } from './shell/top-bar';
import { StatusStrip } from './status/status-strip';
import { SubmitPanel } from './submit/submit-panel';
import { FilterBar } from './updates/filter-bar';
import { UpdateTable } from './updates/update-table';

const titles = { update: 'Update', contract: 'Contract', submit: 'Submit', connection: 'Connection' } as const;

/** The page: status, filters, the table, and the panel next to it. */
@Component({
  selector: 'app-explorer',
  imports: [
    CdkTrapFocus,
    ConnectionForm,
    ContractDetail,
    FilterBar,
    SandboxBar,
    StatusStrip,
    SubmitPanel,
    TopBar,
    UpdateDetail,
    UpdateTable,
  ],
  templateUrl: './explorer.html',
  styleUrl: './explorer.css',
  host: { '(document:keydown)': 'onKey($event)' },
})
export class Explorer {
  protected readonly connection = inject(CONNECTION);
  protected readonly panels = inject(Panels);
  protected readonly screen = inject(Screen);
  protected readonly title = computed(() => {
    const panel = this.panels.current();
    if (panel === undefined) return '';
    return panel.kind === 'update' ? `Update ${panel.offset}` : titles[panel.kind];
  });
  private readonly filters = viewChild.required(FilterBar);
  private readonly table = viewChild.required(UpdateTable);
  private readonly side = viewChild<ElementRef<HTMLElement>>('side');

  constructor() {
    afterRenderEffect(() => {
      // moves the focus into the panel, but not out of the table, whose keys choose what the panel shows
      if (this.panels.current() === undefined || this.table().hasFocus()) return;
      const side = this.side()?.nativeElement;
      if (side?.contains(document.activeElement) === false) side.focus();
    });
  }

  protected enterTable(): void {
    this.table().focus();
    this.table().chooseFirst();
  }

  protected close(): void {
    this.panels.close();
    this.table().focus();
  }

  protected onKey(event: KeyboardEvent): void {
    if (event.key === 'Escape' && this.panels.current() !== undefined) {
      event.preventDefault();
      this.close();
    } else if (event.key === '/' && !isTyping(event.target)) {
      event.preventDefault();
      this.filters().focus();
    }
  }
}
