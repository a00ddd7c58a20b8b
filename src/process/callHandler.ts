import {
  asyncScheduler,
  catchError,
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
import type { Work } from './ProcessOptions.js';
import type { Processor } from './Processor.js';

/** How far a handler has come with some updates. */
export interface Handled {
  /** How many are done with. */
  readonly done: number;
  /** How many of those it was given. */
  readonly handled: number;
  /** What the one behind them has failed with. */
  readonly failure?: HandlerFailure;
}

/**
 * Waits for what a function of the caller's returned: an Observable or a Promise until it is over, anything else not at
 * all. Throws for a list of Promises, whose failures nobody would see.
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

/** A handler has failed; what it did in a transaction is to be rolled back. */
export class HandlerFailure extends Error {
  /** The class's name. */
  override readonly name = 'HandlerFailure';

  constructor(
    /** Why. */
    override readonly cause: unknown,
    /** How long it took to fail, in milliseconds. */
    readonly tookMs: number,
    /** What was done with before; absent where it is not known which of them it was. */
    readonly before?: Handled,
  ) {
    super('a handler failed', { cause });
  }
}

type Updates = readonly (Update | InvalidUpdate)[];

/**
 * Hands updates over, one after the other or all at once, and emits how far that went: not all the way where it has taken
 * long enough, or where the processor is to stop. Fails with a {@link HandlerFailure}.
 */
export const callHandler = (run: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  run.takesBatches ? handledAtOnce(run, updates, tx) : handledEach(run, updates, tx);

const handledAtOnce = (run: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  defer(() => {
    const begunAt = asyncScheduler.now();
    return defer(() => {
      if (run.isStopped()) return of({ done: 0, handled: 0 });
      const work = updates.map((update) => concerning(run, update)).filter((update) => update !== undefined);
      const result$ = work.length === 0 ? of(undefined) : toObservable(run.handle(work, tx));
      return result$.pipe(map(() => ({ done: updates.length, handled: work.length })));
    }).pipe(
      catchError((error: unknown) => {
        throw new HandlerFailure(error, asyncScheduler.now() - begunAt);
      }),
    );
  });

/** The update, if the handler is to have it. */
function concerning({ select, path }: Processor, update: Update | InvalidUpdate): Work | undefined {
  if (update._tag === 'OffsetCheckpoint') return undefined;
  if (update._tag === 'InvalidUpdate') throw new DecodeError(path, update.problems, update.offset);
  return select(update) ? update : undefined;
}

const handledEach = (run: Processor, updates: Updates, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = asyncScheduler.now();
    let begunAt = startedAt;
    let so: Handled = { done: 0, handled: 0 };
    const isOver = (): boolean =>
      run.isStopped() || (so.done > 0 && Math.abs(asyncScheduler.now() - startedAt) >= run.commitEveryMs);
    const each$ = from(updates).pipe(
      concatMap((update) => {
        if (isOver()) return EMPTY;
        return defer(() => {
          const work = concerning(run, update);
          return work === undefined ? of(0) : toObservable(run.handle(work, tx)).pipe(map(() => 1));
        }).pipe(
          // queued, for what takes no time would nest behind what does
          subscribeOn(queueScheduler),
          tap((one) => {
            so = { done: so.done + 1, handled: so.handled + one };
            begunAt = asyncScheduler.now();
          }),
        );
      }),
      catchError((error: unknown) => {
        throw new HandlerFailure(error, asyncScheduler.now() - begunAt, so);
      }),
    );
    return concat(
      each$.pipe(ignoreElements()),
      defer(() => of(so)),
    );
  });
