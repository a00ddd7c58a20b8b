import { Component, computed, inject, input, output } from '@angular/core';
import { CONNECTION } from '../connection/connection';
import { Connections } from '../connection/connections';
import { Panels } from '../shell/panels';
import { problemOf } from './problem-of';

/** Why the ledger cannot be read, on every page: the remedy first, and the button that leads to it. */
@Component({
  selector: 'app-ledger-problem',
  template: `
    <div class="text" role="alert">
      <h2>{{ problem().text }}</h2>
    </div>
    <div class="row">
      <button type="button" class="primary" (click)="panels.show({ kind: 'connection', field: problem().field })">
        {{ problem().action }}
      </button>
      @if (isFinal()) {
        <button type="button" (click)="again.emit()">Try again</button>
      }
      @if (connections.previous(); as previous) {
        <button type="button" (click)="connections.open(previous)">{{ connections.backTo(previous) }}</button>
      }
    </div>
    <p>{{ connection.baseUrl }}</p>
    <p class="detail">{{ detail() }}</p>
  `,
  styles: `
    :host {
      display: block;
      overflow-wrap: anywhere;
    }
    h2 {
      margin: 0 0 10px;
      color: var(--text);
      font-size: 16px;
      line-height: 22px;
      text-wrap: balance;
    }
    p {
      margin: 6px 0 0;
      color: var(--muted);
      font: 12.5px/18px var(--mono);
    }
    .row {
      display: flex;
      flex-wrap: wrap;
      justify-content: center;
      gap: 8px;
    }
    button {
      height: auto;
      min-height: 30px;
      white-space: normal;
    }
    :host(.is-banner) {
      display: flex;
      flex-wrap: wrap;
      align-items: center;
      gap: 4px 12px;
      padding: 6px 16px;
      border-bottom: 1px solid var(--line);
      background: var(--warn-soft);
    }
    :host(.is-banner) .text {
      flex: 1 1 20rem;
    }
    :host(.is-banner) h2 {
      margin: 0;
      font-size: 13px;
      font-weight: 550;
    }
    :host(.is-banner) p {
      display: none;
    }
  `,
})
export class LedgerProblem {
  readonly error = input.required<Error>();
  /** Whether it is not tried again by itself. */
  readonly isFinal = input(false);
  /** Emits when it is to be tried again. */
  readonly again = output();
  protected readonly connection = inject(CONNECTION);
  protected readonly connections = inject(Connections);
  protected readonly panels = inject(Panels);
  protected readonly problem = computed(() => problemOf(this.error(), this.connection));
  /** All that the client of the ledger says of it. */
  protected readonly detail = computed(() =>
    this.error()
      .message.split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .join(' · '),
  );
}
