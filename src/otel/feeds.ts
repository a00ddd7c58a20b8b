import { type Attributes, context } from '@opentelemetry/api';
import { defer, finalize, type Observable, tap } from 'rxjs';
import type { SynchronizerTime } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { UndecodedUpdate } from '../feed/Page.js';
import type { UpdatesAfter, UpdatesOptions } from '../feed/UpdatesOptions.js';
import type { LedgerPosition } from '../history/LedgerPosition.js';
import { monotonicNow } from '../http/clock.js';
import type { ProcessorProgress, ProcessorRun } from '../ledger/connection.js';
import { synchronizersOf, timesOf } from '../operators/recordTimes.js';
import { type AnyHandler, type HandlerCall, instrumentHandler, startHandlerCall } from './traceContext.js';
import { type Follower, updateRecordTimes } from './metrics.js';
import type { Recorder } from './Recorder.js';
import type { Tracing } from './requests.js';

/** `ledger.updates` with telemetry. */
export function traceUpdates(
  tracing: Tracing,
  request: UpdatesRequest | UpdatesAfter,
  options: UpdatesOptions,
): Observable<Update | UndecodedUpdate> {
  // throws for invalid options
  void tracing.plain.updates(request, options);
  return defer(() => {
    // the feed rejects an invalid request
    const { beginExclusive, after }: Partial<UpdatesRequest> & { readonly after?: Partial<LedgerPosition> } = {
      ...request,
    };
    const feed = startFeed(tracing, {}, request, after?.offset ?? beginExclusive);
    return tracing
      .ledgerFor(feed.sender)
      .updates(request, options)
      .pipe(
        tap((update) => {
          feed.count(update);
          feed.reach(update.offset, update._tag === 'UndecodedUpdate' ? [] : timesOf(update));
        }),
        finalize(feed.end),
      );
  });
}

/** Runs a processor of a ledger's updates with telemetry. */
export const traceProcessor = <C extends ProcessorProgress>(
  tracing: Tracing,
  { name, request, handler, run }: ProcessorRun<C>,
): Observable<C> =>
  defer(() => {
    const attributes: Attributes = name === undefined ? {} : { 'canton_rx.processor.name': name };
    const feed = startFeed(tracing, attributes, request);
    const outer = context.active();
    const untraced: HandlerCall = { inner: outer, outer, end: () => undefined };
    const counting = instrumentHandler(handler as AnyHandler, (work) => {
      const call = tracing.handlerSpans ? startHandlerCall(work, outer, attributes, tracing.recorder) : untraced;
      return {
        ...call,
        end: (failure) => {
          call.end(failure);
          if (failure === undefined) for (const update of [work].flat()) feed.count(update);
        },
      };
    });
    return run(tracing.serviceFor(feed.sender), counting).pipe(
      tap(({ offset, recordTimes, role }) => {
        if (role !== undefined) {
          feed.leave();
          return;
        }
        const times = Object.entries(recordTimes).map(([synchronizerId, recordTime]) => ({
          synchronizerId,
          recordTime,
        }));
        feed.reach(offset, times);
      }),
      finalize(feed.end),
    );
  });

/**
 * Starts to measure a subscription of a feed, or the run of a processor: its lag if it has no end, and its updates. They
 * are added to the meter with the next diagnostic, because an addition for each would cost as much as reading it. The
 * last diagnostic reports the end of the feed, so that no count is lost.
 *
 * @param cursor - where the feed begins; absent for a processor, whose lag is that of its commits
 */
function startFeed(
  { recorder, followers }: Tracing,
  attributes: Attributes,
  request: Partial<UpdatesRequest | UpdatesAfter> | undefined,
  cursor?: Offset,
) {
  const outer = context.active();
  const isProcessor = cursor === undefined;
  const isEndless = typeof request?.endInclusive !== 'number';
  const follower: Follower = { attributes, cursor, recordTimes: new Map() };
  const counts = new Map<string, { readonly by: Attributes; count: number }>();
  const flush = (): void => {
    for (const { by, count } of counts.values()) recorder.measure('updates', count, { ...attributes, ...by });
    counts.clear();
  };
  if (isEndless) followers.add(follower);
  return {
    sender: {
      context: () => outer,
      isFeed: true,
      attributes,
      onDiagnostic: (diagnostic: Diagnostic): void => {
        if (!isProcessor) follower.cursor = cursorIn(diagnostic) ?? follower.cursor;
        flush();
      },
    },
    /** Counts an update. */
    count: (update: Update | UndecodedUpdate): void => {
      if (update._tag === 'UndecodedUpdate') recorder.measure('decode.failures', 1, attributes);
      const synchronizer = synchronizerOf(update, recorder);
      const key = `${update._tag} ${synchronizer ?? ''}`;
      const entry = counts.get(key);
      if (entry === undefined) counts.set(key, { by: updateAttributes(update._tag, synchronizer), count: 1 });
      else entry.count += 1;
    },
    /** Moves the cursor of a feed, or of the commits of a processor. */
    reach: (offset: Offset, times: readonly SynchronizerTime[]): void => {
      follower.cursor = offset;
      if (isProcessor) follower.committedAt = monotonicNow();
      if (isEndless) updateRecordTimes(follower, times, recorder);
    },
    /** Ends the lag of a processor that does not hold its name: another one works. */
    leave: (): void => {
      follower.cursor = undefined;
      delete follower.committedAt;
      follower.recordTimes.clear();
    },
    end: (): void => {
      flush();
      followers.remove(follower);
    },
  };
}

/** Returns the cursor of a feed that a diagnostic reports. A request without an end starts at the cursor. */
function cursorIn(diagnostic: Diagnostic): Offset | undefined {
  if (diagnostic._tag === 'CaughtUp') return diagnostic.cursor;
  return diagnostic._tag === 'PollSent' && diagnostic.endInclusive === undefined
    ? diagnostic.beginExclusive
    : undefined;
}

/**
 * Returns the label of the synchronizer of an update; `undefined` for a checkpoint, which concerns all synchronizers, and
 * for an unknown variant.
 */
function synchronizerOf(update: Update | UndecodedUpdate, recorder: Recorder): string | undefined {
  if (!['Transaction', 'Reassignment', 'TopologyTransaction'].includes(update._tag)) return undefined;
  const [synchronizerId] = synchronizersOf(update as Update);
  return synchronizerId && recorder.synchronizerLabel(synchronizerId);
}

const updateAttributes = (variant: string, synchronizer: string | undefined): Attributes => ({
  'canton.update.variant': variant,
  ...(synchronizer !== undefined && { 'canton.synchronizer.id': synchronizer }),
});
