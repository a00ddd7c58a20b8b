import { type Attributes, context } from '@opentelemetry/api';
import { defer, finalize, type Observable, tap } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { InvalidUpdate, UpdatesOptions } from '../feed/UpdatesOptions.js';
import { synchronizersOf, timesOf } from '../operators/internal/times.js';
import { countFailure, countUndecodable } from './counting.js';
import { type Follower, noteTimes } from './lag.js';
import { operationOf, type Tracing } from './Operation.js';
import type { Recorder } from './Recorder.js';

/** Whether a feed goes on for ever. What is no request at all, the feed itself refuses. */
export function isEndless(request: UpdatesRequest): boolean {
  const { endInclusive }: Partial<UpdatesRequest> = { ...request };
  return typeof endInclusive !== 'number';
}

/** Counts updates, and tells the meter now and then: for each by itself that would take as long as reading it. */
interface Tally {
  readonly count: (update: Update | InvalidUpdate) => void;
  readonly tell: () => void;
}

/** A tally by variant and synchronizer. */
export function countUpdates({ measure, synchronizer: bounded }: Recorder, attributes: Attributes): Tally {
  const counts = new Map<string, { readonly by: Attributes; count: number }>();
  return {
    count: (update) => {
      const told = synchronizerOf(update);
      const synchronizer = told && bounded(told);
      const key = `${update._tag} ${synchronizer ?? ''}`;
      const entry = counts.get(key);
      if (entry !== undefined) entry.count += 1;
      else counts.set(key, { by: byOf(update._tag, synchronizer), count: 1 });
    },
    tell: () => {
      measure(({ updates }, ledger) => {
        for (const { by, count } of counts.values()) updates.add(count, { ...ledger, ...attributes, ...by });
      });
      counts.clear();
    },
  };
}

/** Of a checkpoint, which is of all, none; nor of what this version does not know. */
const synchronizerOf = (update: Update | InvalidUpdate): string | undefined =>
  update._tag === 'Transaction' || update._tag === 'Reassignment' || update._tag === 'TopologyTransaction'
    ? synchronizersOf(update)[0]
    : undefined;

const byOf = (variant: string, synchronizer: string | undefined): Attributes => ({
  'canton.update.variant': variant,
  ...(synchronizer !== undefined && { 'canton.synchronizer.id': synchronizer }),
});

/** A feed of a ledger that is traced. */
export function tracedUpdates(
  tracing: Tracing,
  request: UpdatesRequest,
  how: UpdatesOptions,
): Observable<Update | InvalidUpdate> {
  const { plain, ledgerFor, recorder, followers } = tracing;
  // throws for options that make no sense
  void plain.updates(request, how);
  return defer(() => {
    const home = context.active();
    const tally = countUpdates(recorder, {});
    const isFollower = isEndless(request);
    const follower: Follower = { attributes: {}, cursor: request.beginExclusive, recordTimes: new Map() };
    const told = (event: Diagnostic): void => {
      followers.goesOn(follower);
      if (event._tag === 'CaughtUp') follower.cursor = event.cursor;
      // a request without an end is sent from where the feed stands
      if (event._tag === 'PollSent' && event.endInclusive === undefined) follower.cursor = event.beginExclusive;
      // the last event is that of its end
      tally.tell();
    };
    if (isFollower) followers.add(follower);
    return ledgerFor(operationOf(tracing, { context: () => home, isFeed: true, told }))
      .updates(request, how)
      .pipe(
        tap({
          next: (update) => {
            tally.count(update);
            follower.cursor = update.offset;
            if (update._tag === 'InvalidUpdate') countUndecodable(recorder, {});
            else if (isFollower) noteTimes(follower, timesOf(update), recorder);
          },
          error: (error: unknown) => {
            countFailure(recorder, {}, error);
          },
        }),
        finalize(() => {
          followers.remove(follower);
        }),
      );
  });
}
