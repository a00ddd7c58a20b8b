import { type Attributes, context } from '@opentelemetry/api';
import { defer, finalize, type Observable, tap } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { ProcessorProgress, ProcessorRun } from '../ledger/connection.js';
import { countFailure, createUpdateCounter } from './counting.js';
import { type AnyHandler, type HandlerCall, instrumentHandler, startHandlerCall } from './handler.js';
import { type Follower, updateRecordTimes } from './lag.js';
import { createOperation, type Tracing } from './Operation.js';

/** Runs a processor of a ledger's updates with telemetry. */
export function tracedProcess<C extends ProcessorProgress>(
  tracing: Tracing,
  { name, request, handler, run }: ProcessorRun<C>,
): Observable<C> {
  const { serviceFor, recorder, followers, handlerSpans } = tracing;
  const attributes: Attributes = name === undefined ? {} : { 'canton_rx.processor.name': name };
  return defer(() => {
    const outer = context.active();
    const counter = createUpdateCounter(recorder, attributes);
    const follower: Follower = { attributes, cursor: undefined, recordTimes: new Map() };
    let isFinalized = false;
    const counting = instrumentHandler(handler as AnyHandler, (work) => {
      const untraced: HandlerCall = { inner: outer, outer, end: () => undefined };
      const { end, ...contexts } = handlerSpans ? startHandlerCall(work, outer, attributes, recorder) : untraced;
      return {
        ...contexts,
        end: (failure) => {
          end(failure);
          if (failure === undefined) for (const update of [work].flat()) counter.count(update);
          // a processor lets the running handler finish after its subscriber has unsubscribed
          if (isFinalized) counter.flush();
        },
      };
    });
    // the processor rejects an invalid request
    const { endInclusive }: Partial<UpdatesRequest> = { ...request };
    if (typeof endInclusive !== 'number') followers.add(follower);
    const onDiagnostic = (): void => {
      followers.touch(follower);
    };
    const operation = createOperation(tracing, {
      context: () => outer,
      isFeed: true,
      attributes,
      onDiagnostic,
    });
    return run(serviceFor(operation), counting).pipe(
      tap({
        next: ({ offset, recordTimes }) => {
          counter.flush();
          follower.cursor = offset;
          const times = Object.entries(recordTimes).map(([synchronizerId, recordTime]) => ({
            synchronizerId,
            recordTime,
          }));
          updateRecordTimes(follower, times, recorder);
        },
        error: (error: unknown) => {
          countFailure(recorder, attributes, error);
        },
      }),
      finalize(() => {
        isFinalized = true;
        counter.flush();
        followers.remove(follower);
      }),
    );
  });
}
