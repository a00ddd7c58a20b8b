import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Trace } from './Trace.js';

/** The trace of a request, from its W3C headers. */
export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = typeof traceparent === 'string' ? traceparent : '';
  const id = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(parent)?.[1];
  if (id === undefined) return { id: randomBytes(16).toString('hex'), context: null };
  return { id, context: { traceparent: parent, tracestate: typeof tracestate === 'string' ? tracestate : null } };
}
