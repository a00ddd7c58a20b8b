import { type Attributes, type Context, type SpanOptions, trace } from '@opentelemetry/api';
import { Offset } from '../codecs/scalars.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countEvent } from './counting.js';
import type { Followers } from './lag.js';
import type { Recorder } from './Recorder.js';

/** One use of a ledger, such as a subscription to a feed, as telemetry sees it. */
export interface Operation {
  /** In which context its requests are made, and what comes of them goes on. */
  readonly context: () => Context;
  /** Whether its polls go on for ever: each is then a trace of its own, with a link to that of the subscriber. */
  readonly isFeed: boolean;
  /** What its metrics have in common, beside the ledger's. */
  readonly attributes: Attributes;
  /** Called with the JSON of each answer. */
  readonly answered: (path: string, json: unknown) => void;
  /** Called with everything that happens to it. */
  readonly told: (event: Diagnostic) => void;
}

/** A ledger that is traced. */
export interface Tracing {
  /** The ledger without telemetry. */
  readonly plain: Ledger;
  /** The same ledger, as one operation uses it. */
  readonly ledgerFor: (operation: Operation) => Ledger;
  readonly recorder: Recorder;
  readonly followers: Followers;
  /** Whether each call of a handler has a span. */
  readonly handlerSpans: boolean;
}

/** Where a span belongs: in what it is part of; of a feed, which may go on for ever, it is a trace of its own, with a link. */
export function rootContext(home: Context, { isFeed }: Operation): Pick<SpanOptions, 'root' | 'links'> {
  const subscriber = trace.getSpanContext(home);
  const isLinked = isFeed && subscriber !== undefined && trace.isSpanContextValid(subscriber);
  return { root: isFeed, links: isLinked ? [{ context: subscriber }] : [] };
}

/** What tells one operation from another. */
interface Facts {
  readonly context: () => Context;
  readonly isFeed?: boolean;
  readonly attributes?: Attributes;
  readonly told?: (event: Diagnostic) => void;
}

/** An operation, whose events are counted, and whose answers tell where the ledger ends. */
export const operationOf = (
  { recorder, followers }: Tracing,
  { context, isFeed = false, attributes = {}, told = () => undefined }: Facts,
): Operation => ({
  context,
  isFeed,
  attributes,
  answered: (path, json) => {
    if (path !== '/v2/state/ledger-end' || typeof json !== 'object' || json === null) return;
    const end: unknown = 'offset' in json ? json.offset : undefined;
    if (Offset.is(end)) followers.endsAt(end);
  },
  told: (event) => {
    countEvent(recorder, attributes, event);
    told(event);
  },
});
