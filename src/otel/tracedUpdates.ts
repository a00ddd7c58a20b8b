import { context } from '@opentelemetry/api';
import { defer, finalize, tap, type Observable } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { LedgerEvent } from '../events/LedgerEvent.js';
import type { InvalidUpdate } from '../feed/InvalidUpdate.js';
import type { UpdatesOptions } from '../feed/UpdatesOptions.js';
import { timesOf } from '../operators/internal/timesOf.js';
import { countFailure } from './countFailure.js';
import { countUndecodable } from './countUndecodable.js';
import type { Follower } from './Follower.js';
import { isEndless } from './isEndless.js';
import { noteTimes } from './noteTimes.js';
import { operationOf } from './operationOf.js';
import { tallyOf } from './tallyOf.js';
import type { Tracing } from './Tracing.js';

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
    const tally = tallyOf(recorder, {});
    const isFollower = isEndless(request);
    const follower: Follower = { attributes: {}, cursor: request.beginExclusive, recordTimes: new Map() };
    const told = (event: LedgerEvent): void => {
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
