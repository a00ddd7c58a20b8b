import {
  concatMap,
  defer,
  delay,
  dematerialize,
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
  takeLast,
  takeUntil,
  tap,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { isStoreError } from '../errors/process.js';
import { InvalidRequestError } from '../errors/request.js';
import { createLedgerFeed, type LedgerFeed } from '../feed/LedgerFeed.js';
import type { Service } from '../feed/Service.js';
import { reportEnd } from '../feed/updates.js';
import { validateRequest } from '../http/exchange.js';
import { clampTimer, type RetrySettings, retryPolicy, type RetryPolicy, retryTransient } from '../http/retry.js';
import type { Transactions } from './CheckpointStore.js';
import { acquireStore, type HeldStore } from './heldStore.js';
import { type AnyHandler, processorSettings, type Stop } from './Processor.js';
import type { AnyProcessOptions, Committed } from './ProcessOptions.js';
import { resumePoint } from './resume.js';
import { work } from './work.js';

/** The longest wait before a call of a store is retried, in milliseconds: a store is near, and all work waits for it. */
const maxStoreDelayMs = 5_000;

/** Acquires the store, resumes from its cursor, handles the updates from there, and stops gracefully. */
export function process(
  service: Service,
  request: UpdatesRequest,
  handler: AnyHandler,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): Observable<Committed> {
  const settings = processorSettings(options, ledgerRetry);
  const policy = retryPolicy(ledgerRetry, options.retry);
  const { report } = service.link;
  const retrying = { retry: { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, maxStoreDelayMs) }, report };
  return stopGracefully(
    (stop) =>
      whileStoreHeld(
        acquireStore(options, retrying),
        (store) =>
          defer(() => {
            const feedFrom = feedFactory(service, request, options, ledgerRetry);
            const processor = { ...settings, ...store, ...stop, ...handler, report, path: service.updatesPath };
            const feed = feedFrom();
            return resumePoint(feed, options, store.load$).pipe(
              reportEnd(feed),
              // one value: from here on the feed of the work reports its own end
              takeLast(1),
              concatMap((start) => work(processor, feedFrom(start.cursor.offset), start, options.batch)),
            );
          }),
        retrying,
        stop,
      ),
    options.stopWithinMs ?? 10_000,
    options.signal,
  );
}

/**
 * Runs work that is not interrupted. When its subscriber unsubscribes, or a signal aborts, the work is asked to stop, and
 * continues until it completes or the time to stop is over.
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
      // replayed for whatever subscribes after the stop
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

/** How long a wait for the name without a failure counts as healthy, in milliseconds: rare failures must not add up. */
const healthyWaitMs = 60_000;

/**
 * Runs work while the store is held, and releases the store after it. When the store fails, both begin again, for as long
 * as the policy allows. A stop ends this at once, unless a transaction is open.
 */
function whileStoreHeld(
  store$: Observable<HeldStore>,
  run: (store: HeldStore) => Observable<Committed>,
  retrying: RetrySettings,
  { stop$, isStopped }: Stop,
): Observable<Committed> {
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
    // each value renews the retry budget: an undefined now and then while waiting, the commits afterwards; the end of
    // the work is the end of all this, though the store is still held, so that it passes as a value
    switchMap((store) => (store === undefined ? waiting$ : working(store)).pipe(materialize())),
    dematerialize(),
    // a repeated commit, after the store has failed, must not renew the budget
    filter((committed) => committed === undefined || isProgress(committed, state.last)),
    tap((committed) => {
      state.last = committed ?? state.last;
    }),
    // an error with `retried` was retried where it occurred
    retryTransient(retrying, (error) => isStoreError(error) && error.retried === undefined && !isStopped()),
    filter((committed) => committed !== undefined),
    takeUntil(stop$.pipe(filter(() => !state.isInTransaction))),
  );
}

const isProgress = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;

/**
 * Creates the feeds of a processor, from the start of its request or from an offset. Such a feed polls over HTTP and reads
 * one range at a time: what is pushed or prefetched would wait in memory for a slow handler.
 */
function feedFactory(
  service: Service,
  request: UpdatesRequest,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): (beginExclusive?: Offset) => LedgerFeed {
  const range = validateRequest(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const onInvalid = (options.onPoison ?? 'stop') === 'stop' ? 'fail' : 'emit';
  // the feed that resumes and the feed of the work share one number in diagnostics
  const report = service.reportForNewFeed();
  return (beginExclusive = range.beginExclusive) => {
    const { endInclusive } = range;
    const rest = {
      ...range,
      beginExclusive,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, beginExclusive) }),
    };
    return createLedgerFeed(
      service,
      rest,
      { ...options, transport: 'http', parallelRanges: 1, onInvalid },
      ledgerRetry,
      report,
    );
  };
}
