import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { defer, tap } from 'rxjs';
import { toConnectionError } from '../http/exchange.js';
import { pathOf } from '../http/kyPort.js';
import type { Link } from '../http/Link.js';
import type { SocketPort } from '../http/SocketPort.js';
import { type Operation, rootContext } from './Operation.js';
import { type Recorder, safely } from './Recorder.js';
import { headersFor, inContext } from './traceContext.js';

/** Gives the upgrade of each WebSocket a span, up to where it is open, and sends the span's context along. */
export const socketsOf =
  (
    operation: Operation,
    recorder: Recorder,
    { socketPort, baseUrl }: Pick<Link, 'socketPort' | 'baseUrl'>,
  ): SocketPort =>
  (request) =>
    defer(() => {
      const home = operation.context();
      const path = pathOf(request.url);
      const attributes = {
        'http.request.method': 'GET',
        'url.full': request.url,
        // behind the address, which is shorter by two letters for a socket
        'url.template': request.url.slice(baseUrl.length - 2),
        ...recorder.ledger,
        ...operation.attributes,
      };
      const options = { kind: SpanKind.CLIENT, attributes, ...rootContext(home, operation) };
      const span = recorder.startSpan('open socket', options, home);
      const traced = trace.setSpan(home, span);
      let isOver = false;
      const end = (failure?: { readonly error: unknown }): void => {
        if (isOver) return;
        isOver = true;
        safely(() => {
          if (failure !== undefined) {
            // as the feed has it
            span.setAttribute('error.type', recorder.errorType(toConnectionError(path, failure.error)));
            span.setStatus({ code: SpanStatusCode.ERROR });
          }
          span.end();
        });
      };
      return socketPort({ ...request, headers: { ...request.headers, ...headersFor(traced) } }).pipe(
        tap({
          next: ({ _tag }) => {
            if (_tag === 'Open') end();
          },
          error: (error: unknown) => {
            end({ error });
          },
          // without a word, before it was open
          complete: () => {
            end({ error: undefined });
          },
          unsubscribe: () => {
            end();
          },
        }),
        inContext(traced, home),
      );
    });
