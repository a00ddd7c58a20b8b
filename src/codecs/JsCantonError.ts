import * as t from 'io-ts';
import { defaulting } from './internal/defaulting.js';
import { Int64 } from './Int64.js';
import { message } from './internal/message.js';
import { optional } from './internal/optional.js';

/** The body of the ledger's own errors. */
export interface JsCantonError {
  /** The error's id, such as `OFFSET_AFTER_LEDGER_END`; `NA` where the ledger keeps it to itself. */
  readonly code: string;
  /** For people. */
  readonly cause: string;
  /** For the operator, to find the error in the logs. */
  readonly correlationId?: string;
  /** The W3C trace id. */
  readonly traceId?: string;
  /** Facts of this error; all are text, some are a debugger's view of a value. */
  readonly context: Readonly<Record<string, string>>;
  /** Pairs of type and id. */
  readonly resources?: unknown;
  /** 1 to 14, by which to decide what to do; -1 where the ledger keeps it to itself. */
  readonly errorCategory: Int64;
  /** The gRPC status code. */
  readonly grpcCodeValue?: Int64;
  /** The default of the category, such as `1 second`; not the delay that the server wants. */
  readonly retryInfo?: string;
  /** Whether a submission has certainly failed; where absent, `context.definite_answer` may say so. */
  readonly definiteAnswer?: boolean;
}

/** Codec of {@link (JsCantonError:interface)}. */
export const JsCantonError: t.Type<JsCantonError, unknown> = message<JsCantonError>('JsCantonError', {
  code: t.string,
  cause: t.string,
  correlationId: optional(t.string),
  traceId: optional(t.string),
  context: defaulting(t.record(t.string, t.string), {}),
  resources: optional(t.unknown),
  errorCategory: Int64,
  grpcCodeValue: optional(Int64),
  retryInfo: optional(t.string),
  definiteAnswer: optional(t.boolean),
});
