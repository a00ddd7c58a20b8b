import {
  catchError,
  concatMap,
  defer,
  delay,
  dematerialize,
  EMPTY,
  filter,
  finalize,
  fromEvent,
  interval,
  map,
  materialize,
  merge,
  NEVER,
  type Observable,
  of,
  share,
  shareReplay,
  startWith,
  Subject,
  switchMap,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import { isStoreError } from '../errors/process.js';
import { reportEnd } from '../feed/updates.js';
import { clampTimer, type RetrySettings, retryTransient } from '../http/retry.js';
import type { AnyHandler } from '../ledger/connection.js';
import type { Transactions } from './CheckpointStore.js';
import type { Feed, FeedItem, FeedPosition } from './Feed.js';
import { acquireStore, type HeldStore } from './heldStore.js';
import { type AnyFeed, type Processor, processorSettings, type Stop } from './Processor.js';
import type {
  AnyProcessOptions,
  BatchHandler,
  BatchProcessOptions,
  Committed,
  Handler,
  ProcessOptions,
} from './ProcessOptions.js';
import { resumePoint, startPoint } from './resume.js';
import { work } from './work.js';

/**
 * Calls a handler with batches of the updates of a feed. In all other respects it works like the overload for single
 * updates.
 *
 * @category Processing
 */
export function processFeed<A extends FeedItem, P extends FeedPosition, Tx = void>(
  feed: Feed<A, P>,
  handler: BatchHandler<NoInfer<Tx>, NoInfer<A>>,
  options: BatchProcessOptions<Tx, NoInfer<A>>,
): Observable<Committed>;
/**
 * Calls a handler with each update of a feed, in order, and saves the position in a store, from which it resumes when
 * it is started again. Emits after each commit. Cold: each subscription is a separate run.
 *
 * The Observable or Promise that the handler returns is awaited before the next call, and pages are requested only as
 * fast as the handler works. With a {@link TransactionalStore} the handler works in the transaction that also saves the
 * position, so that each update takes effect once, even after a crash. With any other store, the updates since the last
 * commit may be handled again after a crash.
 *
 * Fails with the errors of its feed; with a `HandlerError` if the handler fails permanently and `onPoison` is `'stop'`;
 * with a `CursorError` if the stored position belongs to another source; and with a `StoreError` if the store fails for
 * longer than the retry policy allows. Unsubscribing, or aborting `signal`, stops it gracefully.
 *
 * @throws TypeError for invalid options, synchronously
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const controller = new AbortController();
 * processFeed(
 *   updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) }),
 *   async (update) => {
 *     await Promise.resolve(update); // your work
 *   },
 *   { name: 'balances', store: memoryStore(), signal: controller.signal },
 * ).subscribe(({ isCaughtUp }) => {
 *   if (isCaughtUp) controller.abort();
 * });
 * ```
 *
 * @category Processing
 */
export function processFeed<A extends FeedItem, P extends FeedPosition, Tx = void>(
  feed: Feed<A, P>,
  handler: Handler<NoInfer<Tx>, NoInfer<A>>,
  options?: ProcessOptions<Tx, NoInfer<A>>,
): Observable<Committed>;
export function processFeed(
  feed: AnyFeed,
  handler: AnyHandler,
  options: AnyProcessOptions = {},
): Observable<Committed> {
  // throws for invalid options
  processorSettings(options, feed);
  return feed.wrapRun === undefined
    ? run(feed, handler, options)
    : feed.wrapRun({ name: options.name, handler, run: (wrapped, handle) => run(wrapped, handle, options) });
}

/**
 * The maximum delay before a call of a store is retried, in milliseconds: a store is usually close, and all work waits
 * for it.
 */
const maxStoreDelayMs = 5_000;

/** Acquires the store, resumes from its cursor, handles the updates from there, and stops gracefully. */
const run = (feed: AnyFeed, handle: AnyHandler, options: AnyProcessOptions): Observable<Committed> =>
  stopGracefully(
    (stop) => {
      const { batch, store, onPoison, name } = options;
      const reader = feed.open({ hasStore: store !== undefined, emitInvalid: (onPoison ?? 'stop') !== 'stop' });
      const { report, place } = reader;
      const settings = processorSettings(options, feed);
      const { storeRetry } = settings;
      const retrying = {
        retry: { ...storeRetry, maxDelayMs: Math.min(storeRetry.maxDelayMs, maxStoreDelayMs) },
        report,
      };
      return whileStoreHeld(
        acquireStore(options, place, retrying),
        (held) => {
          const isStored = store !== undefined || place !== undefined;
          const start$ = isStored ? resumePoint(reader, name ?? place?.name ?? '', held.load$) : startPoint(reader);
          return start$.pipe(
            concatMap((start) =>
              work({ ...settings, ...held, ...stop, handle: handle as Processor['handle'], reader }, start, batch),
            ),
          );
        },
        retrying,
        stop,
      ).pipe(reportEnd(report, stop.isStopped));
    },
    options.stopWithinMs ?? 10_000,
    options.signal,
  );

/**
 * Runs work without interrupting it. When its subscriber unsubscribes or a signal aborts, requests a stop; the work
 * then continues until it completes or the time limit has passed.
 */
const stopGracefully = <A>(
  run: (stop: Stop) => Observable<A>,
  stopWithinMs: number,
  signal: AbortSignal | undefined,
): Observable<A> =>
  defer(() => {
    let isStopped = signal?.aborted ?? false;
    const unsubscribed$ = new Subject<void>();
    const stop$ = merge(unsubscribed$, signal === undefined ? NEVER : aborted(signal)).pipe(
      take(1),
      tap(() => {
        isStopped = true;
      }),
      // replayed for subscribers that arrive after the stop
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    return run({ stop$, isStopped: () => isStopped }).pipe(
      takeUntil(stop$.pipe(delay(clampTimer(stopWithinMs)))),
      share({
        resetOnRefCountZero: () => {
          unsubscribed$.next();
          return NEVER;
        },
      }),
    );
  });

const aborted = (signal: AbortSignal): Observable<unknown> =>
  defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));

