import { describe, expect, it } from '@jest/globals';
import type { AnsweredBefore } from '../../src/errors/ApiError.js';
import { errorOf } from '../../src/errors/readAnswer.js';
import * as feed from '../../src/errors/feed.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { isTransient, verdict } from '../../src/errors/verdict.js';
import { CursorError, HandlerError, StoreError } from '../../src/errors/process.js';
import * as request from '../../src/errors/request.js';
import { toConnectionError } from '../../src/client/exchange.js';
import { type Outcome } from '../../src/submission/codes.js';
import { prove } from '../../src/submission/outcome.js';
import { knownCodes, type KnownCode } from '../fixtures/errors/codes.js';
import { errorBody } from '../helpers/wire.js';

/**
 * What an error means: for a request that may be repeated, for an attempt to execute signed bytes, and for an attempt to
 * submit commands.
 */
type Meaning = readonly [verdict: ReturnType<typeof verdict>, signed: Outcome, hosted: Outcome];

const meaningOf = (error: LedgerError): Meaning => [
  verdict(error),
  prove(error, 'signed').outcome,
  prove(error, 'hosted').outcome,
];

const response = (status: number, body: unknown = '', answeredBefore?: AnsweredBefore): LedgerError =>
  errorOf({
    path: '/v2/updates',
    status,
    text: typeof body === 'string' ? body : JSON.stringify(body),
    answeredBefore,
  });

const failedConnection = (code?: string) => new request.ConnectionError('/x', 'the connection failed', { code });

const page = '<html></html>';
const unknownPath = { errors: ['uri'], ledgerApiError: null };
const databaseTimeout = response(500, errorBody('INDEX_DB_SQL_NETWORK_TIMEOUT_ERROR', 4));

