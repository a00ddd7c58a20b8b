import { createContextKey, trace } from '@opentelemetry/api';
import { asyncScheduler, defer, map, tap } from 'rxjs';
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
  (call, request, send, read) =>
    defer(() => {
      const home = operation.context();
      const span = startRequest(call, request, home, operation, recorder);
      const traced = trace.setSpan(home, span);
      const sent = { ...request, headers: { ...request.headers, ...headersFor(traced) } };
      const startedAt = asyncScheduler.now();
      let isOver = false;
      const elapsed = (): number => Math.max(0, asyncScheduler.now() - startedAt) / 1_000;
      const end = (outcome: Omit<Answered, 'status'>, seconds = elapsed()): void => {
        // who takes the answer may leave at once
        if (isOver) return;
        isOver = true;
        endRequest(span, call, { ...outcome, status: statusOf(sent) }, seconds, operation, recorder);
      };
      return send(sent).pipe(
        // what it takes to read is not the participant's
        map((json) => ({ json, seconds: elapsed(), value: read(json) })),
        tap({
          next: ({ json, seconds, value }) => {
            end({ json, ...flawOf(value) }, seconds);
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
        map(({ value }) => value),
        inContext(traced.setValue(suppressTracing, true), home),
      );
    });

/** The error that stands behind what is good of a page. */
const flawOf = (value: unknown): Pick<Answered, 'error'> | undefined =>
  typeof value === 'object' && value !== null && 'failure' in value && value.failure instanceof Error
    ? { error: value.failure }
    : undefined;
