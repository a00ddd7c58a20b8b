import type * as t from 'io-ts';
import { adapt, isRecord } from './internal/Codec.js';
import { flag, json, lenient, mapOf, optional, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Int64 } from './scalars.js';

/**
 * The body of an error response from the ledger.
 *
 * @inline
 */
export interface JsCantonError {
  /** The error's id, such as `OFFSET_AFTER_LEDGER_END`; `NA` if the ledger withholds it. */
  readonly code: string;
  /** A human-readable explanation. */
  readonly cause: string;
  /** Identifies the error in the participant's logs. */
  readonly correlationId?: string;
  /** The W3C trace id. */
  readonly traceId?: string;
  /** Details of this error as strings, some of them debug output. */
  readonly context: Readonly<Record<string, string>>;
  /** The resources that the error concerns: pairs of type and id. */
  readonly resources?: unknown;
  /** The category, 1 to 14, which determines what a client should do; -1 if the ledger withholds it. */
  readonly errorCategory: Int64;
  /** The gRPC status code. */
  readonly grpcCodeValue?: Int64;
  /** The category's default delay, such as `1 second`; not the delay that the server requests. */
  readonly retryInfo?: string;
  /** Whether a submission has definitely failed. If it is absent, `context.definite_answer` may be present instead. */
  readonly definiteAnswer?: boolean;
}

/** Drops values that are not strings: an unreadable detail must not hide the code. */
export const TextValues: t.Type<Readonly<Record<string, string>>, unknown> = adapt(mapOf(text, text), (u) =>
  isRecord(u) ? Object.fromEntries(Object.entries(u).filter(([, value]) => typeof value === 'string')) : u,
);

/** Codec of `JsCantonError`. */
export const JsCantonError: t.Type<JsCantonError, unknown> = message<JsCantonError>('JsCantonError', {
  code: text,
  cause: text,
  correlationId: optional(text),
  traceId: optional(text),
  context: lenient(TextValues, {}),
  resources: optional(json),
  errorCategory: Int64,
  grpcCodeValue: optional(Int64),
  retryInfo: optional(text),
  definiteAnswer: optional(flag),
});