/**
 * How long a wait for the name must last without a failure to count as healthy, in milliseconds: rare failures must not
 * add up.
 */
const healthyWaitMs = 60_000;

/**
 * Runs work while the store is held, and releases the store afterwards. If the store fails, both begin again for as
 * long as the policy allows. A stop ends this at once, unless a transaction is open.
 */
function whileStoreHeld(
  store$: Observable<HeldStore>,
  run: (store: HeldStore) => Observable<Committed>,
  retrying: RetrySettings,
  { stop$, isStopped }: Stop,
): Observable<Committed> {
  const { report } = retrying;
  const state: { isInTransaction: boolean; last: Committed | undefined } = { isInTransaction: false, last: undefined };
  const track = (transactions: Transactions<unknown>): Transactions<unknown> => ({
    transact: (inside) =>
      defer(() => {
        state.isInTransaction = true;
        return transactions.transact(inside);
      }).pipe(
        finalize(() => {
          state.isInTransaction = false;
        }),
      ),
  });
  const waiting$: Observable<Committed | undefined> = interval(healthyWaitMs).pipe(map(() => undefined));
  const working = (store: HeldStore): Observable<Committed | undefined> =>
    run({ ...store, transactions: track(store.transactions) });
  return store$.pipe(
    startWith(undefined),
    // each value renews the retry budget: an occasional undefined while waiting, then the commits. The end of the work
    // must end all this although the store is still held, so it is passed as a value
    switchMap((store) => (store === undefined ? waiting$ : working(store)).pipe(materialize())),
    dematerialize(),
    // a commit that is repeated because the store failed must not renew the budget
    filter((committed) => committed === undefined || isProgress(committed, state.last)),
    tap((committed) => {
      state.last = committed ?? state.last;
    }),
    // an error with `retried` has already been retried where it occurred
    retryTransient(retrying, (error) => isStoreError(error) && error.retried === undefined && !isStopped()),
    // nothing is lost: the other holder handles the updates that are not committed
    catchError((error: unknown) => {
      if (!isStopped() || !isStoreError(error) || error.operation !== 'hold') throw error;
      report(() => ({ _tag: 'NameLost', cause: error }));
      return EMPTY;
    }),
    filter((committed) => committed !== undefined),
    takeUntil(stop$.pipe(filter(() => !state.isInTransaction))),
  );
}

const isProgress = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;
