import {
  type Attributes,
  type Context,
  createNoopMeter,
  INVALID_SPAN_CONTEXT,
  type Meter,
  type MeterProvider,
  metrics,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  trace,
  type TracerProvider,
} from '@opentelemetry/api';
import { isLedgerError } from '../errors/LedgerError.js';
import { monotonicNow } from '../http/clock.js';

/**
 * The providers of spans and metrics.
 *
 * @category Telemetry
 */
export interface Telemetry {
  /** Provides the tracer. Default: the provider that the program registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /**
   * Provides the meter. Default: the provider that the program registered with `@opentelemetry/api`. Feeds that run
   * before the provider is registered are measured from that time on.
   */
  readonly meterProvider?: MeterProvider | undefined;
  /**
   * Whether each call of a handler of `processFeed` has a span. Has no effect on {@link traceHandler}.
   *
   * @defaultValue true
   */
  readonly handlerSpans?: boolean | undefined;
}

/** Starts the spans and records the measurements of one ledger. Its methods do not throw. */
export class Recorder {
  /** Returns the value of `canton.synchronizer.id` for a synchronizer, from a bounded set. */
  readonly synchronizerLabel = limitDistinct(maxSynchronizers);
  readonly #errorType = limitDistinct(maxErrorTypes);
  readonly #instruments = new Map<Measured, Instrument>();
  #meter: Meter | undefined;

  /**
   * @param identify - returns attributes that identify the ledger, on every span and measurement
   */
  constructor(
    private readonly telemetry: Telemetry,
    private readonly identify: () => Attributes = () => ({}),
  ) {}

  /** The attributes that identify the ledger now. */
  get ledger(): Attributes {
    return this.identify();
  }

  /** Starts a span. If the tracer fails, returns a span without effect. */
  startSpan(name: string, options: SpanOptions, context: Context): Span {
    const started = safely(() => {
      const attributes: Attributes = { ...this.ledger, ...options.attributes };
      const tracer = (this.telemetry.tracerProvider ?? trace).getTracer(scope);
      const span = tracer.startSpan(name, { ...options, attributes }, context);
      // fails here instead of later if the span is unusable
      span.spanContext();
      return span;
    });
    return started ?? trace.wrapSpanContext(INVALID_SPAN_CONTEXT);
  }

  /** The meter; `undefined` for the no-op meter, because a program may register its SDK after feeds have started. */
  get meter(): Meter | undefined {
    return (this.#meter ??= safely(() => {
      const meter = (this.telemetry.meterProvider ?? metrics).getMeter(scope);
      return meter === createNoopMeter() ? undefined : meter;
    }));
  }

  /** Adds to a counter, or records a value, if there is a meter. */
  measure(name: Measured, value: number, attributes: Attributes): void {
    safely(() => {
      const instrument = this.#instruments.get(name) ?? createInstrument(this.meter, name);
      if (instrument === undefined) return;
      this.#instruments.set(name, instrument);
      if ('add' in instrument) instrument.add(value, { ...this.ledger, ...attributes });
      else instrument.record(value, { ...this.ledger, ...attributes });
    });
  }

  /** Returns the value of `error.type` for an error, from a bounded set. */
  errorType(error: unknown): string {
    return this.#errorType(errorTypeOf(error));
  }
}

/** Ends a span with attributes. It has failed if they have the type of an error. */
export function endSpan(span: Span, attributes: Attributes): void {
  safely(() => {
    span.setAttributes(attributes);
    if ('error.type' in attributes) span.setStatus({ code: SpanStatusCode.ERROR });
  });
  safely(() => {
    span.end();
  });
}

/**
 * Returns the kind of an error, for `error.type`: the code of the ledger or of the system, an HTTP status, or the name
 * of the error. Never returns its message, which may quote payloads or credentials.
 *
 * @internal
 */
export function errorTypeOf(error: unknown): string {
  if (!isLedgerError(error)) return error instanceof Error && isName(error.name) ? error.name : '_OTHER';
  const code = 'code' in error ? error.code : undefined;
  // a participant sends NA in place of a code that it withholds
  if (isCode(code) && code !== 'NA') return code;
  return error._tag === 'ApiError' ? String(error.status) : error._tag;
}

/** Whether a value is an identifier, not a human-readable text. */
const isName = (u: unknown): u is string => typeof u === 'string' && /^[A-Za-z_]\w{0,79}$/.test(u);

/** Whether a value has the form of a code of the ledger or of the system, not of text, a token or a key. */
const isCode = (u: unknown): u is string => typeof u === 'string' && /^[A-Z][A-Z0-9_]{1,79}$/.test(u);