describe('the meaning', () => {
  it.each<readonly [name: string, error: LedgerError, ...Meaning]>([
    // responses that are not decided by a known code
    ['over its time limit', response(408, errorBody('REQUEST_TIMEOUT', -1)), 'retry', 'unknown', 'unknown'],
    ['over its time limit, without a body', response(408), 'retry', 'unknown', 'unknown'],
    ['timeout of a database, before 3.6.1', databaseTimeout, 'retry', 'unknown', 'unknown'],
    ['unknown path', response(404, unknownPath), 'switch', 'refused', 'refused'],
    ['a page of a proxy without the path', response(404, page), 'stop', 'unknown', 'unknown'],
    ['a path of 3.6.1', response(400, errorBody('DEPRECATED_API_DISABLED', 9)), 'switch', 'refused', 'refused'],
    ['wrong method', response(405, 'Method Not Allowed'), 'switch', 'refused', 'refused'],
    ['body too large', response(413, 'exceeded size limit (8388608 bytes)!'), 'stop', 'refused', 'refused'],
    ['no response in time', response(503, 'The server was not able to …'), 'retry', 'unknown', 'unknown'],
    ['proxy without a body', response(401), 'refresh', 'refused', 'refused'],
    ['a broken connection of a gateway', response(502, page), 'retry', 'unknown', 'unknown'],
    ['a page of a gateway that timed out', response(504, page), 'retry', 'unknown', 'unknown'],
    ['a timeout of a gateway', response(504), 'retry', 'unknown', 'unknown'],
    ['an internal error of a proxy', response(500, 'oops'), 'retry', 'unknown', 'unknown'],
    ['rate limit', response(429), 'retry', 'unknown', 'unknown'],
    ['a rate limit of a proxy', response(429, 'slow down'), 'retry', 'unknown', 'unknown'],
    ['decode failure', response(400, 'Invalid value for: body'), 'stop', 'refused', 'refused'],
    ['an unexplained conflict', response(409, 'conflict'), 'stop', 'unknown', 'unknown'],
    ['too early', response(425), 'retry', 'unknown', 'unknown'],
    ['a closed connection', response(499), 'retry', 'unknown', 'unknown'],
    ['a gateway that forbids it', response(403), 'stop', 'unknown', 'unknown'],
    ['a page of a gateway that forbids it', response(403, page), 'stop', 'unknown', 'unknown'],
    ['a redirect', response(302), 'stop', 'unknown', 'unknown'],
    ['a permanent redirect', response(308, page), 'stop', 'unknown', 'unknown'],
    ['not implemented', response(501), 'stop', 'unknown', 'unknown'],
    ['a body that is too large for a gateway', response(413, page), 'stop', 'unknown', 'unknown'],
    ['a page where the participant has answered', response(404, page, 'here'), 'retry', 'unknown', 'unknown'],
    [
      'a wrong method where it has answered',
      response(405, 'Method Not Allowed', 'here'),
      'retry',
      'unknown',
      'unknown',
    ],
    ['an unknown path where it has answered', response(404, unknownPath, 'here'), 'switch', 'refused', 'refused'],
    ['a withheld conflict', response(409, errorBody('NA', -1)), 'stop', 'unknown', 'unknown'],
    ['an unknown code for contention', response(409, errorBody('NEW_ERROR', 2)), 'retry', 'unknown', 'unknown'],
    ['an unknown code for a broken rule', response(400, errorBody('NEW_ERROR', 8)), 'stop', 'refused', 'refused'],
    ['an unknown code for the state', response(400, errorBody('NEW_ERROR', 9)), 'stop', 'refused', 'refused'],
    ['an unknown category', response(503, errorBody('NEW_ERROR', 15)), 'stop', 'unknown', 'unknown'],
    ['a name of all objects', response(409, errorBody('constructor', 2)), 'retry', 'unknown', 'unknown'],
    // errors without a response, or with one that the ledger has not refused
    ['a connection that failed', failedConnection(), 'retry', 'unknown', 'unknown'],
    ['no valid JSON', new request.ConnectionError('/x', 'it is not valid JSON'), 'retry', 'unknown', 'unknown'],
    ['a timeout', new request.RequestTimeoutError('/x', 30), 'retry', 'unknown', 'unknown'],
    ['a response that does not decode', new feed.DecodeError('/x', []), 'stop', 'unknown', 'unknown'],
    ['a response that is too large', new request.ResponseTooLargeError('/x', 30), 'shrink', 'unknown', 'unknown'],
    ['no token', new request.TokenError('the provider failed'), 'retry', 'notSent', 'notSent'],
    ['a refused token', new request.UnauthorizedError('/x'), 'stop', 'refused', 'refused'],
    ['two refused tokens', new request.UnauthorizedError('/x', true), 'retry', 'refused', 'refused'],
  ])('of a failed request: %s', (_, error, ...meaning) => {
    expect(meaningOf(error)).toEqual(meaning);
    expect(isTransient(error)).toBe(meaning[0] === 'retry');
  });

  it.each<[LedgerError, Meaning[0]]>([
    [new StoreError('save', 'balances', 'the disk is full'), 'retry'],
    [new CursorError('ledger', 'balances', 'another update'), 'stop'],
    [new HandlerError(7, undefined, 1, 'mine'), 'stop'],
    [new request.InvalidRequestError([]), 'stop'],
    [new feed.LedgerResetError(1), 'stop'],
    [new feed.OrderError(1, 2), 'stop'],
    [new feed.PageLimitError(1), 'stop'],
    [new feed.SnapshotLimitError(200, 1), 'stop'],
    [new feed.PrunedError('/x'), 'stop'],
  ])('of another error: %s', (error, expected) => {
    expect(verdict(error)).toBe(expected);
  });

  it.each([
    ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'UND_ERR_CONNECT_TIMEOUT', 'DEPTH_ZERO_SELF_SIGNED_CERT'],
    ...['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ])('of a connection that was never made: %s', (code) => {
    expect(meaningOf(failedConnection(code)).slice(1)).toEqual(['notSent', 'notSent']);
  });

  it.each([
    ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'],
    // these two are also reported by established connections
    ...['EHOSTUNREACH', 'ENETUNREACH', 'ECONNABORTED', 'ECONNREFUSED_NOT', 'TOMORROWS_CODE'],
  ])('of a connection that breaks: %s', (code) => {
    expect(meaningOf(failedConnection(code)).slice(1)).toEqual(['unknown', 'unknown']);
  });
});

/** The meaning of a category: the first column is that of the ledger's documentation. */
const byCategory: Readonly<Record<number, Meaning>> = {
  1: ['retry', 'unknown', 'unknown'],
  2: ['retry', 'unknown', 'unknown'],
  3: ['retry', 'unknown', 'unknown'],
  // internal: such as the answer of a participant that stops
  4: ['retry', 'unknown', 'unknown'],
  5: ['stop', 'refused', 'refused'],
  8: ['stop', 'refused', 'refused'],
  // because of the participant's current state: routing and lookups precede the search for an earlier attempt
  9: ['stop', 'refused', 'refused'],
  10: ['stop', 'refused', 'refused'],
  11: ['stop', 'refused', 'refused'],
  12: ['retry', 'refused', 'refused'],
};

