import { computed, inject, Injectable, signal, untracked } from '@angular/core';
import { takeUntilDestroyed, toObservable } from '@angular/core/rxjs-interop';
import { interval } from 'rxjs';
import { Feed } from '../feed/feed';
import { Health, type Phase } from './health';

/** One second of the feed. */
export interface Sample {
  /** The time in seconds since the epoch. */
  readonly at: number;
  /** The updates in this second; the mean over several seconds if the browser suspended the page. */
  readonly rate: number;
  /** The offsets between the table and the ledger end; `null` where that is not known. */
  readonly lag: number | null;
  /** The phase of the whole second; absent if it changed. */
  readonly phase: Phase | undefined;
}

const kept = 300;
/** The number of seconds over which the rate is taken, at most. */
const rateSeconds = 10;

/** The last five minutes, one sample per second. */
@Injectable()
export class Samples {
  readonly #feed = inject(Feed);
  readonly #health = inject(Health);
  readonly all = signal<readonly Sample[]>([]);
  /** The phases of the running second. */
  #phases = new Set<Phase>();
  #hasCaughtUp = false;

  /** The updates per second in the phase that it is in: what was read to catch up says nothing of the traffic. */
  readonly rate = computed(() => {
    if (!this.#health.isReading()) return undefined;
    const phase = this.#health.phase();
    const recent = this.all().slice(-rateSeconds);
    const same = recent.slice(recent.findLastIndex((sample) => sample.phase !== phase) + 1);
    return same.length === 0 ? undefined : same.reduce((sum, { rate }) => sum + rate, 0) / same.length;
  });

  constructor() {
    let before = 0;
    let beforeAt = Date.now() / 1_000;
    toObservable(this.#health.phase)
      .pipe(takeUntilDestroyed())
      .subscribe((phase) => this.#phases.add(phase));
    interval(1_000)
      .pipe(takeUntilDestroyed())
      .subscribe(() => {
        const received = untracked(this.#feed.received);
        const lag = untracked(this.#health.lag) ?? null;
        const now = Date.now() / 1_000;
        const rate = (received - before) / Math.max(1, Math.round(now - beforeAt));
        before = received;
        beforeAt = now;
        const [phase] = this.#phases;
        const sample: Sample = { at: Math.floor(now), rate, lag, phase: this.#phases.size === 1 ? phase : undefined };
        this.#phases = new Set([untracked(this.#health.phase)]);
        // what was read at the start is no traffic, and would stand as a step at the edge of the chart
        const isFirst = !this.#hasCaughtUp && sample.phase === 'caughtUp';
        this.#hasCaughtUp ||= isFirst;
        this.all.update((all) => [...(isFirst ? [] : all.slice(1 - kept)), sample]);
      });
  }
}
