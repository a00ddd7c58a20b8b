import { inject, Injectable, signal, untracked } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { interval } from 'rxjs';
import { Feed } from '../feed/feed';

/** A second of the feed. */
export interface Sample {
  /** In seconds since the epoch. */
  readonly at: number;
  /** Updates that came within it. */
  readonly rate: number;
  /** Offsets between the display and the ledger's end; `null` where that is not known. */
  readonly lag: number | null;
}

const kept = 300;

/** The last five minutes, second by second. */
@Injectable()
export class Samples {
  readonly #feed = inject(Feed);
  readonly all = signal<readonly Sample[]>([]);

  constructor() {
    let before = 0;
    interval(1_000)
      .pipe(takeUntilDestroyed())
      .subscribe(() => {
        const received = untracked(this.#feed.received);
        const lag = untracked(this.#feed.status)?.lagOffsets ?? null;
        const sample: Sample = { at: Math.floor(Date.now() / 1_000), rate: received - before, lag };
        before = received;
        this.all.update((all) => [...all.slice(1 - kept), sample]);
      });
  }
}
