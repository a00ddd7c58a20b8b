import { BehaviorSubject, catchError, concat, concatMap, defer, EMPTY, filter, first, identity, map, of } from 'rxjs';
import { takeUntil, tap, type Observable } from 'rxjs';
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
 * Works on the updates of a feed, and commits. A page is asked for when less than another page, or than a batch, waits to
 * be handled: one is worked on while the next is on its way, and no more are held, however slowly that goes.
 */
export const worked = (
  run: Run,
  feed: Feed,
  begin: Beginning,
  batch: BatchOptions | undefined,
): Observable<Committed> =>
  defer(() => {
    const most = Math.max(feed.maxPageSize, (batch?.size ?? 1) - 1);
    const waiting$ = new BehaviorSubject(0);
    const room$ = waiting$.pipe(first((waiting) => waiting <= most));
    let { cursor, isStored } = begin;
    let reached = cursor.offset;
    const commit = (chunk: Chunk): Observable<Committed> =>
      commits(run, cursor, chunk).pipe(
        tap((progress) => {
          ({ cursor } = progress);
          isStored = true;
          waiting$.next(waiting$.value - progress.taken);
        }),
        map(({ committed }) => committed),
        filter((committed) => committed !== undefined),
      );
    const chunk$ = steps(feed, room$).pipe(
      map(chunkOf),
      tap((chunk) => {
        ({ reached } = chunk);
        waiting$.next(waiting$.value + chunk.updates.length);
      }),
      // what ends the feed has its turn behind what came before
      catchError((error: unknown) => of<Chunk>({ updates: [], reached, isCaughtUp: false, failure: { error } })),
      batch === undefined ? identity : inBatches(batch),
      takeUntil(run.stop$),
    );
    return chunk$.pipe(
      concatMap((chunk) => {
        if (run.isStopped()) return EMPTY;
        const isNews = chunk.updates.length > 0 || chunk.reached !== cursor.offset || !isStored;
        return concat(isNews ? commit(chunk) : toldAgain(chunk, cursor), endOf(chunk));
      }),
    );
  });

/** Nothing is to be saved, but whether the processor has caught up may be new. */
const toldAgain = ({ isCaughtUp }: Chunk, { offset, recordTimes }: Beginning['cursor']): Observable<Committed> =>
  of({ offset, recordTimes, handled: 0, isCaughtUp });

const endOf = ({ failure }: Chunk): Observable<never> =>
  defer(() => {
    if (failure !== undefined) throw failure.error;
    return EMPTY;
  });
