import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  forkJoin,
  ignoreElements,
  map,
  type Observable,
  type ObservableInput,
  of,
  type OperatorFunction,
  tap,
} from 'rxjs';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { CursorError } from '../errors/process.js';
import type { Client } from '../client/Client.js';
import { interceptFeed } from '../client/intercept.js';
import { reportEnd } from '../feed/updates.js';
import type { LedgerPosition } from '../history/LedgerPosition.js';
import { checkNotNegative, checkPositive, mapError, retryPolicy } from '../http/retry.js';
import { type ProcessorRun, type ProcessorSettings, Waiting } from './callHandler.js';
import { type AnyHandler, commitOf, interceptHandler } from './interceptHandler.js';
import { Cursor, decodeRecord, type FeedPosition } from './CheckpointStore.js';
import type { AnyFeed, AnyReader, Feed, FeedIdentity, FeedItem } from './Feed.js';
import { acquireStore, type HeldStore, storeRetryPolicy, whileStoreHeld } from './heldStore.js';
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

/** The error of a processor whose ledger was replaced, as it would be after a restart. Other errors stay as they are. */
export const rejectedCursor = (name: string, error: unknown): unknown =>
  isLedgerError(error, 'LedgerResetError') && error.difference !== undefined
    ? new CursorError('ledger', name, error.difference)
    : error;

/** What a reader must have to resume. */
type ResumableReader = Pick<
  AnyReader,
  | 'identity$'
  | 'start$'
  | 'position'
  | 'hasUpdate'
  | 'prove'
  | 'formerSelection'
  | 'restart'
  | 'mayRelocate'
  | 'onSelectionChange'
  | 'mayContinueAfter'
>;

/** Emits the start of a feed whose processor has no store. */
const startPoint = ({ start$ }: AnyReader): Observable<ResumePoint> =>
  start$.pipe(map((start) => ({ cursor: initialCursor(start, { selection: '' }), isStored: true })));

/**
 * Emits the stored cursor, after checks that it belongs to this feed and that the source is still the same. Without a
 * stored cursor, emits the start of the feed.
 *
 * @param name - the name of the processor, for error messages
 */
export const resumePoint = (
  reader: ResumableReader,
  name: string,
  load$: Observable<unknown>,
): Observable<ResumePoint> =>
  forkJoin([load$, reader.identity$]).pipe(
    concatMap(([stored, identity]) => {
      if (stored === undefined || stored === null)
        return reader.start$.pipe(map((start) => ({ cursor: initialCursor(start, identity), isStored: false })));
      const saved = validateCursor(reader, name, stored, identity);
      const isOther = reader.onSelectionChange === 'continue' && saved.selection !== identity.selection;
      const cursor = isOther ? continuedWith(saved, identity.selection) : saved;
      const proven$ = isOther ? provenFormer(reader, name, saved) : EMPTY;
      return concat(proven$, provenBefore(reader, name, cursor), hasLastUpdate(reader, cursor)).pipe(
        map((isFound): ResumePoint => {
          if (isFound) return { cursor, isStored: true, ...(isOther && { isOther }) };
          const gone = updateGone(cursor);
          if (reader.restart === undefined) throw new CursorError('ledger', name, gone);
          const cause = new LedgerResetError(cursor.offset, undefined, gone);
          const gap = { cursor: cursor.offset, cause };
          return { cursor: initialCursor(reader.restart, identity), isStored: false, gap };
        }),
      );
    }),
  );

const initialCursor = (start: FeedPosition, { participantId, selection }: FeedIdentity): Cursor => ({
  version: 1,
  recordTimes: {},
  ...start,
  selection,
  ...(participantId !== undefined && { participantId }),
});

