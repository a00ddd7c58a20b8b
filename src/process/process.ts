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
import { reportTo } from '../diagnostics/Diagnostic.js';
import { isStoreError } from '../errors/process.js';
import { InvalidRequestError } from '../errors/request.js';
import { type Feed, createFeed } from '../feed/Feed.js';
import type { Service } from '../feed/Service.js';
import { reportEnd } from '../feed/updates.js';
import { validateRequest } from '../http/exchange.js';
import { clampTimer, type Retrying, retryPolicy, type RetryPolicy, retryTransient } from '../http/retry.js';
import type { Transactions } from './CheckpointStore.js';
import { acquireStore, type HeldStore } from './heldStore.js';
import type { AnyProcessOptions, Committed } from './ProcessOptions.js';
import { type Handling, processorSettings, type Stop } from './Processor.js';
import { resumePoint } from './resume.js';
import { work } from './work.js';

/** The longest wait before a store is asked again: it is near, and all the work waits for it. */
const longestWaitMs = 5_000;

/** Holds the processor's name, finds its place, works from there, and stops in an orderly way. */
export function process(
  service: Service,
  request: UpdatesRequest,
  handling: Handling,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): Observable<Committed> {
  const rules = processorSettings(options, ledgerRetry);
  const policy = retryPolicy(ledgerRetry, options.retry);
  const report = reportTo(service.diagnostics);
  const retrying = { retry: { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, longestWaitMs) }, report };
  return stopGracefully(
    (stop) =>
      whileStoreHeld(
        acquireStore(options, retrying),
        (kept) =>
          defer(() => {
            const feedFrom = feedsOf(service, request, options, ledgerRetry);
            const run = { ...rules, ...kept, ...stop, ...handling, report, path: service.learned.updatesPath };
            const feed = feedFrom();
            return resumePoint(feed, options, kept.load$).pipe(
              reportEnd(feed),
              // from here on the feed itself tells
              takeLast(1),
              concatMap((begin) => work(run, feedFrom(begin.cursor.offset), begin, options.batch)),
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
 * Work that is not cut off: when its subscriber leaves, or a signal says so, it is told to stop, and goes on by itself
 * until it has completed, or the time for that is over.
 */
const stopGracefully = <A>(
  work: (stop: Stop) => Observable<A>,
  withinMs: number,
  signal: AbortSignal | undefined,
): Observable<A> =>
  defer(() => {
    let isStopped = signal?.aborted ?? false;
    const left$ = new Subject<void>();
    const stop$ = merge(left$, signal === undefined ? NEVER : abortion(signal)).pipe(
      take(1),
      tap(() => {
        isStopped = true;
      }),
      // also for what begins to wait only then
      shareReplay({ bufferSize: 1, refCount: true }),
    );
    return work({ stop$, isStopped: () => isStopped }).pipe(
      takeUntil(stop$.pipe(delay(clampTimer(withinMs)))),
      share({
        resetOnRefCountZero: () => {
          left$.next();
          return NEVER;
        },
      }),
    );
  });

const abortion = (signal: AbortSignal): Observable<unknown> =>
  defer(() => (signal.aborted ? of(true) : fromEvent(signal, 'abort')));

/** Who has waited so long for the name without a failure is healthy: failures of a whole year do not add up. */
const healthyMs = 60_000;

/**
 * Works while a name is held, and lets go of it when the work is over. When the store fails, all of that begins anew, for as
 * long as the policy says; told to stop, it does so at once, unless it is in the middle of work.
 */
function whileStoreHeld(
  keeping$: Observable<HeldStore>,
  work: (kept: HeldStore) => Observable<Committed>,
  retrying: Retrying,
  { stop$, isStopped }: Stop,
): Observable<Committed> {
  let isWorking = false;
  let last: Committed | undefined;
  const marked = (transactions: Transactions<unknown>): Transactions<unknown> => ({
    transact: (inside) =>
      defer(() => {
        isWorking = true;
        return transactions.transact(inside);
      }).pipe(
        finalize(() => {
          isWorking = false;
        }),
      ),
  });
  const sign$: Observable<Committed | undefined> = interval(healthyMs).pipe(map(() => undefined));
  const held = (kept: HeldStore): Observable<Committed | undefined> =>
    work({ ...kept, transactions: marked(kept.transactions) });
  return keeping$.pipe(
    startWith(undefined),
    // a sign of health each while, until it is held; from then on, the commits are
    switchMap((kept) => (kept === undefined ? sign$ : held(kept)).pipe(materialize())),
    dematerialize(),
    // what was told before the store failed is no news, and no sign of health
    filter((committed) => committed === undefined || isNews(committed, last)),
    tap((committed) => {
      last = committed ?? last;
    }),
    // what has been tried again in its place is not tried once more; nor by a processor that is to stop
    retryTransient(retrying, (error) => isStoreError(error) && error.retried === undefined && !isStopped()),
    filter((committed) => committed !== undefined),
    takeUntil(stop$.pipe(filter(() => !isWorking))),
  );
}

const isNews = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;

/**
 * The feeds of a processor: of what its request selects, from an offset on. One range at a time: what is read ahead beyond
 * the next page would wait in memory for a handler that is slow.
 */
function feedsOf(
  service: Service,
  request: UpdatesRequest,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): (from?: Offset) => Feed {
  const range = validateRequest(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const onInvalid = (options.onPoison ?? 'stop') === 'stop' ? 'fail' : 'emit';
  // one feed to whoever watches: it asks where to begin, and then reads from there
  const report = reportTo(service.diagnostics, (service.feeds += 1));
  return (from = range.beginExclusive) => {
    const { endInclusive } = range;
    const rest = {
      ...range,
      beginExclusive: from,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, from) }),
    };
    // nor is it pushed anything, whatever else stands in the options
    return createFeed(
      service,
      rest,
      { ...options, transport: 'http', parallelRanges: 1, onInvalid },
      ledgerRetry,
      report,
    );
  };
}
