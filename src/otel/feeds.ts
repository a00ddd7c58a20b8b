import { type Attributes, context } from '@opentelemetry/api';
import type { FeedCall, FeedInterception, FeedProgress } from '../client/Interceptor.js';
import type { Offset } from '../codecs/scalars.js';
import { countDiagnostic } from '../diagnostics/metrics.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import { monotonicNow } from '../http/clock.js';
import { type Follower, updateRecordTimes } from './Followers.js';
import type { Recorder } from './Recorder.js';
import { traceParts, type Tracing } from './requests.js';
import { traceHandlerCall } from './traceContext.js';

/**
 * Traces the requests of a feed, or the run of a processor. Measures its lag if it has no end, and its updates. They are added
 * to the meter with the next diagnostic, because an addition for each would cost as much as reading it. The last diagnostic
 * reports the end of the feed, so that no count is lost.
 */
export function traceFeed(tracing: Tracing, { kind, processor, ...call }: FeedCall): FeedInterception {
  const { recorder, followers } = tracing;
  const outer = context.active();
  const name = processor?.name;
  const attributes: Attributes = name === undefined ? {} : { 'canton_rx.processor.name': name };
  const parts = traceParts(tracing, { context: () => outer, isFeed: true, attributes });
  if (processor === undefined && kind !== 'updates') return parts;
  const isEndless = call.isEndless;
  // the lag of a processor is that of its commits
  const follower: Follower = { attributes, cursor: call.beginExclusive, recordTimes: new Map() };
  const counts = new Map<string, { readonly by: Attributes; count: number }>();
  const flush = (): void => {
    for (const { by, count } of counts.values()) recorder.measure('updates', count, { ...attributes, ...by });
    counts.clear();
  };
  const count = (update: FeedProgress): void => {
    if (update._tag === 'UndecodedUpdate') recorder.measure('decode.failures', 1, attributes);
    const synchronizer = synchronizerOf(update, recorder);
    const key = `${update._tag} ${synchronizer ?? ''}`;
    const entry = counts.get(key);
    if (entry === undefined) counts.set(key, { by: updateAttributes(update._tag, synchronizer), count: 1 });
    else entry.count += 1;
  };
  let hasEnded = false;
  if (isEndless) followers.add(follower);
  return {
    ...parts,
    report: (diagnostic) => {
      followers.count();
      countDiagnostic(recorder, diagnostic);
      if (processor === undefined) follower.cursor = cursorIn(diagnostic) ?? follower.cursor;
      flush();
    },
    handler: (handled) => {
      const traced = tracing.handlerSpans ? traceHandlerCall(handled, outer, attributes, recorder) : undefined;
      return {
        ...traced,
        end: (outcome) => {
          traced?.end?.(outcome);
          if (outcome.how === 'failed' || outcome.how === 'unsubscribed') return;
          handled.items.forEach(count);
          // a Promise continues after its processor is unsubscribed
          if (hasEnded) flush();
        },
      };
    },
    next: (progress) => {
      if (processor === undefined) count(progress);
      if (progress.role === undefined) reach(follower, progress, isEndless, recorder, processor !== undefined);
      else leave(follower);
    },
    end: () => {
      hasEnded = true;
      flush();
      followers.remove(follower);
    },
  };
}

/** Moves the cursor of a feed, or of the commits of a processor. */
function reach(
  follower: Follower,
  { offset, recordTimes }: FeedProgress,
  isEndless: boolean,
  recorder: Recorder,
  isProcessor: boolean,
): void {
  follower.cursor = offset;
  if (isProcessor) follower.committedAt = monotonicNow();
  if (isEndless) updateRecordTimes(follower, recordTimes, recorder);
}

/** Ends the lag of a processor that does not hold its name: another one works. */
function leave(follower: Follower): void {
  follower.cursor = undefined;
  delete follower.committedAt;
  follower.recordTimes.clear();
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
function synchronizerOf({ _tag, recordTimes: [first] }: FeedProgress, recorder: Recorder): string | undefined {
  return _tag === 'OffsetCheckpoint' || first === undefined
    ? undefined
    : recorder.synchronizerLabel(first.synchronizerId);
}

const updateAttributes = (variant: string, synchronizer: string | undefined): Attributes => ({
  'canton.update.variant': variant,
  ...(synchronizer !== undefined && { 'canton.synchronizer.id': synchronizer }),
});
