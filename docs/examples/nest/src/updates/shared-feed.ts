import { Inject, Injectable } from '@nestjs/common';
import type { Ledger, Offset } from 'canton-rx';
import { concatMap, defer, filter, map, of, ReplaySubject, scan, share, startWith, switchMap, take, timer } from 'rxjs';
import { toArray, type Observable } from 'rxjs';
import { LEDGER } from '../ledger/ledger.js';
import { Selection } from '../ledger/selection.js';
import type { Page } from './page.js';
import { withUpdate, type Recent } from './recent.js';

/** The most updates that are read for one client at a time. */
const pageSize = 200;

/** How long the feed goes on when its last reader has left: the next page is asked for in a moment, or one reconnects. */
const lingerMs = 1_000;

/**
 * One feed of the ledger for all who watch, however many they are: a feed for each would cost the participant a request
 * that is always open, and this process the decoding of every update, for each of them. There is none while nobody watches.
 *
 * Readers ask for pages, each from where it stands and when it is ready for it. Who is further behind than what is kept
 * here reads from the ledger until he is not; nobody has to be dropped for being slow, and nothing piles up for him.
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

  /** Where the ledger ends now. */
  end(): Observable<Offset> {
    return this.recent$.pipe(
      take(1),
      map(({ end }) => end),
    );
  }

  /** The next updates after an offset, as soon as there are any, or the place has moved on without; emits once. */
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

  /** Another replica has seen more than this one so far; or the ledger has been reset, and that is an error. */
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