/** Returns the stored cursor. Throws a {@link CursorError} if it belongs to another participant or feed. */
function validateCursor(
  reader: ResumableReader,
  name: string,
  stored: unknown,
  { participantId, selection }: FeedIdentity,
): Cursor {
  const { position, mayRelocate = false, onSelectionChange = 'fail' } = reader;
  // only checked: the cursor keeps the fields of the position as they are
  decodeRecord(position, name, stored);
  const cursor = decodeRecord(Cursor, name, stored);
  const isOther = participantId !== undefined && (cursor.participantId ?? participantId) !== participantId;
  if (isOther && !mayRelocate)
    throw new CursorError(
      'participant',
      name,
      `it belongs to participant ${cursor.participantId ?? '?'}, but this one is ${participantId}`,
    );
  const isOfOtherKind = kindOf(cursor.selection) !== kindOf(selection);
  const isRefused = onSelectionChange === 'fail' || isOfOtherKind || reader.mayContinueAfter?.(cursor) === false;
  if (cursor.selection !== selection && isRefused)
    throw new CursorError(
      'selection',
      name,
      'it was saved for a request with different parties, filters or transaction shapes',
    );
  // a cursor that was saved while the participant did not report its ID gets the ID now
  return participantId === undefined || isOther ? cursor : { ...cursor, participantId };
}

/** The kind of a feed: what selections of contracts begin with, and those of updates. */
const kindOf = (selection: string): string => selection.slice(0, selection.indexOf(':'));

/** Returns a cursor for another selection. */
const continuedWith = (cursor: Cursor, selection: string): Cursor => ({
  ...withoutUpdates(cursor),
  selection,
  ...(cursor.rewoundFrom && { rewoundFrom: withoutUpdates(cursor.rewoundFrom) }),
});

/** Returns a position without its updates, which the requests of another selection may not see. */
const withoutUpdates = <P extends LedgerPosition>(position: P): P => ({
  ...position,
  lastUpdate: undefined,
  recordTimes: Object.fromEntries(
    Object.entries(position.recordTimes).map(([id, { recordTime }]) => [id, { recordTime }]),
  ),
});

/**
 * Emits whether the last update is still at its position. On a ledger that was restored and has grown since, a
 * different one is there.
 */
const hasLastUpdate = (reader: ResumableReader, cursor: Cursor): Observable<boolean> =>
  cursor.lastUpdate === undefined ? of(true) : (reader.hasUpdate?.(cursor.lastUpdate, cursor) ?? of(true));

/**
 * Completes if a cursor that was moved back can be used. Its offset proves nothing, and nothing before it was read: the position from
 * which it was moved shows that the ledger is the same. At other offsets of the same history, the place of the offset is not known.
 */
const provenBefore = (reader: ResumableReader, name: string, { rewoundFrom }: Cursor): Observable<never> =>
  (rewoundFrom === undefined ? EMPTY : (reader.prove?.(rewoundFrom) ?? EMPTY)).pipe(
    onlyHere(name, 'it was moved back to an offset, and the same updates have other offsets on this participant'),
  );

/**
 * Completes if a cursor of another selection can be continued. The requests of this one may not see its last update, so it is proven
 * by the former one, where that is known and its parties may still be read.
 */
const provenFormer = (reader: ResumableReader, name: string, cursor: Cursor): Observable<never> => {
  const former = cursor.rewoundFrom === undefined ? reader.formerSelection?.(cursor) : undefined;
  if (former === undefined || cursor.lastUpdate === undefined) return EMPTY;
  return (reader.prove?.(cursor, former) ?? EMPTY).pipe(
    onlyHere(name, 'its updates have other offsets now, and it has another selection'),
    catchError((error: unknown) => {
      // the right to read as a party that is gone
      if (isLedgerError(error, 'ApiError') && error.status === 403) return EMPTY;
      throw error;
    }),
  );
};

/** Completes where the offsets of a position are the same, and fails where they are others. */
const onlyHere =
  (name: string, reason: string): OperatorFunction<{ readonly _tag: 'Here' | 'Elsewhere' }, never> =>
  (place$) =>
    place$.pipe(
      tap(({ _tag }) => {
        if (_tag === 'Elsewhere') throw new CursorError('ledger', name, reason);
      }),
      ignoreElements(),
    );

const updateGone = ({ lastUpdate }: Cursor): string =>
  `update ${lastUpdate?.updateId ?? '?'} is no longer at offset ${lastUpdate?.offset ?? '?'}, or others have come between it and the cursor`;
