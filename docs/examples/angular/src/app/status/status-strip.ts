import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { Feed } from '../feed/feed';
import { shortId, timeOfDay } from '../updates/names';
import { UpdateList } from '../updates/update-list';
import { Health } from './health';
import { RateChart } from './rate-chart';

/** The state, the lag and the rate of the feed. */
@Component({
  selector: 'app-status-strip',
  imports: [DecimalPipe, RateChart],
  templateUrl: './status-strip.html',
  styleUrl: './status-strip.css',
  host: { role: 'region', 'aria-label': 'Status' },
})
export class StatusStrip {
  protected readonly feed = inject(Feed);
  protected readonly list = inject(UpdateList);
  protected readonly health = inject(Health);
  protected readonly status = this.feed.status;
  protected readonly clocks = computed(() =>
    this.feed.recordTimes().map(([id, full]) => {
      const time = timeOfDay(full);
      return { id, name: shortId(id), full, seconds: time.slice(0, 8), fraction: time.slice(8) };
    }),
  );
  protected readonly isStopped = computed(() => this.health.phase() === 'failed');

  protected toggle(): void {
    if (this.isStopped()) this.feed.tryAgain();
    else this.feed.isRunning.update((isRunning) => !isRunning);
  }
}
