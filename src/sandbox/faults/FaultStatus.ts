/** The request is not processed and answered like this; so is the upgrade to a WebSocket. */
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
