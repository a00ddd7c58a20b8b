import {
  asyncScheduler,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  from,
  ignoreElements,
  isObservable,
  map,
  type Observable,
  type ObservableInput,
  of,
  queueScheduler,
  subscribeOn,
  takeLast,
  tap,
} from 'rxjs';
import type { Update } from '../codecs/Update.js';
import { DecodeError } from '../errors/feed.js';
import type { InvalidUpdate } from '../feed/UpdatesOptions.js';
import { mapError } from '../http/retry.js';
import type { Work } from './ProcessOptions.js';
import type { Processor } from './Processor.js';

/** The result of a call: how many of its updates are handled. */
export interface Handled {
  /** The number of updates that are done, including those that do not concern the handler. */
  readonly done: number;
  /** The number of updates that the handler got. */
  readonly handled: number;
  /** The failure of the update after them. */
  readonly failure?: HandlerFailure;
}

/** A handler failed; its effects in a transaction must be rolled back. */
export class HandlerFailure extends Error {
  /** The class's name. */
  override readonly name = 'HandlerFailure';

  constructor(
    /** The handler's own error. */
    override readonly cause: unknown,
    /** How long the attempt took, in milliseconds. */
    readonly tookMs: number,
    /** The updates before the one that failed; absent for a batch, of which any update may have failed. */
    readonly before?: Handled,
  ) {
    super('a handler failed', { cause });
  }
}

type Updates = readonly (Update | InvalidUpdate)[];

/**
 * Calls the handler with updates, one at a time or all at once, and emits how many are done. Ends early when the time to
 * commit has come, or the processor must stop. Fails with a {@link HandlerFailure}.
 */
export const callHandler = (processor: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  processor.takesBatches ? handleBatch(processor, updates, tx) : handleEach(processor, updates, tx);

const handleBatch = (processor: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    return defer(() => {
      if (processor.isStopped()) return of({ done: 0, handled: 0 });
      const work = updates.map((update) => toWork(processor, update)).filter((update) => update !== undefined);
      const result$ = work.length === 0 ? of(undefined) : toObservable(processor.handle(work, tx));
      return result$.pipe(map(() => ({ done: updates.length, handled: work.length })));
    }).pipe(mapError((error) => new HandlerFailure(error, asyncScheduler.now() - startedAt)));
  });

const handleEach = (processor: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    const state = { done: 0, handled: 0, attemptAt: startedAt };
    const progress = (): Handled => ({ done: state.done, handled: state.handled });
    // the first update is handled whatever the clock says
    const mustEnd = (): boolean =>
      processor.isStopped() ||
      (state.done > 0 && Math.abs(asyncScheduler.now() - startedAt) >= processor.commitEveryMs);
    const each$ = from(updates).pipe(
      concatMap((update) => {
        if (mustEnd()) return EMPTY;
        return defer(() => {
          const work = toWork(processor, update);
          return work === undefined ? of(0) : toObservable(processor.handle(work, tx)).pipe(map(() => 1));
        }).pipe(
          // queued, since synchronous handlers after an asynchronous one would nest
          subscribeOn(queueScheduler),
          tap((handled) => {
            state.done += 1;
            state.handled += handled;
            state.attemptAt = asyncScheduler.now();
          }),
        );
      }),
      mapError((error) => new HandlerFailure(error, asyncScheduler.now() - state.attemptAt, progress())),
    );
    return concat(
      each$.pipe(ignoreElements()),
      defer(() => of(progress())),
    );
  });

/** The update, if the handler must get it. */
function toWork({ select, path }: Processor, update: Update | InvalidUpdate): Work | undefined {
  if (update._tag === 'OffsetCheckpoint') return undefined;
  if (update._tag === 'InvalidUpdate') throw new DecodeError(path, update.problems, update.offset);
  return select(update) ? update : undefined;
}

/**
 * Waits for the result of a handler: for an Observable or a Promise until it is over, for anything else not at all. Throws
 * for a list of Promises, whose failures would go unseen.
 */
export function toObservable(result: unknown): Observable<unknown> {
  if (isAwaitable(result)) return from(result).pipe(takeLast(1), defaultIfEmpty(undefined));
  if (Array.isArray(result) && result.some(isAwaitable))
    throw new TypeError('the handler returned a list of Promises: return Promise.all(…) of them');
  return of(result);
}

const isAwaitable = (u: unknown): u is ObservableInput<unknown> =>
  isObservable(u) ||
  (typeof u === 'object' && u !== null && (Symbol.asyncIterator in u || ('then' in u && typeof u.then === 'function')));
