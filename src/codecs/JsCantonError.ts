import * as t from 'io-ts';
import { isRecord } from './internal/Codec.js';
import { defaulting, flag, json, optional, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Int64 } from './scalars.js';

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

const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string';

/** What is no text is left out: the code must not be lost for a fact that cannot be read. */
const Texts = new t.Type<Readonly<Record<string, string>>, unknown>(
  'Record<string, string>',
  (u): u is Readonly<Record<string, string>> => isRecord(u) && Object.entries(u).every(isText),
  (u, context) =>
    isRecord(u) ? t.success(Object.fromEntries(Object.entries(u).filter(isText))) : t.failure(u, context),
  t.identity,
);

/** Codec of `JsCantonError`. */
export const JsCantonError: t.Type<JsCantonError, unknown> = message<JsCantonError>('JsCantonError', {
  code: text,
  cause: text,
  correlationId: optional(text),
  traceId: optional(text),
  context: defaulting(Texts, {}),
  resources: optional(json),
  errorCategory: Int64,
  grpcCodeValue: optional(Int64),
  retryInfo: optional(text),
  definiteAnswer: optional(flag),
});
