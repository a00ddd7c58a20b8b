import { trace, type Context, type SpanOptions } from '@opentelemetry/api';
import type { Operation } from './Operation.js';

/** Where a span belongs: in what it is part of; of a feed, which may go on for ever, it is a trace of its own, with a link. */
export function rootedIn(home: Context, { isFeed }: Operation): Pick<SpanOptions, 'root' | 'links'> {
  const subscriber = trace.getSpanContext(home);
  const isLinked = isFeed && subscriber !== undefined && trace.isSpanContextValid(subscriber);
  return { root: isFeed, links: isLinked ? [{ context: subscriber }] : [] };
}