/** The meaning of a status, when the ledger hides code and category. */
const byRedactedStatus: Readonly<Record<number, Meaning>> = {
  // a malformed request, too
  400: ['stop', 'unknown', 'unknown'],
  401: ['refresh', 'refused', 'refused'],
  403: ['stop', 'refused', 'refused'],
  // an internal error
  500: ['retry', 'unknown', 'unknown'],
  501: ['stop', 'unknown', 'unknown'],
};

/** The codes whose meaning is not that of their category. */
const byCode: Readonly<Record<string, Meaning>> = {
  JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED: ['shrink', 'unknown', 'unknown'],
  ACCESS_TOKEN_EXPIRED: ['refresh', 'unknown', 'unknown'],
  DUPLICATE_COMMAND: ['stop', 'committed', 'committed'],
  SUBMISSION_ALREADY_IN_FLIGHT: ['retry', 'inFlight', 'inFlight'],
  INVALID_DEDUPLICATION_PERIOD: ['stop', 'pruned', 'pruned'],
  // the same bytes stay out of their time bounds
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: ['stop', 'expired', 'rejected'],
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: ['stop', 'expired', 'rejected'],
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: ['stop', 'expired', 'rejected'],
  LEDGER_TIME_OUTSIDE_BOUNDS: ['stop', 'expired', 'refused'],
  // reading the transaction after its commit fails in the same way
  UPDATE_NOT_FOUND: ['stop', 'unknown', 'unknown'],
  PACKAGE_NAMES_NOT_FOUND: ['stop', 'unknown', 'refused'],
  TEMPLATES_OR_INTERFACES_NOT_FOUND: ['stop', 'unknown', 'refused'],
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: ['stop', 'unknown', 'refused'],
  NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: ['stop', 'unknown', 'refused'],
  // a verdict ends this attempt; the contention may pass
  LOCAL_VERDICT_LOCKED_CONTRACTS: ['retry', 'refused', 'rejected'],
  LOCAL_VERDICT_TIMEOUT: ['retry', 'refused', 'rejected'],
  MEDIATOR_SAYS_TX_TIMED_OUT: ['retry', 'refused', 'rejected'],
  NOT_SEQUENCED_TIMEOUT: ['retry', 'refused', 'rejected'],
  SEQUENCER_BACKPRESSURE: ['retry', 'refused', 'rejected'],
  SEQUENCER_REQUEST_FAILED: ['retry', 'refused', 'rejected'],
  SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT: ['stop', 'refused', 'rejected'],
  SEQUENCER_MAX_SEQUENCING_TIME_TOO_FAR: ['stop', 'refused', 'rejected'],
  OUTDATED_TRAFFIC_COST: ['stop', 'refused', 'rejected'],
  MEDIATOR_INVALID_MESSAGE: ['stop', 'refused', 'rejected'],
  // back-pressure, before any work
  PARTICIPANT_BACKPRESSURE: ['retry', 'refused', 'refused'],
  SEQUENCER_OVERLOADED: ['retry', 'refused', 'refused'],
  PARTICIPANT_OVERLOADED: ['retry', 'refused', 'refused'],
  SERVER_OVERLOADED: ['retry', 'refused', 'refused'],
  MAXIMUM_NUMBER_OF_STREAMS: ['retry', 'refused', 'refused'],
  HEAP_MEMORY_OVER_LIMIT: ['retry', 'refused', 'refused'],
  THREADPOOL_OVERLOADED: ['retry', 'refused', 'refused'],
  // before the registration, but maybe not before the search for signed bytes
  INTERPRETATION_TIME_EXCEEDED: ['retry', 'unknown', 'refused'],
  FAILED_TO_DETERMINE_LEDGER_TIME: ['retry', 'unknown', 'refused'],
  NO_VIEW_WITH_VALID_RECIPIENTS: ['retry', 'unknown', 'refused'],
  CHOSEN_MEDIATOR_IS_INACTIVE: ['retry', 'unknown', 'refused'],
  // an error of reading, with a class of its own
  PARTICIPANT_PRUNED_DATA_ACCESSED: ['stop', 'unknown', 'unknown'],
};

