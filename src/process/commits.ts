import { catchError, concatMap, defer, EMPTY, expand, map, of, queueScheduler, skip } from 'rxjs';
import { subscribeOn, takeUntil, timer, type Observable } from 'rxjs';
import { atMost } from '../http/atMost.js';
import { jitter } from '../http/waitBefore.js';
import type { Chunk } from './Chunk.js';
import type { Cursor } from './Cursor.js';
import { givenUp } from './givenUp.js';
import { handled } from './handled.js';
import { HandlerFailure, type Done } from './HandlerFailure.js';
import { onceMore, progressAfter, startOfChunk, type Progress } from './Progress.js';
import type { Run } from './Run.js';

/** Handles a chunk and commits it, in as many parts as it takes; emits after each attempt. */
export const commits = (run: Run, cursor: Cursor, chunk: Chunk): Observable<Progress> => {
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

const nextOf = (run: Run, progress: Progress): Observable<Progress> =>
  progress.failure === undefined ? attempt(run, progress) : afterFailure(run, progress, progress.failure);

/** Hands the next updates over, and commits them with the place behind them. */
const attempt = (run: Run, progress: Progress): Observable<Progress> =>
  defer(() => {
    const part = progress.todo.slice(0, progress.next);
    const work = (tx: unknown): Observable<Progress> =>
      handled(run, part, tx).pipe(
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
        if (before === undefined && part.length > 1) return of(onceMore(progress, { atATime: 1, next: 1 }));
        // those before it were rolled back with it
        if (before !== undefined && before.done > 0)
          return of(onceMore(progress, { next: before.done, failureBehind: error }));
        return afterFailure(run, progress, error);
      }),
    );
  });

/** Without a transaction, what was handled before a failure stays handled: the place behind it is saved. */
function doneBefore({ isTransactional }: Run, error: unknown): Observable<Done> {
  if (isTransactional || !(error instanceof HandlerFailure)) throw error;
  const { before } = error;
  if (before === undefined || before.done === 0) throw error;
  return of({ ...before, failure: error });
}

/** The most that one attempt counts for: a clock that was set, or a machine that slept, is no failure of the handler. */
const mostPerAttemptMs = 60_000;

/** Waits before the first of the updates is handed over again, or deals with it in another way. */
function afterFailure(run: Run, progress: Progress, { cause, tookMs }: HandlerFailure): Observable<Progress> {
  const [first] = progress.todo;
  const failures = progress.failures + 1;
  const spentMs = progress.spentMs + Math.min(mostPerAttemptMs, Math.max(0, tookMs));
  const left = run.handlerRetry.giveUpAfterMs - spentMs;
  if (first === undefined) throw cause;
  if (left <= 0 || first._tag === 'InvalidUpdate') return givenUp(run, { ...progress, failures }, first, cause);
  const delayMs = Math.min(left, jitter(progress.failures, run.handlerRetry));
  run.report(() => ({ _tag: 'HandlerFailed', offset: first.offset, failures, delayMs, cause }));
  return timer(atMost(delayMs)).pipe(
    map(() => onceMore(progress, { failures, spentMs: spentMs + delayMs })),
    takeUntil(run.stop$),
  );
}
