import { concatMap, defer, map, type Observable, type ObservableInput, tap } from 'rxjs';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Client } from '../client/Client.js';
import { interceptFeed } from '../client/intercept.js';
import { reportEnd } from '../feed/updates.js';
import { checkNotNegative, checkPositive } from '../codecs/internal/numbers.js';
import { mapError, retryPolicy } from '../http/retry.js';
import type { ProcessorRun, ProcessorSettings } from './callHandler.js';
import { type AnyHandler, commitOf, interceptHandler } from './interceptHandler.js';
import type { FeedPosition } from './CheckpointStore.js';
import type { AnyFeed, Feed, FeedItem } from './Feed.js';
import { acquireStore, type HeldStore, storeRetryPolicy } from './heldStore.js';
import { Waiting } from './Waiting.js';
import { whileStoreHeld } from './whileHeld.js';
import type {
  AnyProcessOptions,
  BatchHandler,
  BatchProcessOptions,
  Committed,
  FailureOptions,
  Handler,
  ProcessOptions,
} from './ProcessOptions.js';
import { withProcessStatus } from './processorStatus.js';
import type { Processor } from './ProcessStatus.js';
import { rejectedCursor, resumePoint, startPoint } from './resumePoint.js';
import { lastCalls, type Stop, stopGracefully, Stopper } from './Stop.js';
import { type ResumePoint, work as handleFeed } from './work.js';

/**
 * Calls a handler with batches of the updates of a feed. In all other respects it works like the overload for single
 * updates.
 *
 * @category Processing
 */
export function processFeed<A extends FeedItem, P extends FeedPosition, Tx = void, M extends boolean = boolean>(
  feed: Feed<A, P, M>,
  handler: BatchHandler<NoInfer<Tx>, NoInfer<A>>,
  options: BatchProcessOptions<Tx, NoInfer<A>> & FailureOptions<NoInfer<M>>,
): Processor;
/**
 * Calls a handler with each update of a feed, in order, and saves the position in a store, from which it resumes when
 * it is started again. Emits after each commit, and has its status in `status$`. Cold: it is one run, which all
 * subscriptions at the same time share, and which ends at once when the last of them unsubscribes. Processors with the same
 * name and store work one after the other.
 *
 * The Observable or Promise that the handler returns is awaited before the next call, and pages are requested only as
 * fast as the handler works. With a {@link TransactionalStore} the handler works in the transaction that also saves the
 * position, so that each update takes effect once, even after a crash. With any other store, the updates since the last
 * commit may be handled again after a crash.
 *
 * Fails with the errors of its feed; with a `HandlerError` if the handler fails permanently and `onHandlerFailure` is `'stop'`;
 * with a `CursorError` if the stored position belongs to another source, or if the handler fails with one; and with a
 * `StoreError` if the store fails for longer than the retry policy allows. A handler that fails with a `StoreError` is
 * retried like the store, and its update is never skipped or parked. Aborting `signal` stops it
 * after the running handler and its commit; unsubscribing aborts both, and the next run repeats what was not committed.
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
export function processFeed<A extends FeedItem, P extends FeedPosition, Tx = void, M extends boolean = boolean>(
  feed: Feed<A, P, M>,
  handler: Handler<NoInfer<Tx>, NoInfer<A>>,
  options?: ProcessOptions<Tx, NoInfer<A>> & FailureOptions<NoInfer<M>>,
): Processor;
export function processFeed(feed: AnyFeed, handler: AnyHandler, ownOptions: AnyProcessOptions = {}): Processor {
  const { name, store } = ownOptions;
  const options = name === undefined && store === undefined ? { ...ownOptions, ...feed.defaultStore } : ownOptions;
  const settings = processorSettings(options, feed);
  // what wraps the handler need not know that it can be prepared
  const { prepare } = handler as Handler;
  const { intercepted } = feed;
  const stopper = new Stopper(options.signal);
  const runOver = (client?: Client): Observable<Committed> =>
    run(feed, client, interceptHandler(client, options.name, handler), prepare, { ...options, stopper }, settings);
  const committed$ =
    intercepted === undefined
      ? runOver()
      : interceptFeed(
          intercepted.client,
          { ...intercepted.call, processor: { name: options.name } },
          runOver,
          commitOf,
        );
  return withProcessStatus(committed$, stopper, { name: options.name, end$: feed.end$, parked: parkedOf(options) });
}

/** The default time limit of a handler's retries, in milliseconds: a failure that lasts must become visible. */
const handlerGiveUpAfterMs = 60_000;

