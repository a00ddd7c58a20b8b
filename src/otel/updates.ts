import { context } from '@opentelemetry/api';
import { defer, finalize, type Observable, tap } from 'rxjs';
import type { Update } from '../codecs/Update.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { InvalidUpdate, UpdatesOptions } from '../feed/UpdatesOptions.js';
import { timesOf } from '../operators/internal/times.js';
import { countFailure, countUndecodable, createUpdateCounter } from './counting.js';
import { type Follower, updateRecordTimes } from './lag.js';
import { createOperation, type Tracing } from './Operation.js';

/** `ledger.updates` with telemetry. */
export function tracedUpdates(
  tracing: Tracing,
  request: UpdatesRequest,
  options: UpdatesOptions,
): Observable<Update | InvalidUpdate> {
  const { plain, ledgerFor, recorder, followers } = tracing;
  // throws for invalid options
  void plain.updates(request, options);
  return defer(() => {
    const outer = context.active();
    const counter = createUpdateCounter(recorder, {});
    // the feed rejects an invalid request
    const { beginExclusive, endInclusive }: Partial<UpdatesRequest> = { ...request };
    const isEndless = typeof endInclusive !== 'number';
    const follower: Follower = { attributes: {}, cursor: beginExclusive, recordTimes: new Map() };
    const onDiagnostic = (diagnostic: Diagnostic): void => {
      followers.touch(follower);
      if (diagnostic._tag === 'CaughtUp') follower.cursor = diagnostic.cursor;
      // a request without an end starts at the cursor
      if (diagnostic._tag === 'PollSent' && diagnostic.endInclusive === undefined)
        follower.cursor = diagnostic.beginExclusive;
      // the last diagnostic of a feed reports its end, so that no count is lost
      counter.flush();
    };
    if (isEndless) followers.add(follower);
    return ledgerFor(createOperation(tracing, { context: () => outer, isFeed: true, onDiagnostic }))
      .updates(request, options)
      .pipe(
        tap({
          next: (update) => {
            counter.count(update);
            follower.cursor = update.offset;
            if (update._tag === 'InvalidUpdate') countUndecodable(recorder, {});
            else if (isEndless) updateRecordTimes(follower, timesOf(update), recorder);
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
