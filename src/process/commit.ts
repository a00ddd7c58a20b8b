import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  map,
  type Observable,
  of,
  queueScheduler,
  skip,
  subscribeOn,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import { HandlerError } from '../errors/process.js';
import type { Step } from '../feed/Position.js';
import type { InvalidUpdate } from '../feed/UpdatesOptions.js';
import { clampTimer, jitter } from '../http/retry.js';
import { type Handled, callHandler, HandlerFailure } from './callHandler.js';
import { type Cursor, cursorAfter } from './Cursor.js';
import { Parked } from './Parked.js';
import type { Committed } from './ProcessOptions.js';
import type { Processor } from './Processor.js';

/** Updates that are handled and committed together, unless there is a reason not to. */
export interface Chunk {
  readonly updates: readonly (Update | InvalidUpdate)[];
  /** How far the ledger is read behind them. */
  readonly reached: Offset;
  readonly isCaughtUp: boolean;
  /** Whether the request ends behind them. */
  readonly isLast?: boolean;
  /** What ends the feed behind them. */
  readonly failure?: { readonly error: unknown };
}

/** How far a processor has come with a chunk. */
interface Progress {
  readonly chunk: Chunk;
  /** As it is saved. */
  readonly cursor: Cursor;
  /** What is still to be handled. */
  readonly todo: readonly (Update | InvalidUpdate)[];
  /** How many of them to take at a time, and how many next: fewer, so that what fails is alone. */
  readonly atATime: number;
  readonly next: number;
  /** How often the first of them has failed, and how long that has taken, in milliseconds. */
  readonly failures: number;
  readonly spentMs: number;
  /** What the first of them has just failed with. */
  readonly failure: HandlerFailure | undefined;
  /** The same of the one behind those that are next, where these were rolled back with it. */
  readonly failureBehind: HandlerFailure | undefined;
  /** What the last attempt has led to. */
  readonly committed: Committed | undefined;
  /** How many updates that attempt has dealt with. */
  readonly taken: number;
}

/** Handles a chunk and commits it, in as many parts as it takes; emits after each attempt. */
export const commitChunk = (run: Processor, cursor: Cursor, chunk: Chunk): Observable<Progress> => {
  const start = startOfChunk(chunk, cursor, run.commitEveryUpdates);
  return of(start).pipe(
    // one transaction is over before the next begins; queued, for what takes no time would nest
    expand((progress) => {
      const isOver = progress !== start && progress.todo.length === 0;
      return isOver || run.isStopped() ? EMPTY : nextOf(run, progress).pipe(subscribeOn(queueScheduler));
    }, 1),
    skip(1),
  );
};

/** Before the first attempt. */
const startOfChunk = (chunk: Chunk, cursor: Cursor, atATime: number): Progress => ({
  chunk,
  cursor,
  todo: chunk.updates,
  atATime,
  next: atATime,
  failures: 0,
  spentMs: 0,
  failure: undefined,
  failureBehind: undefined,
  committed: undefined,
  taken: 0,
});

const nextOf = (run: Processor, progress: Progress): Observable<Progress> =>
  progress.failure === undefined ? attempt(run, progress) : afterFailure(run, progress, progress.failure);

/** Hands the next updates over, and commits them with the place behind them. */
const attempt = (run: Processor, progress: Progress): Observable<Progress> =>
  defer(() => {
    const part = progress.todo.slice(0, progress.next);
    const work = (tx: unknown): Observable<Progress> =>
      callHandler(run, part, tx).pipe(
        catchError((error: unknown) => doneBefore(run, error)),
        concatMap((done) => {
          // stopped before anything was done
          if (done.done === 0 && part.length > 0) return EMPTY;
          const next = progressAfter(progress, done);
          return run.save(next.cursor, tx).pipe(map(() => next));
        }),
      );
    return run.transactions.transact(work).pipe(
      catchError((error: unknown) => {
        if (!(error instanceof HandlerFailure)) throw error;
        const { before } = error;
        // which of them it was is not known: each by itself will tell
        if (before === undefined && part.length > 1) return of(retryProgress(progress, { atATime: 1, next: 1 }));
        // those before it were rolled back with it
        if (before !== undefined && before.done > 0)
          return of(retryProgress(progress, { next: before.done, failureBehind: error }));
        return afterFailure(run, progress, error);
      }),
    );
  });