/** Calls a telemetry function. Returns `undefined` if it throws, because telemetry must not break the program. */
export function safely<A>(measure: () => A): A | undefined {
  try {
    return measure();
  } catch {
    return undefined;
  }
}

/** Starts a stopwatch; returns a function that reads it, in seconds. */
export function stopwatch(): () => number {
  const startedAt = monotonicNow();
  return () => (monotonicNow() - startedAt) / 1_000;
}

/** The ledger has about two hundred codes, of which a program encounters a few. */
const maxErrorTypes = 100;

/** A participant is connected to a few synchronizers. */
const maxSynchronizers = 50;

/**
 * Returns the first `max` distinct texts unchanged and `_OTHER` for all others. This limits the number of time series.
 */
function limitDistinct(max: number): (text: string) => string {
  const known = new Set<string>();
  return (text) => {
    if (known.size < max) known.add(text);
    return known.has(text) ? text : '_OTHER';
  };
}

/** The name of the tracer and of the meter. */
const scope = 'canton-rx';

/** Bucket boundaries in seconds: most responses take milliseconds, a poll waits until its idle timeout. */
const requestBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 7.5, 10, 20, 30];

/** Bucket boundaries in seconds: a submission takes seconds, or minutes if its outcome is recovered. */
const submissionBuckets = [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];

/** Bucket boundaries in seconds: a rule acts at once, or when the contract is due, which may take weeks. */
const actionBuckets = [0.1, 0.5, 1, 5, 30, 60, 300, 3_600, 21_600, 86_400, 604_800, 2_592_000];

/** What is measured: the kind of instrument, its unit, its description, and the bounds of its buckets. */
const definitions = {
  'request.duration': ['Histogram', 's', 'Duration of requests to the participant', requestBuckets],
  polls: ['Counter', '{request}', 'Requests for updates'],
  updates: ['Counter', '{update}', 'Updates emitted by feeds or handled by processors'],
  'feeds.active': ['UpDownCounter', '{feed}', 'Subscribed feeds and processors that have no end'],
  retries: ['Counter', '{retry}', 'Retries of feeds, submissions and stores after transient failures'],
  'sockets.closed': ['Counter', '{socket}', 'WebSockets that closed or did not open'],
  page_limit: ['Gauge', '{update}', 'Largest page that feeds request after the participant rejected a larger one'],
  gaps: ['Counter', '{gap}', 'Feeds that cannot continue without a gap'],
  'feed.failures': ['Counter', '{feed}', 'Feeds that ended with an error'],
  'decode.failures': ['Counter', '{failure}', 'Responses and updates that cannot be decoded'],
  'handler.failures': ['Counter', '{failure}', 'Failures of a handler that are followed by a retry'],
  'updates.skipped': ['Counter', '{update}', 'Updates that a processor skipped'],
  'updates.parked': ['Counter', '{update}', 'Updates that a processor parked'],
  'handler.duration': ['Histogram', 's', 'Time that the handler of a processor took for a commit', requestBuckets],
  'commit.duration': ['Histogram', 's', 'Time that the store took to begin, save and commit', requestBuckets],
  'processor.role': ['Gauge', '{processor}', '1 for the role that the processor has, 0 for the others'],
  'processor.offset': ['Gauge', '{offset}', 'Offset of the cursor that the processor has saved'],
  submissions: ['Counter', '{submission}', 'Submissions by outcome'],
  'submission.duration': ['Histogram', 's', 'Duration of submissions until their outcome', submissionBuckets],
  work: ['Gauge', '{item}', 'Contracts of a rule, or commands of an outbox, by state'],
  'work.age': ['Gauge', 's', 'How long the oldest contract of a rule, or command of an outbox, has waited'],
  commands: ['Counter', '{command}', 'Commands of outboxes by outcome'],
  actions: ['Counter', '{action}', 'Actions of rules by outcome'],
  'action.latency': [
    'Histogram',
    's',
    'Time from the creation of a contract to the commit of its action',
    actionBuckets,
  ],
} as const;

type Measured = keyof typeof definitions;

/** An instrument of a meter. The meter returns the same instrument for the same name to every ledger. */
type Instrument = NonNullable<ReturnType<typeof createInstrument>>;

function createInstrument(meter: Meter | undefined, name: Measured) {
  const [kind, unit, description, explicitBucketBoundaries] = definitions[name];
  return meter?.[`create${kind}`](`canton_rx.${name}`, {
    unit,
    description,
    ...(explicitBucketBoundaries && { advice: { explicitBucketBoundaries } }),
  });
}
