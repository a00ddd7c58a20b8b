import { concat, defer, from, ignoreElements, isObservable, map, Observable, type ObservableInput, of } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { DecodeError } from '../errors/feed.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import { monotonicNow } from '../http/clock.js';
import { type CompleteRetryPolicy, mapError } from '../http/retry.js';
import type { Cursor, Transactions } from './CheckpointStore.js';
import type { AnyEntry, AnyReader, FeedItem } from './Feed.js';
import { isAsyncIterable, isPromise, type Stop } from './Stop.js';
import type { Waiting } from './Waiting.js';

/** A processor that holds its name: its handler, its store and its settings. */
export interface ProcessorRun extends Stop, ProcessorSettings {
  readonly reader: AnyReader;
  /** Handles one item, or several if it takes batches. */
  readonly handle: (work: FeedItem | readonly FeedItem[], tx: unknown, report: Report) => unknown;
  readonly transactions: Transactions<unknown>;
  /** Whether the effects of a handler are rolled back when it fails. */
  readonly isTransactional: boolean;
  readonly load$: Observable<unknown>;
  readonly save: (cursor: Cursor, tx: unknown) => Observable<unknown>;
  readonly park: (offset: Offset, parked: unknown, tx: unknown) => Observable<unknown>;
  readonly waiting: Waiting;
}

/** The options that the work of a processor depends on, with their defaults. */
export interface ProcessorSettings {
  readonly select: (item: FeedItem) => boolean;
  readonly takesBatches: boolean;
  readonly commitEveryMs: number;
  readonly commitEveryUpdates: number;
  readonly storeRetry: CompleteRetryPolicy;
  readonly handlerRetry: CompleteRetryPolicy;
  readonly handlerTimeoutMs: number;
  readonly onHandlerFailure: 'stop' | 'skip' | 'park';
}

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
export const callHandler = (processor: ProcessorRun, entries: Entries, tx: unknown): Observable<Handled> =>
  processor.takesBatches ? handleBatch(processor, entries, tx) : handleEach(processor, entries, tx);

const handleBatch = (processor: ProcessorRun, entries: Entries, tx: unknown): Observable<Handled> =>
  defer(() => {
    const startedAt = monotonicNow();
    return defer(() => {
      if (processor.isStopped()) return of({ done: 0, handled: 0 });
      const work = entries.map((entry) => toWork(processor, entry)).filter((update) => update !== undefined);
      processor.waiting.forHandler(entries[0]?.content.offset ?? 0, startedAt);
      const result$ =
        work.length === 0 ? of(undefined) : toObservable(processor.handle(work, tx, processor.reader.report));
      return result$.pipe(map(() => ({ done: entries.length, handled: work.length })));
    }).pipe(mapError((error) => new HandlerFailure(error, monotonicNow() - startedAt)));
  });

const handleEach = (processor: ProcessorRun, entries: Entries, tx: unknown): Observable<Handled> =>
  new Observable<Handled>((subscriber) => {
    const startedAt = monotonicNow();
    const state = { done: 0, handled: 0, attemptAt: startedAt };
    // the first update is handled even if it is time to commit
    const mustEnd = (): boolean =>
      subscriber.closed ||
      processor.isStopped() ||
      (state.done > 0 && monotonicNow() - startedAt >= processor.commitEveryMs);
    const countOne = (handled: 0 | 1): void => {
      state.done += 1;
      state.handled += handled;
      state.attemptAt = monotonicNow();
    };
    const fail = (error: unknown): void => {
      const { done, handled, attemptAt } = state;
      subscriber.error(new HandlerFailure(error, monotonicNow() - attemptAt, { done, handled }));
    };
    /** Waits for a result, and returns whether it has ended already; otherwise continues after it. */
    const hasEnded = (result: ObservableInput<unknown>): boolean => {
      let isSynchronous = true;
      const end = (): void => {
        countOne(1);
        if (!isSynchronous) handleRest();
      };
      const before = state.done;
      processor.waiting.forHandler(entries[before]?.content.offset ?? 0, state.attemptAt);
      // a subscription for each Promise would take more time
      if (isPromise(result)) result.then(end, fail);
      else subscriber.add(toObservable(result).subscribe({ next: end, error: fail }));
      isSynchronous = false;
      return state.done > before;
    };
    // a loop, because synchronous results would nest
    const handleRest = (): void => {
      try {
        for (let entry = entries[state.done]; entry !== undefined && !mustEnd(); entry = entries[state.done]) {
          const work = toWork(processor, entry);
          const result = work === undefined ? undefined : processor.handle(work, tx, processor.reader.report);
          if (!isAwaited(result)) countOne(work === undefined ? 0 : 1);
          else if (!hasEnded(result)) return;
        }
      } catch (error) {
        fail(error);
        return;
      }
      subscriber.next({ done: state.done, handled: state.handled });
      subscriber.complete();
    };
    handleRest();
  });

/** Returns the update if the handler must receive it. */
function toWork({ select, reader }: ProcessorRun, { content }: AnyEntry): FeedItem | undefined {
  if (isCheckpoint(content)) return undefined;
  if (isUndecoded(content)) throw new DecodeError(reader.path, content.problems, content.offset, content.updateId);
  return select(content) ? content : undefined;
}

const isCheckpoint = (content: { readonly _tag: string }): content is OffsetCheckpoint =>
  content._tag === 'OffsetCheckpoint';

/** Whether an entry is an update that cannot be decoded. */
export const isUndecoded = (content: { readonly _tag: string }): content is UndecodedUpdate =>
  content._tag === 'UndecodedUpdate';

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
 * unnoticed, and for a generator, which has not run.
 */
function isAwaited(result: unknown): result is ObservableInput<unknown> {
  if (Array.isArray(result) && result.some(isAwaitable))
    throw new TypeError('the handler returned an array of Promises: return Promise.all(…) instead');
  if (isGenerator(result)) throw new TypeError('the handler is a generator, which runs nothing: use async function*');
  return isAwaitable(result);
}

const isGenerator = (u: unknown): boolean => Object.prototype.toString.call(u) === '[object Generator]';

const isAwaitable = (u: unknown): u is ObservableInput<unknown> =>
  isObservable(u) || isPromise(u) || isAsyncIterable(u);
