import { Inject, Injectable } from '@nestjs/common';
import type { Ledger, Offset } from 'canton-rx';
import { concatMap, defer, filter, map, of, ReplaySubject, scan, share, startWith, switchMap, take, timer } from 'rxjs';
import { toArray, type Observable } from 'rxjs';
import { LEDGER } from '../ledger/ledger.js';
import { Selection } from '../ledger/selection.js';
import type { Page } from './page.js';
import { withUpdate, type Recent } from './recent.js';

/** The most updates in a page for one client. */
const pageSize = 200;

/** How long the feed runs without readers: a reader requests its next page, or reconnects, within that time. */
const lingerMs = 1_000;

/**
 * One feed of the ledger for all readers. A feed for each reader would cost the participant a request that is always
 * open, and this process the decoding of every update for each of them. There is no feed while there are no readers.
 *
 * Each reader requests pages from its own offset when it is ready for them. A reader that lags further than the updates
 * kept here reads from the ledger until it has caught up. Slow readers are neither dropped nor buffered for.
 */
@Injectable()
export class SharedFeed {
  private readonly recent$: Observable<Recent>;

  constructor(
    @Inject(LEDGER) private readonly ledger: Ledger,
    private readonly selection: Selection,
  ) {
    this.recent$ = ledger.ledgerEnd().pipe(
      switchMap((end) => {
        const { updateFormat } = selection;
        const none: Recent = { begin: end, end, updates: [] };
        return ledger.updates({ beginExclusive: end, updateFormat }).pipe(scan(withUpdate, none), startWith(none));
      }),
      share({ connector: () => new ReplaySubject(1), resetOnRefCountZero: () => timer(lingerMs) }),
    );
  }

  /** The current ledger end. */
  end(): Observable<Offset> {
    return this.recent$.pipe(
      take(1),
      map(({ end }) => end),
    );
  }

  /** Emits once: the next updates after an offset, as soon as there are any or the end has moved without any. */
  pageAfter(offset: Offset): Observable<Page> {
    return this.recent$.pipe(
      filter(({ end }) => offset !== end),
      take(1),
      concatMap((recent) => {
        if (offset > recent.end) return this.later(offset);
        return offset < recent.begin ? this.older(offset, recent.begin) : of(pageOf(recent, offset));
      }),
    );
  }

  /** For an offset beyond the end: another replica has read more, or the ledger was reset, which is an error. */
  private later(beginExclusive: Offset): Observable<Page> {
    const { updateFormat } = this.selection;
    return this.ledger.updates({ beginExclusive, updateFormat }).pipe(
      take(1),
      map((update) => ({ updates: [update], end: update.offset })),
    );
  }

  private older(beginExclusive: Offset, endInclusive: Offset): Observable<Page> {
    const { updateFormat } = this.selection;
    const range = { beginExclusive, endInclusive, updateFormat };
    return defer(() => this.ledger.updates(range, { maxPageSize: pageSize, parallelRanges: 1 })).pipe(
      take(pageSize),
      toArray(),
      map((updates) => ({
        updates,
        end: updates.length < pageSize ? endInclusive : (updates.at(-1)?.offset ?? endInclusive),
      })),
    );
  }
}

function pageOf({ updates, end }: Recent, offset: Offset): Page {
  const next = updates.filter((update) => update.offset > offset).slice(0, pageSize);
  return { updates: next, end: next.length < pageSize ? end : (next.at(-1)?.offset ?? end) };
}
