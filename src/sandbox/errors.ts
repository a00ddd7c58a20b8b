import type { WireCantonError } from './wire/WireUpdate.js';

/** Thrown to end the work on a request with an error, as text or as the error body. */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly body: string | WireCantonError,
  ) {
    super(typeof body === 'string' ? body : body.cause);
  }
}

/** What participants reduce errors of these categories to. Internal errors have a second source, the JSON layer. */
const redacted = new Set([5, 6, 7, 14]);

/** The well-known error codes by category. */
const codes: Readonly<Record<number, readonly string[]>> = {
  1: ['SERVICE_NOT_RUNNING', 'ABORTED_DUE_TO_SHUTDOWN'],
  2: [
    'ACCESS_TOKEN_EXPIRED',
    'STALE_STREAM_AUTHORIZATION',
    'SUBMISSION_ALREADY_IN_FLIGHT',
    'LOCAL_VERDICT_LOCKED_CONTRACTS',
    'LOCAL_VERDICT_TIMEOUT',
    'LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND',
    'LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND',
    'LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED',
    'MEDIATOR_SAYS_TX_TIMED_OUT',
    'NOT_SEQUENCED_TIMEOUT',
    'SEQUENCER_REQUEST_FAILED',
    'SEQUENCER_BACKPRESSURE',
    'PARTICIPANT_BACKPRESSURE',
    'PARTICIPANT_OVERLOADED',
    'SERVER_OVERLOADED',
    'MAXIMUM_NUMBER_OF_STREAMS',
    'HEAP_MEMORY_OVER_LIMIT',
    'THREADPOOL_OVERLOADED',
    'JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED',
  ],
  3: ['REQUEST_TIME_OUT', 'REQUEST_DEADLINE_EXCEEDED'],
  4: ['LEDGER_API_INTERNAL_ERROR'],
  6: ['UNAUTHENTICATED'],
  7: ['PERMISSION_DENIED'],
  8: [
    'INVALID_ARGUMENT',
    'INVALID_FIELD',
    'MISSING_FIELD',
    'NEGATIVE_OFFSET',
    'NON_POSITIVE_OFFSET',
    'DESCENDING_ORDER_MISSING_END',
    'FAILED_TO_EXECUTE_TRANSACTION',
    'FAILED_TO_PREPARE_TRANSACTION',
    'INVALID_EXTERNAL_SIGNATURE',
    'INVALID_EXTERNAL_TRANSACTION',
    'LEDGER_TIME_OUTSIDE_BOUNDS',
    'COMMAND_PREPROCESSING_FAILED',
    'DAML_AUTHORIZATION_ERROR',
  ],
  9: [
    'OFFSET_OUT_OF_RANGE',
    'PARTICIPANT_PRUNED_DATA_ACCESSED',
    'DEPRECATED_API_DISABLED',
    'INVALID_DEDUPLICATION_PERIOD',
    'NOT_CONNECTED_TO_SYNCHRONIZER',
    'NO_SYNCHRONIZER_FOR_SUBMISSION',
    'NO_PREFERRED_PACKAGES_FOUND',
    'WRONGLY_TYPED_CONTRACT',
    'UNHANDLED_EXCEPTION',
  ],
  10: ['DUPLICATE_COMMAND'],
  11: [
    'UPDATE_NOT_FOUND',
    'CONTRACT_NOT_FOUND',
    'LOCAL_VERDICT_INACTIVE_CONTRACTS',
    'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
    'PACKAGE_NAMES_NOT_FOUND',
    'UNKNOWN_SUBMITTERS',
  ],
  12: ['OFFSET_AFTER_LEDGER_END'],
};

/** Well-known error code to category. */
const errorCodes: ReadonlyMap<string, number> = new Map(
  Object.entries(codes).flatMap(([category, names]) => names.map((name) => [name, Number(category)] as const)),
);

/** Per error category: its gRPC status code, and whether it comes with a retry hint. */
const errorCategories: Readonly<Record<number, { readonly grpc: number; readonly retried: boolean }>> = {
  1: { grpc: 14, retried: true },
  2: { grpc: 10, retried: true },
  3: { grpc: 4, retried: true },
  4: { grpc: 13, retried: false },
  6: { grpc: 16, retried: false },
  7: { grpc: 7, retried: false },
  8: { grpc: 3, retried: false },
  9: { grpc: 9, retried: false },
  10: { grpc: 6, retried: false },
  11: { grpc: 5, retried: false },
  12: { grpc: 11, retried: true },
  14: { grpc: 12, retried: false },
};

/**
 * Builds the body of an error, with the category, gRPC code and retry hint that belong to a well-known
 * code. An unknown code counts as category 9. `'UNAUTHENTICATED'` and `'PERMISSION_DENIED'` come out redacted
 * to `'NA'`, as participants answer them.
 *
 * @param code - such as `'SUBMISSION_ALREADY_IN_FLIGHT'`
 * @param overrides - fields to set otherwise
 */
export function cantonError(code: string, overrides: Partial<WireCantonError> = {}): WireCantonError {
  const category = overrides.errorCategory ?? errorCodes.get(code) ?? 9;
  const known = errorCategories[category];
  const common = {
    correlationId: null,
    traceId: null,
    resources: [],
    grpcCodeValue: known?.grpc ?? null,
    retryInfo: known?.retried === true ? '1 second' : null,
    definiteAnswer: null,
  };
  if (code === 'NA' || redacted.has(category)) {
    const cause = 'A security-sensitive error has been received';
    return { ...common, context: {}, ...overrides, code: 'NA', cause, errorCategory: -1 };
  }
  const context = {
    participant: 'sandbox',
    category: String(category),
    definite_answer: 'false',
    ...overrides.context,
  };
  return { ...common, code, cause: code, errorCategory: category, ...overrides, context };
}

const httpByGrpc: Readonly<Record<number, number>> = {
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
};

/** The refusal that the participant answers with a given error code. */
export function refused(code: string, cause: string, overrides: Partial<WireCantonError> = {}): Refusal {
  const body = cantonError(code, { cause, ...overrides });
  return new Refusal(httpByGrpc[body.grpcCodeValue ?? 3] ?? 400, body);
}
