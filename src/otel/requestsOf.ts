import { createContextKey, trace } from '@opentelemetry/api';
import { asyncScheduler, defer, tap } from 'rxjs';
import type { Around } from '../http/Around.js';
import type { HttpRequest } from '../http/HttpPort.js';
import type { Answered } from './Answered.js';
import { endRequest } from './endRequest.js';
import { headersFor } from './headersFor.js';
import { inContext } from './inContext.js';
import type { Operation } from './Operation.js';
import type { Recorder } from './Recorder.js';
import { safely } from './safely.js';
import { startRequest } from './startRequest.js';

/** By which instrumentations of `fetch` know what is traced already: it would be twice, with two `traceparent`. */
const suppressTracing = createContextKey('OpenTelemetry SDK Context Key SUPPRESS_TRACING');

/** Gives each request of an operation a span, sends the span's context along, and measures what comes of it. */
export const requestsOf =
  (operation: Operation, recorder: Recorder, statusOf: (request: HttpRequest) => number | undefined): Around =>
  (call, request, send) =>
    defer(() => {
      const home = operation.context();
      const span = startRequest(call, request, home, operation, recorder);
      const traced = trace.setSpan(home, span);
      const sent = { ...request, headers: { ...request.headers, ...headersFor(traced) } };
      const startedAt = asyncScheduler.now();
      let isOver = false;
      const end = (outcome: Omit<Answered, 'status'>): void => {
        // who takes the answer may leave at once
        if (isOver) return;
        isOver = true;
        const seconds = Math.max(0, asyncScheduler.now() - startedAt) / 1_000;
        endRequest(span, call, { ...outcome, status: statusOf(sent) }, seconds, operation, recorder);
      };
      return send(sent).pipe(
        tap({
          next: (json) => {
            end({ json });
            safely(() => {
              operation.answered(call.path, json);
            });
          },
          error: (error: unknown) => {
            end({ error });
          },
          unsubscribe: () => {
            end({});
          },
        }),
        inContext(traced.setValue(suppressTracing, true), home),
      );
    });
