import {
  asyncScheduler,
  BehaviorSubject,
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  first,
  identity,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  observeOn,
  of,
  queueScheduler,
  subscribeOn,
  switchMap,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Feed } from '../feed/Feed.js';
import { steps } from '../feed/updates.js';
import { clampTimer } from '../http/retry.js';
import { type Chunk, chunkOf, commitChunk } from './commit.js';
import type { BatchOptions, Committed } from './ProcessOptions.js';
import type { Processor } from './Processor.js';
import type { Beginning } from './resume.js';

/**
 * Works on the updates of a feed, and commits. A page is asked for when no more than another page, or less than two batches,
 * waits to be handled: one is worked on while the next is on its way, and no more are held, however slowly that goes.
 */
export const work = (
  run: Processor,
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
      commitChunk(run, cursor, chunk).pipe(
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

/**
 * Puts updates together until there are as many as a batch takes, or the first of them has waited long enough.
 *
 * @param free$ - emits once no more than so many updates wait for the handler: while it is busy, there is time for others
 */
const inBatches =
  (
    { size, withinMs }: BatchOptions,
    free$: (updates: number) => Observable<unknown>,
  ): MonoTypeOperatorFunction<Chunk> =>
  (source) =>
    defer(() => {
      let held: Chunk | undefined;
      let heldSince = 0;
      return source.pipe(
        // what comes in time is put to what is held, whose timer is set anew
        switchMap((chunk) => {
          if (held === undefined) heldSince = asyncScheduler.now();
          const { full, rest } = split(held === undefined ? chunk : joined(held, chunk), size);
          if (full.length > 0) heldSince = asyncScheduler.now();
          held = rest;
          if (rest === undefined) return of(...full);
          // nothing to wait with, or nothing more to wait for
          const isDue = rest.updates.length === 0 || rest.isLast === true || rest.failure !== undefined;
          const waitMs = heldSince + withinMs - asyncScheduler.now();
          const due$ = defer(() => {
            held = undefined;
            return of(rest);
          });
          return concat(
            full,
            isDue
              ? due$
              : timer(clampTimer(Math.min(Math.max(0, waitMs), withinMs))).pipe(
                  concatMap(() => free$(rest.updates.length)),
                  concatMap(() => due$),
                ),
          );
        }),
      );
    });

/** Full batches, and what is left: a chunk that is the last says how far the ledger is read, also without an update. */
function split(chunk: Chunk, size: number): { readonly full: readonly Chunk[]; readonly rest: Chunk | undefined } {
  const { updates } = chunk;
  const count = Math.floor(updates.length / size);
  const full = Array.from({ length: count }, (_, index): Chunk => {
    const part = updates.slice(index * size, (index + 1) * size);
    return { updates: part, reached: part.at(-1)?.offset ?? chunk.reached, isCaughtUp: false };
  });
  const rest = updates.slice(count * size);
  const isNews = rest.length > 0 || count === 0 || chunk.failure !== undefined;
  const last = full.at(-1);
  if (isNews || last === undefined) return { full, rest: { ...chunk, updates: rest } };
  return {
    full: [...full.slice(0, -1), { ...last, reached: chunk.reached, isCaughtUp: chunk.isCaughtUp }],
    rest: undefined,
  };
}

const joined = (held: Chunk, chunk: Chunk): Chunk => ({ ...chunk, updates: [...held.updates, ...chunk.updates] });

/** A chunk without updates counts as one: a quiet ledger would be asked on and on while a handler hangs. */
const emptiness = ({ updates }: Chunk): number => (updates.length === 0 ? 1 : 0);

/** Nothing is to be saved, but whether the processor has caught up may be new. */
const toldAgain = ({ isCaughtUp }: Chunk, { offset, recordTimes }: Beginning['cursor']): Observable<Committed> =>
  of({ offset, recordTimes, handled: 0, isCaughtUp });

/** What ends the feed, unless the processor was stopped and perhaps has not come so far. */
const endOf = (run: Processor, { failure }: Chunk): Observable<never> =>
  defer(() => {
    if (failure !== undefined && !run.isStopped()) throw failure.error;
    return EMPTY;
  });