/** Without a transaction, what was handled before a failure stays handled: the place behind it is saved. */
function doneBefore({ isTransactional }: Processor, error: unknown): Observable<Handled> {
  if (isTransactional || !(error instanceof HandlerFailure)) throw error;
  const { before } = error;
  if (before === undefined || before.done === 0) throw error;
  return of({ ...before, failure: error });
}

/** Behind an attempt that went well. */
function progressAfter(progress: Progress, { done, handled, failure }: Handled): Progress {
  const { chunk, cursor, todo, atATime, next, failureBehind } = progress;
  const isOver = done === todo.length;
  const saved = cursorAfter(cursor, todo.slice(0, done), isOver ? chunk.reached : undefined);
  const { offset, recordTimes } = saved;
  return {
    ...startOfChunk(chunk, saved, atATime),
    todo: todo.slice(done),
    failure: failure ?? (done === next ? failureBehind : undefined),
    committed: { offset, recordTimes, handled, isCaughtUp: isOver && chunk.isCaughtUp },
    taken: done,
  };
}

/** The same again, after an attempt that failed. */
function retryProgress(progress: Progress, changes: Partial<Progress>): Progress {
  return { ...progress, failure: undefined, failureBehind: undefined, committed: undefined, taken: 0, ...changes };
}

/** The most that one attempt counts for: a clock that was set, or a machine that slept, is no failure of the handler. */
const mostPerAttemptMs = 60_000;

/** Waits before the first of the updates is handed over again, or deals with it in another way. */
function afterFailure(run: Processor, progress: Progress, { cause, tookMs }: HandlerFailure): Observable<Progress> {
  const [first] = progress.todo;
  const failures = progress.failures + 1;
  const spentMs = progress.spentMs + Math.min(mostPerAttemptMs, Math.max(0, tookMs));
  const left = run.handlerRetry.giveUpAfterMs - spentMs;
  if (first === undefined) throw cause;
  if (left <= 0 || first._tag === 'InvalidUpdate') return skipOrPark(run, { ...progress, failures }, first, cause);
  const delayMs = Math.min(left, jitter(progress.failures, run.handlerRetry));
  run.report(() => ({ _tag: 'HandlerFailed', offset: first.offset, failures, delayMs, cause }));
  return timer(clampTimer(delayMs)).pipe(
    map(() => retryProgress(progress, { failures, spentMs: spentMs + delayMs })),
    takeUntil(run.stop$),
  );
}

/** Deals with the first of the updates, which cannot be handled: ends with it, or goes on without it. */
function skipOrPark(
  run: Processor,
  progress: Progress,
  update: Update | InvalidUpdate,
  cause: unknown,
): Observable<Progress> {
  const { offset } = update;
  const updateId = 'updateId' in update ? update.updateId : undefined;
  const { onPoison, report } = run;
  const { failures: attempts } = progress;
  if (onPoison === 'stop') throw new HandlerError(offset, updateId, attempts, cause);
  const parked = {
    offset,
    updateId,
    update: update._tag === 'InvalidUpdate' ? undefined : update,
    reason: reasonOf(cause),
    attempts,
    parkedAt: new Date(asyncScheduler.now()).toISOString(),
  };
  const next = progressAfter(progress, { done: 1, handled: 0 });
  return run.transactions
    .transact((tx) => {
      const aside$ = onPoison === 'park' ? run.park(offset, Parked.encode(parked), tx) : of(undefined);
      return aside$.pipe(
        concatMap(() => run.save(next.cursor, tx)),
        map(() => next),
      );
    })
    .pipe(
      tap(() => {
        report(() => ({ _tag: onPoison === 'park' ? 'UpdateParked' : 'UpdateSkipped', offset, attempts, cause }));
      }),
    );
}

const reasonOf = (cause: unknown): string => (cause instanceof Error ? cause.message : String(cause));

/** What a step of the feed has brought. */
export const chunkOf = ({ place, page }: Step): Chunk => ({
  updates: page?.updates ?? [],
  reached: place.cursor,
  isCaughtUp: place.hasCaughtUp,
  isLast: place.next === 'nothing',
});
