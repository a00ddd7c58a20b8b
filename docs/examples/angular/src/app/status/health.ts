import { computed, inject, Injectable } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import { injectLedger } from 'canton-rx/angular';
import { CONNECTION } from '../connection/connection';
import { Feed } from '../feed/feed';
import { nameOf, problemOf } from './problem-of';
import { Troubles } from './troubles';

export type Phase = 'connecting' | 'catchingUp' | 'caughtUp' | 'retrying' | 'paused' | 'failed';

const words: Readonly<Record<Phase, string>> = {
  connecting: 'Connecting',
  catchingUp: 'Catching up',
  caughtUp: 'Caught up',
  retrying: 'Retrying',
  paused: 'Paused',
  failed: 'Stopped',
};

/** From how many offsets on the table does not show what the ledger has, although the last response had no more. */
const farBehind = 100;

/** The state of the feed in one word, from `diagnostics$` and the status of the processor. */
@Injectable()
export class Health {
  readonly #feed = inject(Feed);
  readonly #connection = inject(CONNECTION);
  readonly #trouble = inject(Troubles).first;

  readonly phase = computed((): Phase => {
    if (!this.#feed.isRunning()) return 'paused';
    if (this.#feed.failure() !== undefined) return 'failed';
    if (this.#trouble() !== undefined || this.#feed.beginTrouble() !== undefined) return 'retrying';
    const { state, lagOffsets = 0 } = this.#feed.status() ?? { state: 'waiting' };
    if (state === 'caughtUp' && lagOffsets >= farBehind) return 'catchingUp';
    // a run that is just replaced by the next one has ended
    return state === 'waiting' || state === 'ended' ? 'connecting' : state;
  });
  readonly word = computed(() => words[this.phase()]);
  /** The reason while it retries or has stopped. */
  readonly reason = computed(() => {
    const trouble = this.#trouble();
    const failure = this.#feed.failure();
    if (failure !== undefined && this.phase() === 'failed') return problemOf(failure, this.#connection).text;
    if (this.phase() !== 'retrying') return '';
    if (trouble === undefined) return nameOf(this.#feed.beginTrouble() ?? new Error());
    return `${nameOf(trouble.cause)}, try ${trouble.failures + 1} in ${(trouble.delayMs / 1_000).toFixed(1)} s`;
  });
  /** What it retries after, or has stopped for. */
  readonly error = computed(() => this.#feed.failure() ?? this.#trouble()?.cause ?? this.#feed.beginTrouble());
  /** Whether the ledger is being read. What it has, and how fast it grows, is unknown otherwise. */
  readonly isReading = computed(() => this.phase() === 'catchingUp' || this.phase() === 'caughtUp');
  readonly lag = computed(() => (this.isReading() ? this.#feed.status()?.lagOffsets : undefined));

  constructor() {
    injectLedger()
      .diagnostics$.pipe(takeUntilDestroyed())
      .subscribe((event) => {
        if (event._tag === 'UpdateSkipped')
          this.#feed.notice.set(`Update ${event.offset} cannot be read, and is not in the table.`);
      });
  }
}
