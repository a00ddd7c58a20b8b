import { type Attributes, type Context, type SpanOptions, trace } from '@opentelemetry/api';
import { Offset } from '../codecs/scalars.js';
import type { Diagnostic } from '../diagnostics/Diagnostic.js';
import type { Service } from '../feed/Service.js';
import type { Ledger } from '../ledger/Ledger.js';
import { countDiagnostic } from './counting.js';
import type { Followers } from './lag.js';
import type { Recorder } from './Recorder.js';

/** One use of a ledger from the perspective of telemetry, such as a subscription to a feed. */
export interface Operation {
  /** The context in which its requests are sent and its results are emitted. */
  readonly context: () => Context;
  /**
   * Whether each request is a separate trace, linked to the trace of the subscriber, because a feed may have no end.
   */
  readonly isFeed: boolean;
  /** The attributes of its metrics, in addition to those of the ledger. */
  readonly attributes: Attributes;
  /** Called with the JSON of each response. */
  readonly onAnswer: (path: string, json: unknown) => void;
  /** Called with each diagnostic of the operation. */
  readonly onDiagnostic: (diagnostic: Diagnostic) => void;
}

/** A ledger with telemetry, shared by its operations. */
export interface Tracing {
  /** The ledger without telemetry. */
  readonly plain: Ledger;
  /** Returns the service of the ledger for one operation. */
  readonly serviceFor: (operation: Operation) => Service;
  /** Returns the same ledger for one operation. */
  readonly ledgerFor: (operation: Operation) => Ledger;
  readonly recorder: Recorder;
  readonly followers: Followers;
  /** Whether each call of a handler has a span. */
  readonly handlerSpans: boolean;
}

/** The properties that differ between operations. */
interface OperationOptions {
  readonly context: () => Context;
  readonly isFeed?: boolean;
  readonly attributes?: Attributes;
  readonly onDiagnostic?: (diagnostic: Diagnostic) => void;
}

/** Creates an operation whose diagnostics are counted and whose responses report the ledger end. */
export const createOperation = (
  { recorder, followers }: Tracing,
  { context, isFeed = false, attributes = {}, onDiagnostic = () => undefined }: OperationOptions,
): Operation => ({
  context,
  isFeed,
  attributes,
  onAnswer: (path, json) => {
    if (path !== '/v2/state/ledger-end' || typeof json !== 'object' || json === null) return;
    const end: unknown = 'offset' in json ? json.offset : undefined;
    if (Offset.is(end)) followers.setLedgerEnd(end);
  },
  onDiagnostic: (diagnostic) => {
    countDiagnostic(recorder, attributes, diagnostic);
    onDiagnostic(diagnostic);
  },
});

/** The parent of the span of a request: the active span, or none for a feed, which links to the active span instead. */
export function parentOptions(outer: Context, { isFeed }: Operation): Pick<SpanOptions, 'root' | 'links'> {
  const subscriber = trace.getSpanContext(outer);
  const isLinked = isFeed && subscriber !== undefined && trace.isSpanContextValid(subscriber);
  return { root: isFeed, links: isLinked ? [{ context: subscriber }] : [] };
}
