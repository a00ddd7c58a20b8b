import { SpanKind, type Context, type Span } from '@opentelemetry/api';
import type { Call } from '../http/exchange.js';
import type { HttpRequest } from '../http/HttpPort.js';
import { isPoll } from './isPoll.js';
import type { Operation } from './Operation.js';
import { pollAttributes } from './pollAttributes.js';
import type { Recorder } from './Recorder.js';
import { rootedIn } from './rootedIn.js';

/** The span of a request. */
export function startRequest(
  call: Call,
  { method, url }: HttpRequest,
  home: Context,
  operation: Operation,
  recorder: Recorder,
): Span {
  return recorder.startSpan(
    isPoll(call) ? 'poll updates' : `${method} ${call.path}`,
    {
      kind: SpanKind.CLIENT,
      ...rootedIn(home, operation),
      attributes: {
        'http.request.method': method,
        'url.full': url,
        'url.template': call.path,
        ...recorder.ledger,
        ...operation.attributes,
        ...(isPoll(call) && pollAttributes(call)),
      },
    },
    home,
  );
}