function expected({ code, errorCategory, status, isRedacted }: KnownCode): Meaning | undefined {
  if (isRedacted) return byRedactedStatus[status];
  const known = byCode[code];
  if (known !== undefined) return known;
  // a verdict comes from the synchronizer, after the participant has searched for earlier attempts
  if (code.startsWith('LOCAL_VERDICT_')) return ['stop', 'refused', 'rejected'];
  if (code.startsWith('MEDIATOR_SAYS_')) return ['stop', 'refused', 'rejected'];
  return byCategory[errorCategory];
}

const bodyOf = ({ code, errorCategory, isRedacted }: KnownCode): object =>
  isRedacted ? errorBody('NA', -1) : errorBody(code, errorCategory);

describe('the meaning of an error code of the ledger', () => {
  it('is known for every code', () => {
    const codes = knownCodes.map(({ code }) => code);
    expect(codes.length).toBeGreaterThan(400);
    expect(knownCodes.some(({ isRedacted }) => isRedacted)).toBe(true);
    expect(Object.keys(byCode).filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each(knownCodes)('is that of its category, with exceptions: $code, $errorCategory, $status', (known) => {
    expect(meaningOf(response(known.status, bodyOf(known)))).toEqual(expected(known));
  });

  // the ledger sends false with final verdicts, too
  it.each(knownCodes)(
    'does not depend on whether the answer is said to be definite: $code, $errorCategory, $status',
    (known) => {
      const withAnswer = { ...bodyOf(known), definiteAnswer: true };
      expect(meaningOf(response(known.status, withAnswer))).toEqual(expected(known));
    },
  );

  it.each<[string, number, ...Meaning]>([
    ['USER_NOT_FOUND', 403, 'stop', 'refused', 'refused'],
    ['NEW_ERROR', 401, 'refresh', 'refused', 'refused'],
    ['NEW_ERROR', 400, 'stop', 'refused', 'refused'],
    ['NEW_ERROR', 404, 'stop', 'refused', 'refused'],
    ['NEW_ERROR', 501, 'stop', 'refused', 'refused'],
    // these may come after the commit, or while the submission is in flight
    ['NEW_ERROR', 409, 'stop', 'unknown', 'unknown'],
    ['NEW_ERROR', 429, 'retry', 'unknown', 'unknown'],
    ['NEW_ERROR', 500, 'retry', 'unknown', 'unknown'],
    ['NEW_ERROR', 503, 'retry', 'unknown', 'unknown'],
    ['UPDATE_NOT_FOUND', 404, 'stop', 'unknown', 'unknown'],
    ['DUPLICATE_COMMAND', 409, 'stop', 'committed', 'committed'],
    ['LOCAL_VERDICT_LOCKED_CONTRACTS', 409, 'stop', 'refused', 'rejected'],
  ])('follows from the status if the category is withheld or unknown: %s, %d', (code, status, ...meaning) => {
    for (const category of [-1, 0]) expect(meaningOf(response(status, errorBody(code, category)))).toEqual(meaning);
  });

  it.each<[string, string, ...Meaning]>([
    [
      'a request that was not decoded',
      'Some(ujson.Value$InvalidData: Expected ujson.Str)',
      'stop',
      'refused',
      'refused',
    ],
    ['any other internal error', 'Some(java.lang.IllegalStateException: ujson)', 'retry', 'unknown', 'unknown'],
  ])('of an internal error depends on its cause: %s', (_, throwableO, ...meaning) => {
    const body = { ...errorBody('LEDGER_API_INTERNAL_ERROR', 4, { throwableO }), cause: 'An error occurred.' };
    expect(meaningOf(response(500, body))).toEqual(meaning);
  });

  // a client that is closed sends nothing more; one that is destroyed also aborts what it has sent
  it.each([
    ['UND_ERR_CLOSED', 'stop', 'notSent', 'notSent'],
    ['UND_ERR_DESTROYED', 'stop', 'unknown', 'unknown'],
  ] as const)('of a connection that the program has ended: %s', (code, ...meaning) => {
    expect(meaningOf(toConnectionError('/x', Object.assign(new Error(), { code })))).toEqual(meaning);
  });

  it.each([
    'PACKAGE_NAMES_NOT_FOUND',
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
    'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
  ])('is unknown for commands whose format has the names: %s', (code) => {
    expect(prove(response(404, errorBody(code, 11)), 'hosted', true).outcome).toBe('unknown');
  });
});
