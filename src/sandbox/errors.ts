import type { WireCantonError } from './wire/WireUpdate.js';

/** Thrown to respond with an error: plain text, or the ledger's error body. */
export class RequestError extends Error {
  override readonly name = 'RequestError';

  constructor(
    readonly status: number,
    readonly body: string | WireCantonError,
  ) {
    super(typeof body === 'string' ? body : body.cause);
  }
}

/** Creates the error of a response from its error code. */
export function requestError(code: string, cause: string, overrides: Partial<WireCantonError> = {}): RequestError {
  const body = cantonError(code, { cause, ...overrides });
  return new RequestError(httpStatusByGrpcCode[body.grpcCodeValue ?? 3] ?? 400, body);
}

const httpStatusByGrpcCode: Readonly<Record<number, number>> = {
  4: 504,
  5: 404,
  6: 409,
  7: 403,
  10: 409,
  13: 500,
  14: 503,
  16: 401,
};

/**
 * Creates the body of a ledger error, with the category, gRPC code and retry hint of a well-known code. An unknown code
 * gets category 9. `'UNAUTHENTICATED'` and `'PERMISSION_DENIED'` are redacted to `'NA'`, as participants do.
 *
 * @param code - the error code, such as `'SUBMISSION_ALREADY_IN_FLIGHT'`
 * @param overrides - fields that replace the defaults
 * @category Sandbox
 */
export function cantonError(code: string, overrides: Partial<WireCantonError> = {}): WireCantonError {
  const category = overrides.errorCategory ?? errorCodes.get(code) ?? 9;
  const known = errorCategories[category];
  const common = {
    correlationId: null,
    traceId: null,
    resources: [],
    grpcCodeValue: known?.grpcCode ?? null,
    retryInfo: known?.hasRetryHint === true ? '1 second' : null,
    definiteAnswer: null,
  };
  if (code === 'NA' || redactedCategories.has(category)) {
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

/** The categories that participants redact. The JSON layer reports internal errors (4) unredacted. */
const redactedCategories = new Set([5, 6, 7, 14]);

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
    'INVALID_CONTINUATION_TOKEN',
    'INVALID_ACS_PAGE_TOKEN',
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
    'CONTRACT_EVENTS_NOT_FOUND',
    'LOCAL_VERDICT_INACTIVE_CONTRACTS',
    'NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT',
    'PACKAGE_NAMES_NOT_FOUND',
    'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
    'UNKNOWN_SUBMITTERS',
  ],
  12: ['OFFSET_AFTER_LEDGER_END'],
};

/** The category of each well-known error code. */
const errorCodes: ReadonlyMap<string, number> = new Map(
  Object.entries(codes).flatMap(([category, names]) => names.map((name) => [name, Number(category)] as const)),
);

/** The gRPC status code of each category, and whether its errors have a retry hint. */
const errorCategories: Readonly<Record<number, { readonly grpcCode: number; readonly hasRetryHint: boolean }>> = {
  1: { grpcCode: 14, hasRetryHint: true },
  2: { grpcCode: 10, hasRetryHint: true },
  3: { grpcCode: 4, hasRetryHint: true },
  4: { grpcCode: 13, hasRetryHint: false },
  6: { grpcCode: 16, hasRetryHint: false },
  7: { grpcCode: 7, hasRetryHint: false },
  8: { grpcCode: 3, hasRetryHint: false },
  9: { grpcCode: 9, hasRetryHint: false },
  10: { grpcCode: 6, hasRetryHint: false },
  11: { grpcCode: 5, hasRetryHint: false },
  12: { grpcCode: 11, hasRetryHint: true },
  14: { grpcCode: 12, hasRetryHint: false },
};
