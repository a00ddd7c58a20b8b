import {
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
import type { Offset } from '../codecs/scalars.js';
import type { LedgerResetError } from '../errors/feed.js';
import { monotonicNow } from '../http/clock.js';
import { clampTimer } from '../http/retry.js';
import type { ProcessorRun } from './callHandler.js';
import type { Cursor, FeedPosition } from './CheckpointStore.js';
import { commitBatch } from './commit.js';
import type { AnyBatch, AnyReader } from './Feed.js';
import type { BatchOptions, Committed } from './ProcessOptions.js';
import { timesOf } from './Progress.js';

/** Where a processor begins. */
export interface ResumePoint {
  readonly cursor: Cursor;
  /** Whether the cursor is already stored, so that it need not be saved before the first update. */
  readonly isStored: boolean;
  /** Whether the cursor was saved for another selection, and the processor continues with this one. */
  readonly isOther?: boolean;
  /** Set if the source was replaced, and the processor starts over. */
  readonly gap?: { readonly cursor: Offset; readonly cause: LedgerResetError };
}

/** How far a processor is. */
interface State {
  cursor: Cursor;
  /** The latest record time of each synchronizer, also of checkpoints. */
  recordTimes: Committed['recordTimes'];
  isStored: boolean;
  /** How far the feed has read. */
  reached: FeedPosition;
}

/**
 * Handles the updates of a feed and emits the commits. Requests the next page while at most one page, or less than two
 * batches, is pending: the handler works while the next page is being loaded, and memory use stays constant however
 * slow the handler is.
 */
export const work = (
  processor: ProcessorRun,
  start: ResumePoint,
  grouping: BatchOptions | undefined,
): Observable<Committed> =>
  defer(() => {
    const { reader } = processor;
    const recordTimes = timesOf(start.cursor);
    const state: State = { ...start, recordTimes, reached: start.cursor };
    const maxPending = Math.max(reader.maxPageSize, 2 * (grouping?.size ?? 1) - 1);
    const pending$ = new BehaviorSubject(0);
    const addPending = (count: number): void => {
      pending$.next(pending$.value + count);
    };
    // queued, so that updates that have just arrived are counted first
    const whenPending = (atMost: number): Observable<unknown> =>
      pending$.pipe(
        observeOn(queueScheduler),
        first(() => pending$.value <= atMost),
      );
    // the position where the processor begins is saved first: a source may begin elsewhere the next time
    const begun: AnyBatch = { items: [], position: start.cursor, isCaughtUp: false };
    const batch$ = concat(of(begun), reader.batches(start.cursor, whenPending(maxPending))).pipe(
      tap(({ items, position }) => {
        state.reached = position;
        addPending(items.length);
      }),
      // the error of the feed comes after the updates before it
      catchError((error: unknown) =>
        of<AnyBatch>({ items: [], position: state.reached, isCaughtUp: false, failure: { error } }),
      ),
      // queued like the handler: a synchronous page would otherwise interrupt the previous one
      observeOn(queueScheduler),
      grouping === undefined ? identity : toBatches(grouping, reader, whenPending),
      takeUntil(processor.stop$),
    );
    const commit = (batch: AnyBatch): Observable<Committed> =>
      commitBatch(processor, state, batch).pipe(
        tap((progress) => {
          state.cursor = progress.cursor;
          state.recordTimes = progress.recordTimes;
          state.isStored = true;
          addPending(-progress.done);
        }),
        map(({ committed }) => committed),
        filter((committed) => committed !== undefined),
      );
    return batch$.pipe(
      tap((batch) => {
        addPending(emptyWeight(batch));
      }),
      concatMap((batch) => {
        if (processor.isStopped()) return EMPTY;
        const isMoved = reader.compare(batch.position, state.cursor) !== 0;
        const mustSave = batch.items.length > 0 || isMoved || !state.isStored;
        const committed$ = mustSave ? commit(batch) : of(unchanged(batch, state));
        return concat(committed$, feedFailure(processor, batch)).pipe(
          tap({
            complete: () => {
              addPending(-emptyWeight(batch));
            },
          }),
          // queued, because synchronous commits would nest
          subscribeOn(queueScheduler),
        );
      }),
    );
  });

/**
 * Groups updates until a batch is full or the first of them has waited long enough.
 *
 * @param whenPending - emits when at most this number of updates is pending: a batch may grow until the handler is free
 */
const toBatches =
  (
    { size, withinMs }: BatchOptions,
    reader: AnyReader,
    whenPending: (atMost: number) => Observable<unknown>,
  ): MonoTypeOperatorFunction<AnyBatch> =>
  (source) =>
    defer(() => {
      const state: { partial: AnyBatch | undefined; partialSince: number } = { partial: undefined, partialSince: 0 };
      return source.pipe(
        // a batch that arrives in time joins the partial batch and replaces its timer
        switchMap((batch) => {
          const { partial } = state;
          // entries from before and after a reset are not handled together
          const isReset = partial !== undefined && reader.compare(batch.position, partial.position) < 0;
          const { full: own, rest } = split(partial === undefined || isReset ? batch : append(partial, batch), size);
          const full = isReset ? [partial, ...own] : own;
          if (partial === undefined || full.length > 0) state.partialSince = monotonicNow();
          state.partial = rest;
          if (rest === undefined) return of(...full);
          const rest$ = defer(() => {
            state.partial = undefined;
            return of(rest);
          });
          const isDue = rest.items.length === 0 || rest.isLast === true || rest.failure !== undefined;
          if (isDue) return concat(full, rest$);
          const waitMs = Math.max(0, state.partialSince + withinMs - monotonicNow());
          return concat(
            full,
            timer(clampTimer(waitMs)).pipe(
              concatMap(() => whenPending(rest.items.length)),
              concatMap(() => rest$),
            ),
          );
        }),
      );
    });

/**
 * Returns the full batches and the rest. If a batch ends with a full batch there is no rest: the last batch then has
 * the position up to which the feed has read.
 */
function split(
  batch: AnyBatch,
  size: number,
): { readonly full: readonly AnyBatch[]; readonly rest: AnyBatch | undefined } {
  const { items } = batch;
  const count = Math.floor(items.length / size);
  const full = Array.from({ length: count }, (_, index): AnyBatch => {
    const part = items.slice(index * size, (index + 1) * size);
    return { items: part, position: part.at(-1)?.position ?? batch.position, isCaughtUp: false };
  });
  const rest = items.slice(count * size);
  const hasRest = rest.length > 0 || count === 0 || batch.failure !== undefined;
  const last = full.at(-1);
  if (hasRest || last === undefined) return { full, rest: { ...batch, items: rest } };
  return {
    full: [...full.slice(0, -1), { ...last, position: batch.position, isCaughtUp: batch.isCaughtUp }],
    rest: undefined,
  };
}

const append = (partial: AnyBatch, batch: AnyBatch): AnyBatch => ({
  ...batch,
  items: [...partial.items, ...batch.items],
});

/** An empty batch counts as one update: otherwise a quiet ledger would be polled without end while a handler hangs. */
const emptyWeight = ({ items }: AnyBatch): number => (items.length === 0 ? 1 : 0);

/** Returns a commit for which nothing needs to be saved: only whether the processor has caught up may have changed. */
const unchanged = ({ isCaughtUp }: AnyBatch, { cursor, recordTimes }: State): Committed => ({
  offset: cursor.offset,
  recordTimes,
  handled: 0,
  isCaughtUp,
});

/**
 * Fails with the error of the feed, unless the processor has been stopped: the updates before the error may not be
 * committed.
 */
const feedFailure = (processor: ProcessorRun, { failure }: AnyBatch): Observable<never> =>
  defer(() => {
    if (failure !== undefined && !processor.isStopped()) throw failure.error;
    return EMPTY;
  });
