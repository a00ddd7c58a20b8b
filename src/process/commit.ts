import {
  asyncScheduler,
  catchError,
  concatMap,
  defer,
  EMPTY,
  expand,
  finalize,
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
import type { Update } from '../codecs/Update.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { endsProcessor, HandlerError, isMistake } from '../errors/process.js';
import { textOf } from '../errors/textOf.js';
import { stopwatch } from '../http/clock.js';
import { clampTimer, RetryBudget } from '../http/retry.js';
import { callHandler, type Handled, HandlerFailure, isUndecoded, type ProcessorRun } from './callHandler.js';
import type { AnyBatch, AnyEntry } from './Feed.js';
import { Parked } from './Parked.js';
import { advance, noAttempt, type Progress } from './Progress.js';

/** Handles a batch and commits it in as many parts as necessary. Emits after each attempt. */
export const commitBatch = (
  processor: ProcessorRun,
  { cursor, recordTimes }: Pick<Progress, 'cursor' | 'recordTimes'>,
  batch: AnyBatch,
): Observable<Progress> => {
  const { commitEveryUpdates: partSize, handlerRetry } = processor;
  const budget = new RetryBudget(handlerRetry);
  const sizes = { partSize, nextSize: partSize };
  const start = { batch, cursor, recordTimes, remaining: batch.items, ...sizes, budget, ...noAttempt };
  return of<Progress>(start).pipe(
    // one transaction ends before the next one begins; queued, because synchronous attempts would nest
    expand((progress) => {
      const isDone = progress !== start && progress.remaining.length === 0;
      return isDone || processor.isStopped()
        ? EMPTY
        : nextAttempt(processor, progress).pipe(subscribeOn(queueScheduler));
    }, 1),
    skip(1),
  );
};

const nextAttempt = (processor: ProcessorRun, progress: Progress): Observable<Progress> =>
  progress.failure === undefined
    ? commitPart(processor, progress)
    : retryOrGiveUp(processor, progress, progress.failure);

/** Handles the next part and commits it together with the cursor. */
const commitPart = (processor: ProcessorRun, progress: Progress): Observable<Progress> =>
  defer(() => {
    const part = progress.remaining.slice(0, progress.nextSize);
    const handle = (tx: unknown): Observable<Progress> =>
      callHandler(processor, part, tx).pipe(
        catchError((error: unknown) => of(handledBefore(processor, error))),
        concatMap((handled) =>
          // stopped before the first update
          handled.done === 0 && part.length > 0 ? EMPTY : of(advance(processor, progress, handled)),
        ),
      );
    return saveAfter(processor, progress, handle).pipe(
      catchError((error: unknown) => {
        if (!(error instanceof HandlerFailure)) throw error;
        const { before, cause } = error;
        // any update of the batch may have failed: handle them one at a time
        if (before === undefined && part.length > 1 && !isOfStore(cause))
          return of({ ...progress, ...noAttempt, partSize: 1, nextSize: 1 });
        // the updates before the failure were rolled back with it: commit them first
        if (before !== undefined && before.done > 0)
          return of({ ...progress, ...noAttempt, nextSize: before.done, failureAfterNext: error });
        return retryOrGiveUp(processor, progress, error);
      }),
    );
  });

/**
 * Works in a transaction that also saves the cursor, and reports the commit. Fails with a `HandlerError` if the handler
 * takes too long.
 */
const saveAfter = (
  { transactions, save, waiting, reader }: ProcessorRun,
  { cursor, budget }: Progress,
  work: (tx: unknown) => Observable<Progress>,
): Observable<Progress> =>
  defer(() => {
    const tookMs = stopwatch();
    let handlerMs = 0;
    waiting.forCommit(cursor.offset);
    const workAndSave = (tx: unknown): Observable<Progress> =>
      defer(() => {
        const handledForMs = stopwatch();
        // also after a failure: then the store rolls back
        const forStore = (): void => {
          handlerMs = handledForMs();
          waiting.forCommit(cursor.offset);
        };
        return work(tx).pipe(
          tap({ next: forStore, error: forStore }),
          concatMap((next) => save(next.cursor, tx).pipe(map(() => next))),
        );
      });
    return transactions.transact(workAndSave).pipe(
      tap(({ committed, cursor: { offset } }) => {
        const commitMs = tookMs() - handlerMs;
        reader.report(() => ({ _tag: 'CommitSaved', offset, handled: committed?.handled ?? 0, handlerMs, commitMs }));
      }),
      takeUntil(waiting.watch(budget.failures + 1)),
      finalize(() => {
        waiting.end();
      }),
    );
  });

/** Without a transaction, the updates before a failure remain handled, and are committed. */
function handledBefore({ isTransactional }: ProcessorRun, error: unknown): Handled {
  if (isTransactional || !(error instanceof HandlerFailure)) throw error;
  const { before } = error;
  if (before === undefined || before.done === 0) throw error;
  return { ...before, failure: error };
}

/** Whether a handler failed because of what it writes to, as a relay does. The processor retries it like its store. */
const isOfStore = (cause: unknown): boolean => isLedgerError(cause, 'StoreError') || endsProcessor(cause);

/** Waits before it retries the first remaining update. When the retry budget is used up, applies `onHandlerFailure`. */
function retryOrGiveUp(
  processor: ProcessorRun,
  progress: Progress,
  { cause, tookMs }: HandlerFailure,
): Observable<Progress> {
  const [first] = progress.remaining;
  const { budget: before } = progress;
  // the time counts from the first failure: a call that took long, or a process that was stopped, costs no retry
  const spent = before.failures === 0 ? before : before.spend(tookMs);
  if (processor.isStopped() && isLedgerError(cause, 'StoreError')) return EMPTY;
  // never a reason to skip the update
  if (first === undefined || isOfStore(cause)) throw cause;
  const { content } = first;
  // not to skip: a mistake may depend on a state that changes, and a skipped update is gone
  const isHopeless = isUndecoded(content) || (isMistake(cause) && processor.onHandlerFailure !== 'skip');
  if (spent.leftMs <= 0 || isHopeless) return skipOrPark(processor, progress, first, cause);
  const delayMs = spent.nextDelayMs();
  const budget = spent.countFailure(delayMs);
  const { failures } = budget;
  processor.reader.report(() => ({ _tag: 'HandlerFailed', offset: content.offset, failures, delayMs, cause }));
  return timer(clampTimer(delayMs)).pipe(
    map(() => ({ ...progress, ...noAttempt, budget })),
    takeUntil(processor.stop$),
  );
}

/** Applies `onHandlerFailure` to an update that cannot be handled: fails, or skips or parks the update and commits that. */
function skipOrPark(
  processor: ProcessorRun,
  progress: Progress,
  { content }: AnyEntry,
  cause: unknown,
): Observable<Progress> {
  const { offset } = content;
  const updateId = 'updateId' in content ? content.updateId : undefined;
  const { onHandlerFailure, reader } = processor;
  const attempts = progress.budget.failures + 1;
  if (onHandlerFailure === 'stop') throw new HandlerError(offset, updateId, attempts, cause);
  const parked = {
    offset,
    updateId,
    // only feeds of updates can park
    update: isUndecoded(content) ? undefined : (content as Update),
    reason: textOf(cause),
    attempts,
    parkedAt: new Date(asyncScheduler.now()).toISOString(),
  };
  const next = advance(processor, progress, { done: 1, handled: 0 });
  const park = (tx: unknown): Observable<Progress> =>
    (onHandlerFailure === 'park' ? processor.park(offset, Parked.encode(parked), tx) : of(undefined)).pipe(
      map(() => next),
    );
  return saveAfter(processor, progress, park).pipe(
    tap(() => {
      reader.report(() => ({
        _tag: onHandlerFailure === 'park' ? 'UpdateParked' : 'UpdateSkipped',
        offset,
        attempts,
        cause,
      }));
    }),
  );
}
