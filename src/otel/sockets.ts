import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { defer, tap } from 'rxjs';
import { toConnectionError } from '../http/exchange.js';
import { pathOf } from '../http/HttpPort.js';
import type { SocketInterceptor } from '../http/Link.js';
import { type Operation, parentOptions } from './Operation.js';
import { once, type Recorder, safely } from './Recorder.js';
import { headersFor, inContext } from './traceContext.js';

/** Traces the WebSockets of an operation: starts a span for each upgrade, which ends when the socket is open. */
export const traceSockets =
  (operation: Operation, recorder: Recorder, baseUrl: string): SocketInterceptor =>
  ({ url, headers }, open) =>
    defer(() => {
      const outer = operation.context();
      const path = pathOf(url);
      const attributes = {
        'http.request.method': 'GET',
        'url.full': url,
        // the path after the base URL, whose `http` is two letters longer than the `ws` of a socket
        'url.template': url.slice(baseUrl.length - 2),
        ...recorder.ledger,
        ...operation.attributes,
      };
      const options = { kind: SpanKind.CLIENT, attributes, ...parentOptions(outer, operation) };
      const span = recorder.startSpan('open socket', options, outer);
      const inner = trace.setSpan(outer, span);
      const end = once((failure?: { readonly error: unknown }) => {
        safely(() => {
          if (failure !== undefined) {
            // the same error type as in the diagnostics of the feed
            span.setAttribute('error.type', recorder.errorType(toConnectionError(path, failure.error)));
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        });
      });
      return open({ ...headers, ...headersFor(inner) }).pipe(
        tap({
          next: ({ _tag }) => {
            if (_tag === 'Open') end();
          },
          error: (error: unknown) => {
            end({ error });
          },
          // a socket that completes before it is open has failed
          complete: () => {
            end({ error: undefined });
          },
          unsubscribe: () => {
            end();
          },
        }),
        inContext(inner, outer),
      );
    });
