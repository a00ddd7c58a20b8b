import { computed, effect, inject, Injectable, signal, untracked } from '@angular/core';
import { isLedgerError } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { catchError, filter, finalize, map, take, throwError, toArray, type Observable, type Subscription } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import type { Row } from '../updates/row';
import { rowOf } from '../updates/row-of';
import { UpdateList } from '../updates/update-list';
import { Feed } from './feed';
import { formatOf } from './format-of';

const atFirst = 200;

/**
 * Reads the updates before those in the table. The page keeps no copy of the ledger: after a reload the feed continues
 * from the stored position, and the updates before it are read again, backward from there.
 */
@Injectable()
export class Earlier {
  readonly #ledger = injectLedger();
  readonly #connection = inject(CONNECTION);
  readonly #list = inject(UpdateList);
  readonly #feed = inject(Feed);
  /** All updates after this offset are in the list. */
  readonly #reach = signal<number | undefined>(undefined);
  #floor = 0;
  #reading: Subscription | undefined;

  readonly isReading = signal(false);
  readonly trouble = signal('');
  readonly isThere = computed(() => (this.#reach() ?? 0) > 0);

  constructor() {
    effect(() => {
      const beganAt = this.#feed.beganAt();
      this.#reading?.unsubscribe();
      this.#reach.set(beganAt);
      this.#floor = 0;
      if (beganAt !== undefined && beganAt > 0) untracked(() => this.read(atFirst));
    });
    effect(() => {
      const letGoUpTo = this.#list.letGoUpTo();
      this.#reach.update((reach) => (reach === undefined ? reach : Math.max(reach, letGoUpTo)));
    });
  }

  read(count: number): void {
    const reach = this.#reach();
    if (reach === undefined || reach === 0 || this.isReading() || this.#list.isFull()) return;
    this.isReading.set(true);
    this.trouble.set('');
    this.#reading = this.#downFrom(reach, count)
      .pipe(finalize(() => this.isReading.set(false)))
      .subscribe({
        next: (rows) => {
          // the list may have removed its oldest rows in the meantime
          if (this.#reach() !== reach) return;
          this.#reach.set(rows.length < count ? 0 : (rows[0]?.offset ?? 1) - 1);
          this.#list.prepend(rows);
        },
        error: (error: unknown) => this.trouble.set(troubleOf(error)),
      });
  }

  #downFrom(endInclusive: number, count: number): Observable<readonly Row[]> {
    const updateFormat = formatOf(this.#connection);
    const request = { beginExclusive: this.#floor, endInclusive, descendingOrder: true, updateFormat };
    return this.#ledger.updates(request, { maxPageSize: Math.min(count, 500) }).pipe(
      filter((update) => update._tag !== 'OffsetCheckpoint'),
      map(rowOf),
      take(count),
      toArray(),
      map((rows) => rows.reverse()),
      catchError((error: unknown) => {
        const earliest = isLedgerError(error, 'PrunedError') ? error.earliestOffset : undefined;
        if (earliest === undefined || earliest <= this.#floor || earliest >= endInclusive)
          return throwError(() => error);
        this.#floor = earliest;
        return this.#downFrom(endInclusive, count);
      }),
    );
  }
}

function troubleOf(error: unknown): string {
  if (isLedgerError(error, 'OrderError')) return 'A ledger before Canton 3.5 cannot be read backward.';
  return error instanceof Error ? error.name : String(error);
}
