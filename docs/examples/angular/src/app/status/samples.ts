import { inject, Injectable, signal, untracked } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { interval } from 'rxjs';
import { Feed } from '../feed/feed';
import { Health } from './health';

/** One second of the feed. */
export interface Sample {
  /** The time in seconds since the epoch. */
  readonly at: number;
  /** The updates in this second; the mean over several seconds if the browser suspended the page. */
  readonly rate: number;
  /** The offsets between the table and the ledger end; `null` where that is not known. */
  readonly lag: number | null;
}

const kept = 300;

/** The last five minutes, one sample per second. */
@Injectable()
export class Samples {
  readonly #feed = inject(Feed);
  readonly #health = inject(Health);
  readonly all = signal<readonly Sample[]>([]);

  constructor() {
    let before = 0;
    let beforeAt = Date.now() / 1_000;
    interval(1_000)
      .pipe(takeUntilDestroyed())
      .subscribe(() => {
        const received = untracked(this.#feed.received);
        const lag = untracked(this.#health.lag) ?? null;
        const now = Date.now() / 1_000;
        const rate = (received - before) / Math.max(1, Math.round(now - beforeAt));
        before = received;
        beforeAt = now;
        const sample: Sample = { at: Math.floor(now), rate, lag };
        this.all.update((all) => [...all.slice(1 - kept), sample]);
      });
  }
}