/** Returns the settings of a processor. Throws a TypeError for options that are invalid or cannot be combined. */
function processorSettings(options: AnyProcessOptions, { retry, mustHandleAll = false }: AnyFeed): ProcessorSettings {
  const { name, store, batch, commitEvery, onHandlerFailure = 'stop', stopWithinMs, storeTimeoutMs = 1 } = options;
  const { handlerTimeoutMs = Infinity } = options;
  const { ms = 1_000, updates = Infinity } = commitEvery ?? {};
  checkPositive({ storeTimeoutMs, commitEveryMs: ms });
  if (handlerTimeoutMs !== Infinity) checkPositive({ handlerTimeoutMs });
  checkPositive({ 'batch.size': batch?.size, commitEveryUpdates: commitEvery?.updates }, true);
  checkNotNegative({ stopWithinMs, 'batch.withinMs': batch?.withinMs });
  if (store === undefined && name !== undefined) throw new TypeError('store is required if name is set');
  if (store !== undefined && (name === undefined || name === ''))
    throw new TypeError('name is required if store is set');
  if (batch !== undefined && commitEvery !== undefined) throw new TypeError('commitEvery is not allowed with batch');
  // JavaScript callers may pass anything, and any other value would skip updates
  if (!['stop', 'skip', 'park'].includes(onHandlerFailure))
    throw new TypeError("onHandlerFailure must be 'stop', 'skip' or 'park'");
  if (onHandlerFailure !== 'stop' && mustHandleAll)
    throw new TypeError("onHandlerFailure must be 'stop' with this feed");
  if (onHandlerFailure === 'park' && store?.park === undefined)
    throw new TypeError("onHandlerFailure: 'park' requires a store with park");
  return {
    select: (options.select as ProcessorSettings['select'] | undefined) ?? (() => true),
    takesBatches: batch !== undefined,
    commitEveryMs: ms,
    commitEveryUpdates: batch?.size ?? updates,
    storeRetry: retryPolicy(retry, options.storeRetry),
    handlerRetry: retryPolicy(
      { ...retry, giveUpAfterMs: Math.min(retry.giveUpAfterMs, handlerGiveUpAfterMs) },
      options.handlerRetry,
    ),
    handlerTimeoutMs,
    onHandlerFailure,
  };
}

/** Returns a function that reads what is parked, if the processor parks and its store can be read. */
function parkedOf({
  name = '',
  store,
  onHandlerFailure,
}: AnyProcessOptions): (() => ObservableInput<unknown>) | undefined {
  return onHandlerFailure === 'park' && store?.parked !== undefined ? () => store.parked?.(name) ?? [] : undefined;
}

/** Acquires the store, resumes from its cursor, handles the updates from there, and stops gracefully. */
const run = (
  feed: AnyFeed,
  client: Client | undefined,
  handle: AnyHandler,
  prepare: Handler['prepare'],
  options: AnyProcessOptions & { readonly stopper: Stopper },
  settings: ProcessorSettings,
): Observable<Committed> =>
  defer(() => {
    const { batch, store, name, stopWithinMs = 10_000, storeTimeoutMs = 30_000, stopper } = options;
    const { storeRetry, onHandlerFailure, handlerTimeoutMs } = settings;
    const reader = feed.open({ name, emitUndecoded: onHandlerFailure !== 'stop', client });
    const { report } = reader;
    const retry = storeRetryPolicy(storeRetry);
    const calls = lastCalls(storeTimeoutMs);
    const waiting = new Waiting(report, handlerTimeoutMs);
    const handleItem: ProcessorRun['handle'] = (item, tx, report) => calls.handled(handle(item as never, tx, report));
    const start = ({ load$ }: HeldStore): Observable<ResumePoint> =>
      store === undefined ? startPoint(reader) : resumePoint(reader, name ?? '', load$);
    const work = (stop: Stop): Observable<Committed> =>
      whileStoreHeld(
        acquireStore(options, { retry, report }, calls, prepare),
        {
          lead: (held) =>
            start(held).pipe(
              tap(({ gap, cursor, isOther }) => {
                if (isOther === true) report(() => ({ _tag: 'SelectionChanged', offset: cursor.offset }));
                if (gap !== undefined) report(() => ({ _tag: 'GapFound', ...gap, resumesFrom: cursor.offset }));
              }),
              concatMap((from) =>
                handleFeed({ ...settings, ...held, ...stop, handle: handleItem, reader, waiting }, from, batch),
              ),
              // the stored cursor belongs to the ledger that was replaced
              mapError((error) => (store === undefined ? error : rejectedCursor(name ?? '', error))),
              tap({
                error: (error: unknown) => {
                  // nothing waits for a handler that took too long
                  if (isLedgerError(error, 'HandlerError')) calls.abandonHandler();
                },
              }),
            ),
          standBy: (held) => start(held).pipe(map(({ cursor }) => cursor)),
        },
        { retry, report },
        stop,
      ).pipe(reportEnd(report, stop.isStopped));
    const abandon = (): void => {
      waiting.abandon();
    };
    return stopGracefully(work, abandon, stopWithinMs, stopper);
  });
