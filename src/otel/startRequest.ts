import { SpanKind, trace, type Context, type Span } from '@opentelemetry/api';
import type { Call } from '../http/exchange.js';
import type { HttpRequest } from '../http/HttpPort.js';
import { isPoll } from './isPoll.js';
import type { Operation } from './Operation.js';
import { pollAttributes } from './pollAttributes.js';
import type { Recorder } from './Recorder.js';

/** The span of a request: a child in what it is part of; of a feed, which may go on for ever, a trace of its own. */
export function startRequest(
  call: Call,
  { method, url }: HttpRequest,
  home: Context,
  { isFeed, attributes }: Operation,
  recorder: Recorder,
): Span {
  const subscriber = trace.getSpanContext(home);
  const isLinked = isFeed && subscriber !== undefined && trace.isSpanContextValid(subscriber);
  return recorder.startSpan(
    isPoll(call) ? 'poll updates' : `${method} ${call.path}`,
    {
      kind: SpanKind.CLIENT,
      root: isFeed,
      links: isLinked ? [{ context: subscriber }] : [],
      attributes: {
        'http.request.method': method,
        'url.full': url,
        'url.template': call.path,
        ...recorder.ledger,
        ...attributes,
        ...(isPoll(call) && pollAttributes(call)),
      },
    },
    home,
  );
}
