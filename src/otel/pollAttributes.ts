import type { Attributes } from '@opentelemetry/api';
import type { Call } from '../http/exchange.js';

/** What a request for updates asks for. */
export function pollAttributes({ query = {}, body }: Call): Attributes {
  const range: Readonly<Record<string, unknown>> = { ...(typeof body === 'object' ? body : undefined) };
  const { beginExclusive, endInclusive } = range;
  return {
    ...(typeof beginExclusive === 'number' && { 'canton.updates.begin_exclusive': beginExclusive }),
    ...(typeof endInclusive === 'number' && { 'canton.updates.end_inclusive': endInclusive }),
    ...(query['limit'] !== undefined && { 'canton.updates.limit': query['limit'] }),
    ...(query['stream_idle_timeout_ms'] !== undefined && {
      'canton.updates.idle_timeout_ms': query['stream_idle_timeout_ms'],
    }),
  };
}
