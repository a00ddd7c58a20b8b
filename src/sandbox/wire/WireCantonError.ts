/** The error body of the JSON Ledger API; all ten keys are always there. */
export interface WireCantonError {
  /** The error id, `'NA'` if redacted. */
  readonly code: string;
  /** What happened. */
  readonly cause: string;
  /** Ties it to the server's log. */
  readonly correlationId: string | null;
  /** The trace of the request. */
  readonly traceId: string | null;
  /** Further facts, all as text. */
  readonly context: Readonly<Record<string, string>>;
  /** What it is about, as pairs of type and id. */
  readonly resources: readonly (readonly [string, string])[];
  /** 1 to 14, -1 if redacted. */
  readonly errorCategory: number;
  /** The gRPC status code. */
  readonly grpcCodeValue: number | null;
  /** The retry hint of the category. */
  readonly retryInfo: string | null;
  /** Set by the JSON layer only. */
  readonly definiteAnswer: boolean | null;
}
