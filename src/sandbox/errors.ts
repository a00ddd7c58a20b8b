/**
 * The error body of the JSON Ledger API. All ten keys are always present.
 *
 * @category Sandbox
 */
export interface WireCantonError {
  /** The error code; `'NA'` if redacted. */
  readonly code: string;
  /** The description of the error. */
  readonly cause: string;
  /** The id of the error in the server's log. */
  readonly correlationId: string | null;
  /** The trace id of the request. */
  readonly traceId: string | null;
  /** Additional details, as strings. */
  readonly context: Readonly<Record<string, string>>;
  /** The resources concerned, as pairs of type and id. */
  readonly resources: readonly (readonly [string, string])[];
  /** The error category, 1 to 14; -1 if redacted. */
  readonly errorCategory: number;
  /** The gRPC status code. */
  readonly grpcCodeValue: number | null;
  /** The retry delay of the category. */
  readonly retryInfo: string | null;
  /** Whether the request has definitely failed. Only errors of the JSON layer set it. */
  readonly definiteAnswer: boolean | null;
}

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
  const common = {
    correlationId: null,
    traceId: null,
    resources: [],
    grpcCodeValue: grpcCodes[category] ?? null,
    retryInfo: retriedCategories.has(category) ? '1 second' : null,
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
const codes: Readonly<Record<number, string>> = {
  1: 'SERVICE_NOT_RUNNING ABORTED_DUE_TO_SHUTDOWN',
  2: `ACCESS_TOKEN_EXPIRED STALE_STREAM_AUTHORIZATION SUBMISSION_ALREADY_IN_FLIGHT
    LOCAL_VERDICT_LOCKED_CONTRACTS LOCAL_VERDICT_TIMEOUT LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND
    LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED
    MEDIATOR_SAYS_TX_TIMED_OUT NOT_SEQUENCED_TIMEOUT SEQUENCER_REQUEST_FAILED SEQUENCER_BACKPRESSURE
    PARTICIPANT_BACKPRESSURE PARTICIPANT_OVERLOADED SERVER_OVERLOADED MAXIMUM_NUMBER_OF_STREAMS
    HEAP_MEMORY_OVER_LIMIT THREADPOOL_OVERLOADED JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED`,
  3: 'REQUEST_TIME_OUT REQUEST_DEADLINE_EXCEEDED',
  4: 'LEDGER_API_INTERNAL_ERROR',
  6: 'UNAUTHENTICATED',
  7: 'PERMISSION_DENIED',
  8: `INVALID_ARGUMENT INVALID_FIELD MISSING_FIELD NEGATIVE_OFFSET NON_POSITIVE_OFFSET
    DESCENDING_ORDER_MISSING_END FAILED_TO_EXECUTE_TRANSACTION FAILED_TO_PREPARE_TRANSACTION
    INVALID_EXTERNAL_SIGNATURE INVALID_EXTERNAL_TRANSACTION LEDGER_TIME_OUTSIDE_BOUNDS
    INVALID_CONTINUATION_TOKEN INVALID_ACS_PAGE_TOKEN COMMAND_PREPROCESSING_FAILED DAML_AUTHORIZATION_ERROR
    INVALID_TOKEN INVALID_DISCLOSED_CONTRACT DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH
    PRESCRIBED_SYNCHRONIZER_ID_MISMATCH`,
  9: `OFFSET_OUT_OF_RANGE PARTICIPANT_PRUNED_DATA_ACCESSED DEPRECATED_API_DISABLED INVALID_DEDUPLICATION_PERIOD
    NOT_CONNECTED_TO_SYNCHRONIZER NO_SYNCHRONIZER_FOR_SUBMISSION NO_PREFERRED_PACKAGES_FOUND
    WRONGLY_TYPED_CONTRACT UNHANDLED_EXCEPTION SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT UNKNOWN_CONTRACT_SYNCHRONIZERS
    INVALID_PRESCRIBED_SYNCHRONIZER_ID NO_COMMON_SYNCHRONIZER SUBMITTERS_NOT_ACTIVE`,
  10: 'DUPLICATE_COMMAND ASSIGNMENT_ALREADY_COMPLETED',
  11: `UPDATE_NOT_FOUND COMPLETION_NOT_FOUND CONTRACT_NOT_FOUND CONTRACT_EVENTS_NOT_FOUND
    LOCAL_VERDICT_INACTIVE_CONTRACTS NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT
    PACKAGE_NAMES_NOT_FOUND NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME
    NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME TEMPLATES_OR_INTERFACES_NOT_FOUND UNKNOWN_SUBMITTERS
    CONTRACT_NOT_ACTIVE REASSIGNMENT_VALIDATION_FAILED UNASSIGNMENT_ACTIVENESS_CHECK_FAILED`,
  12: 'OFFSET_AFTER_LEDGER_END',
};

/** The category of each well-known error code. */
const errorCodes: ReadonlyMap<string, number> = new Map(
  Object.entries(codes).flatMap(([category, names]) => names.split(/\s+/).map((name) => [name, Number(category)])),
);

/** The gRPC status code of each category. */
const grpcCodes: Readonly<Record<number, number>> = {
  1: 14,
  2: 10,
  3: 4,
  4: 13,
  6: 16,
  7: 7,
  8: 3,
  9: 9,
  10: 6,
  11: 5,
  12: 11,
  14: 12,
};

/** The categories whose errors have a retry hint. */
const retriedCategories = new Set([1, 2, 3, 12]);
