import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { CONNECTION } from '../connection/connection';
import { Feed } from '../feed/feed';
import { Health } from '../status/health';
import { LedgerProblem } from '../status/ledger-problem';
import { Filters } from './filters';

/** What stands in a table without rows: why there are none, and what to do about it. */
@Component({
  selector: 'app-empty-table',
  imports: [DecimalPipe, LedgerProblem],
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
          <p>
            {{
              feed.unknownParties().length > 0
                ? 'No updates of parties that this participant knows.'
                : 'No updates yet.'
            }}
          </p>
        }
        @default {
          @if (health.error(); as error) {
            <app-ledger-problem [error]="error" [isFinal]="isFailed()" (again)="feed.tryAgain()" />
          }
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
    p {
      margin: 0 0 10px;
      overflow-wrap: anywhere;
    }
  `,
})
export class EmptyTable {
  protected readonly connection = inject(CONNECTION);
  protected readonly feed = inject(Feed);
  protected readonly filters = inject(Filters);
  protected readonly health = inject(Health);
  protected readonly isFailed = computed(() => this.health.phase() === 'failed');
}
