import { DecimalPipe } from '@angular/common';
import { Component, computed, inject } from '@angular/core';
import { Feed } from '../feed/feed';
import { Panels } from '../shell/panels';
import { ageOf, localTime, timeOfDay } from '../shell/times';
import { shortId } from '../updates/names';
import { UpdateList } from '../updates/update-list';
import { Health } from './health';
import { LedgerProblem } from './ledger-problem';
import { RateChart } from './rate-chart';
import { Samples } from './samples';

/** The state, the lag and the rate of the feed. */
@Component({
  selector: 'app-status-strip',
  imports: [DecimalPipe, LedgerProblem, RateChart],
  templateUrl: './status-strip.html',
  styleUrl: './status-strip.css',
  host: { role: 'region', 'aria-label': 'Status' },
})
export class StatusStrip {
  protected readonly feed = inject(Feed);
  protected readonly list = inject(UpdateList);
  protected readonly health = inject(Health);
  protected readonly panels = inject(Panels);
  protected readonly samples = inject(Samples);
  protected readonly status = this.feed.status;
  /** The latest record time of each synchronizer, and its age at the last sample if it is a minute or more. */
  protected readonly clocks = computed(() => {
    const now = (this.samples.all().at(-1)?.at ?? 0) * 1_000;
    return this.feed.recordTimes().map(([id, full]) => {
      const time = timeOfDay(full);
      const age = ageOf(now - Date.parse(full));
      const title = `The latest record time of ${id}: ${full}, which is ${localTime(full)}`;
      return { id, name: shortId(id), title, age, seconds: time.slice(0, 8), fraction: time.slice(8) };
    });
  });
  /** Whether anything was read: without that, no updates say nothing. */
  protected readonly isKnown = computed(() => this.health.isReading() || this.list.count() > 0);
  protected readonly isStopped = computed(() => this.health.phase() === 'failed');

  protected toggle(): void {
    if (this.isStopped()) this.feed.tryAgain();
    else this.feed.isRunning.update((isRunning) => !isRunning);
  }
}
