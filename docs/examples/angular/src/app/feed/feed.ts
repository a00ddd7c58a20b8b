import { computed, inject, Injectable, signal } from '@angular/core';
import { takeUntilDestroyed, toObservable } from '@angular/core/rxjs-interop';
import { isLedgerError, type Gap } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { processFeed, updatesFeed, type ProcessStatus } from 'canton-rx/process';
import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  map,
  merge,
  type Observable,
  of,
  switchMap,
  tap,
  toArray,
} from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { rowOf } from '../updates/row-of';
import { TableView } from '../updates/table-view';
import { UpdateList } from '../updates/update-list';
import { formatOf } from './format-of';
import { readLedgerEnd } from './read-ledger-end';
import { TabPlace } from './tab-place';

/** Reads the updates of the ledger into the list, unless it is paused. */
@Injectable()
export class Feed {
  readonly #ledger = injectLedger();
  readonly #list = inject(UpdateList);
  readonly #view = inject(TableView);
  readonly #connection = inject(CONNECTION);
  readonly #place = new TabPlace();

  readonly isRunning = signal(true);
  readonly status = signal<ProcessStatus | undefined>(undefined);
  /** The number of updates since the page was loaded. */
  readonly received = signal(0);
  /** The error that ended the feed. */
  readonly failure = signal<Error | undefined>(undefined);
  /** Why the end of the ledger cannot be read, where the feed is to begin at it. */
  readonly beginTrouble = signal<Error | undefined>(undefined);
  /** Whether another ledger has taken the place of the one that was shown, until the user has read that. */
  readonly isAnotherLedger = signal(false);
  /** The parties that the participant does not host: it answers requests for them with nothing. */
  readonly unknownParties = signal<readonly string[]>([]);
  /** A notice for the user: updates were pruned, or one cannot be read. */
  readonly notice = signal('');
  /** The offset at which the table of this tab started. Updates up to it can be read backward. */
  readonly beganAt = signal<number | undefined>(undefined);
  readonly recordTimes = signal<readonly (readonly [synchronizer: string, time: string])[]>([]);
  readonly #attempt = signal(0);
  readonly #wanted = computed(() => ({ isRunning: this.isRunning(), attempt: this.#attempt() }));

  constructor() {
    toObservable(this.#wanted)
      .pipe(
        switchMap(({ isRunning }) => (isRunning ? this.#follow() : EMPTY)),
        takeUntilDestroyed(),
      )
      .subscribe((status) => this.status.set(status));
    this.#unknown()
      .pipe(takeUntilDestroyed())
      .subscribe((party) => this.unknownParties.update((parties) => [...new Set([...parties, party])]));
    // the view of the contracts may find another ledger, too; a running feed finds it by itself
    this.#ledger.diagnostics$
      .pipe(
        filter((event) => event._tag === 'GapFound' && isLedgerError(event.cause, 'LedgerResetError')),
        takeUntilDestroyed(),
      )
      .subscribe(() => {
        if (this.isRunning()) this.isAnotherLedger.set(true);
        else this.#beginAnew();
      });
  }

  tryAgain(): void {
    this.failure.set(undefined);
    this.#attempt.update((attempt) => attempt + 1);
  }

  /** The library looks up the parties of a feed that finds nothing. Of several parties, others may have updates. */
  #unknown(): Observable<string> {
    const { parties } = this.#connection;
    const reported$ = this.#ledger.diagnostics$.pipe(
      filter((event) => event._tag === 'PartyUnknown'),
      map(({ party }) => party),
    );
    if (parties === 'any' || parties.length === 1) return reported$;
    const unlisted$ = this.#ledger.parties().pipe(
      map(({ party }) => party),
      toArray(),
      concatMap((known) => parties.filter((party) => !known.includes(party))),
      // only administrators may list them
      catchError(() => EMPTY),
    );
    return merge(reported$, unlisted$);
  }

  #follow(): Observable<ProcessStatus> {
    const { baseUrl, parties, begin } = this.#connection;
    const name = `${baseUrl} ${parties === 'any' ? parties : [...parties].sort().join()}`;
    const begin$ = begin === 'end' ? readLedgerEnd(this.#ledger, this.beginTrouble) : of(0);
    return begin$.pipe(
      concatMap((beginExclusive) => {
        const processor = processFeed(
          updatesFeed(
            this.#ledger,
            { beginExclusive, updateFormat: formatOf(this.#connection) },
            { maxPageSize: 500, onGap: this.#onGap },
          ),
          (updates) => {
            this.#list.append(updates.map(rowOf));
            this.received.update((received) => received + updates.length);
          },
          { name, store: this.#place, batch: { size: 500, withinMs: 40 }, onHandlerFailure: 'skip' },
        );
        const committed$ = processor.pipe(
          tap(({ role, offset, recordTimes }) => {
            // it waits for the previous run of this tab, or for its store, and has committed nothing
            if (role !== undefined) return;
            this.beganAt.update((beganAt) => beganAt ?? offset);
            this.recordTimes.set(Object.entries(recordTimes).sort());
          }),
          ignoreElements(),
        );
        return merge(processor.status$, committed$);
      }),
      catchError((error: unknown) => this.#recovered(error)),
    );
  }

  /** Continues after a gap with a notice, since the page keeps no state that the pruned updates would change. */
  readonly #onGap = ({ cursor, error }: Gap): Observable<number> => {
    if (isLedgerError(error, 'LedgerResetError') || error.earliestOffset === undefined) return EMPTY;
    this.notice.set(`Updates ${cursor + 1} to ${error.earliestOffset} have been pruned.`);
    return of(error.earliestOffset);
  };

  #recovered(error: unknown): Observable<ProcessStatus> {
    if (isLedgerError(error, 'LedgerResetError') || isLedgerError(error, 'CursorError')) {
      this.#beginAnew();
      return defer(() => this.#follow());
    }
    this.failure.set(error instanceof Error ? error : new Error(String(error)));
    return EMPTY;
  }

  /** Clears the table: another ledger at the same address never had its updates. */
  #beginAnew(): void {
    this.isAnotherLedger.set(true);
    this.#place.forget();
    this.#list.clear();
    this.#view.release();
    this.beganAt.set(undefined);
  }
}
