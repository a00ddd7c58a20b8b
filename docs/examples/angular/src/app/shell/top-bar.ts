import { Component, computed, inject } from '@angular/core';
import { CONNECTION, partiesText } from '../connection/connection';
import { TableView } from '../updates/table-view';
import { Pages, type PageName } from './pages';
import { Panels } from './panels';
import { Theme } from './theme';

const faces = { auto: '◐', light: '☀', dark: '☾' } as const;

const names: readonly { readonly name: PageName; readonly label: string }[] = [
  { name: 'updates', label: 'Updates' },
  { name: 'contracts', label: 'Contracts' },
  { name: 'commands', label: 'Commands' },
];

@Component({
  selector: 'app-top-bar',
  template: `
    <h1>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect width="32" height="32" rx="8" />
        <path d="M8 10h16M8 16h10M8 22h13" />
        <circle cx="24" cy="16" r="2" />
      </svg>
      <span>Ledger explorer</span>
    </h1>
    <nav aria-label="Pages">
      @for (page of names; track page.name) {
        <a [href]="'#' + page.name + query" [attr.aria-current]="pages.current() === page.name ? 'page' : null">{{
          page.label
        }}</a>
      }
    </nav>
    <button type="button" class="address" title="Connection" (click)="panels.show({ kind: 'connection' })">
      <span>{{ address }}</span>
      <small [title]="partiesTitle">{{ parties }}</small>
      @if (connection.isSandbox) {
        <em>sandbox</em>
      }
    </button>
    <span class="gap"></span>
    <button type="button" class="primary" (click)="submit()">Submit…</button>
    <button type="button" class="icon" [attr.aria-label]="label()" [title]="label()" (click)="theme.toggle()">
      {{ face() }}
    </button>
  `,
  styleUrl: './top-bar.css',
  host: { role: 'banner' },
})
export class TopBar {
  protected readonly connection = inject(CONNECTION);
  protected readonly names = names;
  /** An address has the parties, so that it shows the same to others. */
  protected readonly query =
    this.connection.parties === 'any'
      ? ''
      : `?${new URLSearchParams(this.connection.parties.map((party) => ['as', party])).toString()}`;
  protected readonly pages = inject(Pages);
  protected readonly panels = inject(Panels);
  protected readonly theme = inject(Theme);
  protected readonly address = this.connection.baseUrl.replace(/^https?:\/\//, '');
  protected readonly parties = `as ${partiesText(this.connection)}`;
  protected readonly partiesTitle =
    this.connection.parties === 'any' ? 'All that the participant hosts' : this.connection.parties.join('\n');
  protected readonly label = computed(() => `Theme: ${this.theme.choice()}`);
  protected readonly face = computed(() => faces[this.theme.choice()]);
  readonly #view = inject(TableView);

  protected submit(): void {
    // a committed update is shown at the top
    this.#view.release();
    this.panels.show({ kind: 'submit' });
  }
}
