/** Something that goes wrong with one request, see {@link Sandbox.fault}. */
export type Fault = FaultStatus | FaultReset | FaultTruncate | FaultHang | FaultDelay | FaultBody;

/** The request is not processed and answered like this. */
export interface FaultStatus {
  /** Tells the faults apart. */
  readonly kind: 'status';
  /** The HTTP status. */
  readonly status: number;
  /** A string goes out as text, anything else as JSON; see {@link cantonError}. */
  readonly body?: unknown;
  /** Instead of the content type that the body suggests. */
  readonly contentType?: string;
  /** Further headers, such as `retry-after`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The connection is reset (TCP RST) instead of an answer. */
export interface FaultReset {
  /** Tells the faults apart. */
  readonly kind: 'reset';
  /** `'after'`: the request was processed, only its answer is lost. Default `'before'`. */
  readonly when?: 'before' | 'after';
}

/** The request is processed; its answer announces its full length and is cut off. */
export interface FaultTruncate {
  /** Tells the faults apart. */
  readonly kind: 'truncate';
  /** How many bytes of the body still arrive. */
  readonly bytes: number;
}

/** The request is accepted and never answered; it ends with the client or with `close()`. */
export interface FaultHang {
  /** Tells the faults apart. */
  readonly kind: 'hang';
}

/**
 * The request is processed at once and answered late. Later than `requestTimeoutMs`, the client
 * gets the 503 of the request timeout for work that was done.
 */
export interface FaultDelay {
  /** Tells the faults apart. */
  readonly kind: 'delay';
  /** How long the answer is held back. */
  readonly ms: number;
}

/** The request is not processed; the answer is 200, `application/json` and exactly this body, however odd. */
export interface FaultBody {
  /** Tells the faults apart. */
  readonly kind: 'body';
  /** The whole body. */
  readonly body: string;
}

/** Which requests a {@link Fault} is for. */
export interface FaultScope {
  /** The path, whole, or a pattern for it; default any. */
  readonly path?: string | RegExp;
  /** How many requests it hits; default 1. */
  readonly times?: number;
}
