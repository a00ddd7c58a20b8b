import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { CONNECTION } from '../connection/connection';
import { Connections } from '../connection/connections';
import { Feed } from '../feed/feed';
import { Panels } from '../shell/panels';
import { Health } from '../status/health';
import { Filters } from './filters';

/** What stands in a table without rows: why there are none, and what to do about it. */
@Component({
  selector: 'app-empty-table',
  imports: [DecimalPipe],
  template: `
    @if (filters.isActive()) {
      <p>Nothing matches the filters.</p>
      <button type="button" (click)="filters.clear()">Clear the filters</button>
    } @else {
      @switch (health.phase()) {
        @case ('connecting') {
          <p>Connecting to {{ connection.baseUrl }}…</p>
        }
        @case ('catchingUp') {
          <p>Reading {{ feed.status()?.lagOffsets | number }} offsets…</p>
        }
        @case ('paused') {
          <p>Paused before anything was read.</p>
        }
        @case ('caughtUp') {
          <p>No updates yet.</p>
        }
        @default {
          <h2>{{ isFailed() ? 'The ledger cannot be read' : 'The ledger cannot be read yet' }}</h2>
          <p class="address">{{ connection.baseUrl }}</p>
          <p role="alert">{{ health.explanation() }}</p>
          <div class="row">
            @if (isFailed()) {
              <button type="button" (click)="feed.tryAgain()">Try again</button>
            }
            <button type="button" class="primary" (click)="panels.show({ kind: 'connection' })">
              Change the address
            </button>
            @if (connections.previous(); as previous) {
              <button type="button" (click)="connections.open(previous)">Back to {{ previous.baseUrl }}</button>
            }
          </div>
        }
      }
    }
  `,
  styles: `
    :host {
      display: block;
      max-width: 34rem;
      padding: 0 16px;
      color: var(--muted);
      text-align: center;
    }
    h2 {
      margin: 0 0 4px;
      color: var(--text);
      font-size: 16px;
    }
    p {
      margin: 0 0 10px;
      overflow-wrap: anywhere;
    }
    .address {
      font: 12.5px/18px var(--mono);
    }
    .row {
      display: flex;
      flex-wrap: wrap;
      justify-content: center;
      gap: 8px;
    }
  `,
})
export class EmptyTable {
  protected readonly connection = inject(CONNECTION);
  protected readonly connections = inject(Connections);
  protected readonly feed = inject(Feed);
  protected readonly filters = inject(Filters);
  protected readonly health = inject(Health);
  protected readonly panels = inject(Panels);
  protected readonly isFailed = computed(() => this.health.phase() === 'failed');
}
