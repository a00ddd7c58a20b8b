import { computed, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed } from '@angular/core/rxjs-interop';
import type { Diagnostic } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';

type Retry = Extract<Diagnostic, { _tag: 'RetryScheduled' }>;

/** The diagnostics that end the retries of a feed. */
const isOver: ReadonlySet<Diagnostic['_tag']> = new Set(['PageReceived', 'CaughtUp', 'FeedEnded'] as const);

/** The pending retries of all feeds, from `diagnostics$`. An update that is read for a panel is a feed as well. */
@Injectable()
export class Troubles {
  readonly #retries = signal<ReadonlyMap<number, Retry>>(new Map());
  /** The retry that has been pending for longest. */
  readonly first = computed(() => [...this.#retries().values()].at(0));
  readonly isDown = computed(() => this.first() !== undefined);

  constructor() {
    injectLedger()
      .diagnostics$.pipe(takeUntilDestroyed())
      .subscribe((event) => {
        const { feed } = event;
        if (feed === undefined) return;
        if (event._tag === 'RetryScheduled') this.#retries.update((retries) => new Map(retries).set(feed, event));
        if (isOver.has(event._tag) && this.#retries().has(feed))
          this.#retries.update((retries) => new Map([...retries].filter(([of]) => of !== feed)));
      });
  }
}
