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
  const { http = 400 } = categories[categoryOf(code)] ?? {};
  return new RequestError(http, cantonError(code, { cause, ...overrides }));
}

/** Creates an error of the JSON layer, which the ledger has not seen. */
export function jsonLayerError(
  status: number,
  code: string,
  cause: string,
  context: WireCantonError['context'] = {},
): RequestError {
  return new RequestError(status, { ...cantonError(code, { cause, definiteAnswer: false }), context });
}

/** Creates the error of a request with an argument that the ledger refuses. */
export const invalidArgument = (reason: string): RequestError =>
  requestError('INVALID_ARGUMENT', `The submitted request has invalid arguments: ${reason}`);

/**
 * Creates the body of a ledger error, with the category, gRPC code and retry hint of a well-known code. An unknown code
 * gets category 9. Errors that concern security, such as `'UNAUTHENTICATED'`, `'PERMISSION_DENIED'` and
 * `'CONTRACT_AUTHENTICATION_FAILED'`, are redacted to `'NA'`, as participants do.
 *
 * @param code - the error code, such as `'SUBMISSION_ALREADY_IN_FLIGHT'`
 * @param overrides - fields that replace the defaults
 * @category Sandbox
 */
export function cantonError(code: string, overrides: Partial<WireCantonError> = {}): WireCantonError {
  const category = overrides.errorCategory ?? categoryOf(code);
  const { grpc, isRetryable = false, isRedacted = false } = categories[category] ?? {};
  const common = {
    correlationId: null,
    traceId: null,
    resources: [],
    grpcCodeValue: grpc ?? null,
    retryInfo: isRetryable ? '1 second' : null,
    definiteAnswer: null,
  };
  if (code === 'NA' || isRedacted) {
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

/** How the errors of a category are reported. */
interface Category {
  readonly grpc?: number;
  readonly http?: number;
  /** Whether the errors have a retry hint. */
  readonly isRetryable?: boolean;
  readonly isRedacted?: boolean;
  /** The well-known error codes. */
  readonly codes?: string;
}

/** The categories by number. The JSON layer reports internal errors (4) unredacted. */
const categories: Readonly<Record<number, Category>> = {
  1: {
    grpc: 14,
    http: 503,
    isRetryable: true,
    codes: `SERVICE_NOT_RUNNING ABORTED_DUE_TO_SHUTDOWN NODE_IS_PASSIVE_REPLICA SYNC_SERVICE_PASSIVE_REPLICA
      INDEX_DB_SQL_TRANSIENT_ERROR SEQUENCER_UNAVAILABLE`,
  },
  2: {
    grpc: 10,
    http: 409,
    isRetryable: true,
    codes: `ACCESS_TOKEN_EXPIRED STALE_STREAM_AUTHORIZATION SUBMISSION_ALREADY_IN_FLIGHT
      LOCAL_VERDICT_LOCKED_CONTRACTS LOCAL_VERDICT_TIMEOUT LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND
      LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED
      MEDIATOR_SAYS_TX_TIMED_OUT NOT_SEQUENCED_TIMEOUT SEQUENCER_REQUEST_FAILED SEQUENCER_BACKPRESSURE
      PARTICIPANT_BACKPRESSURE PARTICIPANT_OVERLOADED SERVER_OVERLOADED MAXIMUM_NUMBER_OF_STREAMS
      CHOSEN_MEDIATOR_IS_INACTIVE NO_VIEW_WITH_VALID_RECIPIENTS SEQUENCER_OVERLOADED REQUEST_ALREADY_IN_FLIGHT
      INTERPRETATION_TIME_EXCEEDED FAILED_TO_DETERMINE_LEDGER_TIME SUBMISSION_DURING_SHUTDOWN
      PARTICIPANT_CONTRACT_PRUNING_BLOCKED
      HEAP_MEMORY_OVER_LIMIT THREADPOOL_OVERLOADED JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED`,
  },
  3: { grpc: 4, http: 504, isRetryable: true, codes: 'REQUEST_TIME_OUT REQUEST_DEADLINE_EXCEEDED' },
  4: { grpc: 13, http: 500, codes: 'LEDGER_API_INTERNAL_ERROR' },
  5: {
    grpc: 3,
    isRedacted: true,
    codes: 'CONTRACT_AUTHENTICATION_FAILED PACKAGE_VALIDATION_FAILED DISCLOSED_CONTRACTS_CONFLICTING_PAYLOADS',
  },
  6: { grpc: 16, http: 401, isRedacted: true, codes: 'UNAUTHENTICATED' },
  7: { grpc: 7, http: 403, isRedacted: true, codes: 'PERMISSION_DENIED' },
  8: {
    grpc: 3,
    codes: `INVALID_ARGUMENT INVALID_FIELD MISSING_FIELD NEGATIVE_OFFSET NON_POSITIVE_OFFSET
      DESCENDING_ORDER_MISSING_END FAILED_TO_EXECUTE_TRANSACTION FAILED_TO_PREPARE_TRANSACTION
      INVALID_EXTERNAL_SIGNATURE INVALID_EXTERNAL_TRANSACTION LEDGER_TIME_OUTSIDE_BOUNDS
      INVALID_CONTINUATION_TOKEN INVALID_ACS_PAGE_TOKEN INVALID_UPDATES_PAGE_TOKEN INVALID_DAR COMMAND_PREPROCESSING_FAILED DAML_AUTHORIZATION_ERROR
      INVALID_TOKEN INVALID_DISCLOSED_CONTRACT DISCLOSED_CONTRACTS_SYNCHRONIZER_ID_MISMATCH
      PRESCRIBED_SYNCHRONIZER_ID_MISMATCH TEMPLATE_PRECONDITION_VIOLATED CONTRACT_DOES_NOT_IMPLEMENT_INTERFACE
      INTERPRETATION_UPGRADE_ERROR_TRANSLATION_FAILED INTERPRETATION_UPGRADE_ERROR_VALIDATION_FAILED
      INTERPRETATION_UPGRADE_ERROR_AUTHENTICATION_FAILED CONTRACT_DOES_NOT_IMPLEMENT_REQUIRING_INTERFACE
      CONTRACT_HASHING_ERROR CONTRACT_ID_COMPARABILITY CONTRACT_ID_IN_CONTRACT_KEY NON_COMPARABLE_VALUES VALUE_NESTING
      CREATE_EMPTY_CONTRACT_KEY_MAINTAINERS FETCH_EMPTY_CONTRACT_KEY_MAINTAINERS DAML_EFFECTFUL_ROLLBACK_ERROR
      DAML_INTERPRETER_INVALID_ARGUMENT DISCLOSED_CONTRACT_AUTHENTICATION_FAILED ALLOWED_LANGUAGE_VERSIONS
      INVALID_PARTY_IDENTIFIER INVALID_READER MALFORMED_REQUEST MALFORMED_TEXT
      LOCAL_VERDICT_EXTERNAL_CALL_RESULT_DISAGREEMENT`,
  },
  // also the category of all other codes
  9: { grpc: 9 },
  10: {
    grpc: 6,
    http: 409,
    codes: `DUPLICATE_COMMAND ASSIGNMENT_ALREADY_COMPLETED DUPLICATE_CONTRACT_KEY
      SEQUENCER_AGGREGATE_SUBMISSION_ALREADY_SENT`,
  },
  11: {
    grpc: 5,
    http: 404,
    codes: `UPDATE_NOT_FOUND COMPLETION_NOT_FOUND CONTRACT_NOT_FOUND CONTRACT_EVENTS_NOT_FOUND
      LOCAL_VERDICT_INACTIVE_CONTRACTS NO_SYNCHRONIZER_ON_WHICH_ALL_SUBMITTERS_CAN_SUBMIT
      PACKAGE_NAMES_NOT_FOUND NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME
      NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME TEMPLATES_OR_INTERFACES_NOT_FOUND
      UNKNOWN_SUBMITTERS UNKNOWN_INFORMEES PARTY_SIGNING_KEYS_NOT_FOUND USER_NOT_FOUND UNKNOWN_RESOURCE
      PACKAGE_NOT_FOUND PACKAGE_NAME_DISCARDED_DUE_TO_UNVETTED_PACKAGES UNRESOLVED_PACKAGE_NAME UNSUPPORTED_CONTRACT_ID
      CONTRACT_PAYLOAD_NOT_FOUND SYNCHRONIZER_NOT_FOUND SYNCHRONIZER_WITHOUT_MEDIATOR SUBMISSION_SYNCHRONIZER_NOT_READY
      CONTRACT_NOT_ACTIVE CONTRACT_KEY_NOT_FOUND REASSIGNMENT_VALIDATION_FAILED UNASSIGNMENT_ACTIVENESS_CHECK_FAILED`,
  },
  12: { grpc: 11, isRetryable: true, codes: 'OFFSET_AFTER_LEDGER_END' },
  14: { grpc: 12, isRedacted: true },
};

const categoryByCode: ReadonlyMap<string, number> = new Map(
  Object.entries(categories).flatMap(([category, { codes = '' }]) =>
    codes.split(/\s+/).map((code) => [code, Number(category)]),
  ),
);

const categoryOf = (code: string): number => categoryByCode.get(code) ?? 9;
