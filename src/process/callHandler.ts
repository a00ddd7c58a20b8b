import {
  asyncScheduler,
  concat,
  concatMap,
  defer,
  EMPTY,
  expand,
  finalize,
  from,
  ignoreElements,
  isObservable,
  map,
  type Observable,
  type ObservableInput,
  of,
  queueScheduler,
  subscribeOn,
  tap,
} from 'rxjs';
import { DecodeError } from '../errors/feed.js';
import { mapError } from '../http/retry.js';
import { type FeedItem, isCheckpoint, isInvalid } from './Feed.js';
import type { AnyEntry, Processor } from './Processor.js';

/** The result of a call: how many of its updates were handled. */
export interface Handled {
  /** The number of updates that are done, including those that do not concern the handler. */
  readonly done: number;
  /** The number of updates that the handler received. */
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

type Entries = readonly AnyEntry[];

/**
 * Calls the handler with updates, one at a time or all at once, and emits how many are done. Ends early when it is time
 * to commit or the processor must stop. Fails with a {@link HandlerFailure}.
 */
export const callHandler = (processor: Processor, entries: Entries, tx: unknown): Observable<Handled> =>
  processor.takesBatches ? handleBatch(processor, entries, tx) : handleEach(processor, entries, tx);

const handleBatch = (processor: Processor, entries: Entries, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    return defer(() => {
      if (processor.isStopped()) return of({ done: 0, handled: 0 });
      const work = entries.map((entry) => toWork(processor, entry)).filter((update) => update !== undefined);
      const result$ = work.length === 0 ? of(undefined) : toObservable(processor.handle(work, tx));
      return result$.pipe(map(() => ({ done: entries.length, handled: work.length })));
    }).pipe(mapError((error) => new HandlerFailure(error, asyncScheduler.now() - startedAt)));
  });

const handleEach = (processor: Processor, entries: Entries, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    const state = { done: 0, handled: 0, attemptAt: startedAt, isAbandoned: false };
    const progress = (): Handled => ({ done: state.done, handled: state.handled });
    // the first update is handled even if it is time to commit
    const mustEnd = (): boolean =>
      state.isAbandoned ||
      processor.isStopped() ||
      (state.done > 0 && Math.abs(asyncScheduler.now() - startedAt) >= processor.commitEveryMs);
    const countOne = (handled = 1): void => {
      state.done += 1;
      state.handled += handled;
      state.attemptAt = asyncScheduler.now();
    };
    /** Handles entries up to the first whose result is awaited, and returns that result. */
    const handleUntilAwaited = (): ObservableInput<unknown> | undefined => {
      for (let entry = entries[state.done]; entry !== undefined && !mustEnd(); entry = entries[state.done]) {
        const work = toWork(processor, entry);
        const result = work === undefined ? undefined : processor.handle(work, tx);
        if (isAwaited(result)) return result;
        countOne(work === undefined ? 0 : 1);
      }
      return undefined;
    };
    /**
     * Awaits consecutive Promises, and returns the Observable that follows them. Takes less time than a subscription
     * for each.
     */
    const awaitPromises = async (first: PromiseLike<unknown>): Promise<ObservableInput<unknown> | undefined> => {
      let awaited: ObservableInput<unknown> | undefined = first;
      while (isPromise(awaited)) {
        await awaited;
        if (state.isAbandoned) return undefined;
        countOne();
        awaited = handleUntilAwaited();
      }
      return awaited;
    };
    const awaitResult = (result: ObservableInput<unknown> | undefined): Observable<unknown> => {
      if (result === undefined) return EMPTY;
      if (isPromise(result)) return from(awaitPromises(result)).pipe(concatMap(awaitResult));
      return toObservable(result).pipe(
        tap(() => {
          countOne();
        }),
      );
    };
    // queued, because synchronous results after an asynchronous one would nest
    const some$ = defer(() => awaitResult(handleUntilAwaited())).pipe(subscribeOn(queueScheduler));
    const each$ = some$.pipe(
      expand(() => some$),
      mapError((error) => new HandlerFailure(error, asyncScheduler.now() - state.attemptAt, progress())),
      finalize(() => {
        state.isAbandoned = true;
      }),
    );
    return concat(
      each$.pipe(ignoreElements()),
      defer(() => of(progress())),
    );
  });

/** Returns the update if the handler must receive it. */
function toWork({ select, reader }: Processor, { content }: AnyEntry): FeedItem | undefined {
  if (isCheckpoint(content)) return undefined;
  if (isInvalid(content)) throw new DecodeError(reader.path, content.problems, content.offset);
  return select(content) ? content : undefined;
}

/**
 * Waits for the result of a handler and then emits once: for an Observable or a Promise when it has ended, for anything
 * else at once.
 */
export function toObservable(result: unknown): Observable<unknown> {
  if (!isAwaited(result)) return of(result);
  // a Promise has one value; any other result must also be finalized before it counts as ended
  return isPromise(result) ? from(Promise.resolve(result)) : concat(from(result).pipe(ignoreElements()), of(undefined));
}

/**
 * Whether the result of a handler is awaited. Throws for an array of Promises, because their failures would remain
 * unnoticed.
 */
function isAwaited(result: unknown): result is ObservableInput<unknown> {
  if (Array.isArray(result) && result.some(isAwaitable))
    throw new TypeError('the handler returned an array of Promises: return Promise.all(…) instead');
  return isAwaitable(result);
}

const isAwaitable = (u: unknown): u is ObservableInput<unknown> =>
  isObservable(u) || isPromise(u) || (typeof u === 'object' && u !== null && Symbol.asyncIterator in u);

const isPromise = (u: unknown): u is PromiseLike<unknown> =>
  typeof u === 'object' && u !== null && 'then' in u && typeof u.then === 'function' && !isObservable(u);
