import { BehaviorSubject, catchError, concat, concatMap, defer, EMPTY, filter, first } from 'rxjs';
import { identity, map, observeOn, of, queueScheduler, subscribeOn, takeUntil, tap, type Observable } from 'rxjs';
import type { Feed } from '../feed/Feed.js';
import { steps } from '../feed/steps.js';
import type { Beginning } from './beginning.js';
import { chunkOf, type Chunk } from './Chunk.js';
import { commits } from './commits.js';
import type { Committed } from './Committed.js';
import { inBatches } from './inBatches.js';
import type { BatchOptions } from './ProcessOptions.js';
import type { Run } from './Run.js';

/**
 * Works on the updates of a feed, and commits. A page is asked for when no more than another page, or less than two batches,
 * waits to be handled: one is worked on while the next is on its way, and no more are held, however slowly that goes.
 */
export const worked = (
  run: Run,
  feed: Feed,
  begin: Beginning,
  batch: BatchOptions | undefined,
): Observable<Committed> =>
  defer(() => {
    const most = Math.max(feed.maxPageSize, 2 * (batch?.size ?? 1) - 1);
    const waiting$ = new BehaviorSubject(0);
    const weigh = (by: number): void => {
      waiting$.next(waiting$.value + by);
    };
    // queued, so that it looks only when what has just come is counted
    const atMost$ = (most: number): Observable<unknown> =>
      waiting$.pipe(
        observeOn(queueScheduler),
        first(() => waiting$.value <= most),
      );
    let { cursor, isStored } = begin;
    let reached = cursor.offset;
    const commit = (chunk: Chunk): Observable<Committed> =>
      commits(run, cursor, chunk).pipe(
        tap((progress) => {
          ({ cursor } = progress);
          isStored = true;
          weigh(-progress.taken);
        }),
        map(({ committed }) => committed),
        filter((committed) => committed !== undefined),
      );
    const chunk$ = steps(feed, atMost$(most)).pipe(
      map(chunkOf),
      tap((chunk) => {
        ({ reached } = chunk);
        weigh(chunk.updates.length);
      }),
      // what ends the feed has its turn behind what came before
      catchError((error: unknown) => of<Chunk>({ updates: [], reached, isCaughtUp: false, failure: { error } })),
      // queued, as the handling is: a page that came at once would come in the middle of the one before
      observeOn(queueScheduler),
      batch === undefined ? identity : inBatches(batch, atMost$),
      takeUntil(run.stop$),
    );
    return chunk$.pipe(
      tap((chunk) => {
        weigh(emptiness(chunk));
      }),
      concatMap((chunk) => {
        if (run.isStopped()) return EMPTY;
        const isNews = chunk.updates.length > 0 || chunk.reached !== cursor.offset || !isStored;
        const told$ = isNews ? commit(chunk) : toldAgain(chunk, cursor);
        // queued, for what takes no time would nest
        return concat(told$, endOf(run, chunk)).pipe(
          tap({
            complete: () => {
              weigh(-emptiness(chunk));
            },
          }),
          subscribeOn(queueScheduler),
        );
      }),
    );
  });

/** A chunk without updates counts as one: a quiet ledger would be asked on and on while a handler hangs. */
const emptiness = ({ updates }: Chunk): number => (updates.length === 0 ? 1 : 0);

/** Nothing is to be saved, but whether the processor has caught up may be new. */
const toldAgain = ({ isCaughtUp }: Chunk, { offset, recordTimes }: Beginning['cursor']): Observable<Committed> =>
  of({ offset, recordTimes, handled: 0, isCaughtUp });

/** What ends the feed, unless the processor was stopped and perhaps has not come so far. */
const endOf = (run: Run, { failure }: Chunk): Observable<never> =>
  defer(() => {
    if (failure !== undefined && !run.isStopped()) throw failure.error;
    return EMPTY;
  });
