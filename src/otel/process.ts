import { type Attributes, context } from '@opentelemetry/api';
import { defer, finalize, type Observable, tap } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Ledger } from '../ledger/Ledger.js';
import type { AnyProcessOptions, Committed, ProcessOptions } from '../process/ProcessOptions.js';
import { countFailure } from './counting.js';
import { type AnyHandler, handlingSpan, type Watched, instrumentHandler } from './handler.js';
import { type Follower, noteTimes } from './lag.js';
import { operationOf, type Tracing } from './Operation.js';
import { isEndless, countUpdates } from './updates.js';

/** A processor of a ledger that is traced. */
export function tracedProcess(
  tracing: Tracing,
  request: UpdatesRequest,
  handler: AnyHandler,
  how: AnyProcessOptions,
): Observable<Committed> {
  const { plain, ledgerFor, recorder, followers, handlerSpans } = tracing;
  // throws for options that make no sense
  void processOf(plain)(request, handler, how);
  const attributes: Attributes = how.name === undefined ? {} : { 'canton_rx.processor.name': how.name };
  return defer(() => {
    const home = context.active();
    const tally = countUpdates(recorder, attributes);
    const follower: Follower = { attributes, cursor: undefined, recordTimes: new Map() };
    let hasLeft = false;
    const counted = instrumentHandler(handler, (work) => {
      const plainly: Watched = { inner: home, outer: home, end: () => undefined };
      const { end, ...contexts } = handlerSpans ? handlingSpan(work, home, attributes, recorder) : plainly;
      return {
        ...contexts,
        end: (failure) => {
          end(failure);
          if (failure === undefined) for (const update of [work].flat()) tally.count(update);
          // a processor is stopped in good order, when nobody listens any more
          if (hasLeft) tally.tell();
        },
      };
    });
    if (isEndless(request)) followers.add(follower);
    const told = (): void => {
      followers.goesOn(follower);
    };
    const operation = operationOf(tracing, { context: () => home, isFeed: true, attributes, told });
    return processOf(ledgerFor(operation))(request, counted, how).pipe(
      tap({
        next: ({ offset, recordTimes }) => {
          tally.tell();
          follower.cursor = offset;
          const times = Object.entries(recordTimes).map(([synchronizerId, recordTime]) => ({
            synchronizerId,
            recordTime,
          }));
          noteTimes(follower, times, recorder);
        },
        error: (error: unknown) => {
          countFailure(recorder, attributes, error);
        },
      }),
      finalize(() => {
        hasLeft = true;
        tally.tell();
        followers.remove(follower);
      }),
    );
  });
}

type AnyProcess = (request: UpdatesRequest, handler: AnyHandler, how: AnyProcessOptions) => Observable<Committed>;

/** A ledger's `process` for handlers and options of which no type says that they belong together. */
const processOf =
  (ledger: Ledger): AnyProcess =>
  (request, handler, how) =>
    ledger.process(request, handler, how as ProcessOptions<unknown>);
