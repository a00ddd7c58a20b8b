import { describe, expect, it } from '@jest/globals';
import {
  ResponseTooLargeError,
  ConnectionError,
  RequestTimeoutError,
  TokenError,
  UnauthorizedError,
} from '../../src/errors/request.js';
import { DecodeError } from '../../src/errors/feed.js';
import { errorOf } from '../../src/errors/ApiError.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { decideOutcome } from '../../src/submission/outcome.js';
import { knownCodes, type KnownCode } from '../fixtures/errors/codes.js';
import { failedResponses } from '../fixtures/errors/responses.js';
import { errorBody } from '../helpers/wire.js';

type Outcome = ReturnType<typeof decideOutcome>;

const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/** The outcome by category. */
const byCategory: Readonly<Record<number, Outcome>> = {
  1: 'unknown',
  2: 'unknown',
  3: 'unknown',
  5: 'rejected',
  8: 'rejected',
  // because of the participant's current state: routing and lookups precede the search for an earlier attempt
  9: 'inconclusive',
  10: 'inconclusive',
  11: 'inconclusive',
  12: 'inconclusive',
};

/** The outcome by status, when the ledger hides code and category. */
const byRedactedStatus: Readonly<Record<number, Outcome>> = {
  400: 'inconclusive',
  401: 'inconclusive',
  403: 'inconclusive',
  500: 'unknown',
  501: 'inconclusive',
};

const exceptions: Readonly<Record<string, Outcome>> = {
  DUPLICATE_COMMAND: 'committed',
  // the same bytes stay out of their time bounds
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'expired',
  LEDGER_TIME_OUTSIDE_BOUNDS: 'expired',
  // reading the transaction after its commit fails in the same way
  UPDATE_NOT_FOUND: 'unknown',
  PACKAGE_NAMES_NOT_FOUND: 'unknown',
  TEMPLATES_OR_INTERFACES_NOT_FOUND: 'unknown',
  NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: 'unknown',
  NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME: 'unknown',
  // a verdict ends this attempt; the contention may pass
  LOCAL_VERDICT_LOCKED_CONTRACTS: 'busy',
  LOCAL_VERDICT_TIMEOUT: 'busy',
  MEDIATOR_SAYS_TX_TIMED_OUT: 'busy',
  NOT_SEQUENCED_TIMEOUT: 'busy',
  // back-pressure, before any work
  PARTICIPANT_BACKPRESSURE: 'busy',
  SEQUENCER_BACKPRESSURE: 'busy',
  SEQUENCER_OVERLOADED: 'busy',
  PARTICIPANT_OVERLOADED: 'busy',
  SERVER_OVERLOADED: 'busy',
  MAXIMUM_NUMBER_OF_STREAMS: 'busy',
  HEAP_MEMORY_OVER_LIMIT: 'busy',
  THREADPOOL_OVERLOADED: 'busy',
  // an error of reading, with a class of its own
  PARTICIPANT_PRUNED_DATA_ACCESSED: 'unknown',
};

/** Verdicts come from the synchronizer, after the participant has searched for earlier attempts. */
const isVerdict = (code: string): boolean => /^(LOCAL_VERDICT|MEDIATOR_SAYS)_/.test(code);

function expected({ code, errorCategory, status, isRedacted }: KnownCode): Outcome | undefined {
  if (isRedacted) return byRedactedStatus[status];
  const exception = exceptions[code];
  if (exception !== undefined) return exception;
  return isVerdict(code) && errorCategory > 3 ? 'rejected' : byCategory[errorCategory];
}

const errorResponse = (status: number, body: unknown): LedgerError =>
  errorOf({ path, status, text: typeof body === 'string' ? body : JSON.stringify(body) });

describe('the outcome of a failed attempt', () => {
  it.each(knownCodes)('is decided by the code: $code of category $errorCategory, $status', (one) => {
    const body = one.isRedacted ? errorBody('NA', -1) : errorBody(one.code, one.errorCategory);
    expect(decideOutcome(errorResponse(one.status, body))).toBe(expected(one));
  });

  it('has exceptions for known codes only', () => {
    const codes = knownCodes.map(({ code }) => code);
    expect(Object.keys(exceptions).filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each(failedResponses)('is decided by the response: %s, %i', (_, status, body, __, outcome) => {
    expect(decideOutcome(errorResponse(status, body))).toBe(outcome);
  });

  it.each<[string, number, number, Outcome, Outcome]>([
    ['SERVICE_NOT_RUNNING', 1, 503, 'busy', 'unknown'],
    ['SEQUENCER_REQUEST_FAILED', 2, 409, 'busy', 'unknown'],
    ['REQUEST_TIME_OUT', 3, 504, 'busy', 'unknown'],
    ['LEDGER_API_INTERNAL_ERROR', 4, 500, 'inconclusive', 'unknown'],
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400, 'inconclusive', 'inconclusive'],
    ['DUPLICATE_COMMAND', 10, 409, 'committed', 'committed'],
    ['SUBMISSION_ALREADY_IN_FLIGHT', 2, 409, 'unknown', 'unknown'],
  ])('depends on whether the answer is definite: %s', (code, category, status, definite, indefinite) => {
    const of = (answer: string): Outcome =>
      decideOutcome(errorResponse(status, errorBody(code, category, { definite_answer: answer })));
    expect([of('true'), of('false')]).toEqual([definite, indefinite]);
  });

  it.each([
    'ECONNREFUSED',
    'ENOTFOUND',
    'EAI_AGAIN',
    'UND_ERR_CONNECT_TIMEOUT',
    'DEPTH_ZERO_SELF_SIGNED_CERT',
    'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    'CERT_HAS_EXPIRED',
    'ERR_TLS_CERT_ALTNAME_INVALID',
  ])('is notSent when the connection was never made: %s', (code) => {
    expect(decideOutcome(new ConnectionError(path, 'the connection failed', code))).toBe('notSent');
  });

  it.each([
    undefined,
    'ECONNRESET',
    // also reported by established connections
    'EHOSTUNREACH',
    'ENETUNREACH',
    'EPIPE',
    'ETIMEDOUT',
    'UND_ERR_SOCKET',
    'UND_ERR_HEADERS_TIMEOUT',
    'UND_ERR_BODY_TIMEOUT',
    'ECONNABORTED',
    'ECONNREFUSED_NOT',
    'TOMORROWS_CODE',
  ])('is unknown when the connection breaks: %s', (code) => {
    expect(decideOutcome(new ConnectionError(path, 'the connection failed', code))).toBe('unknown');
  });

  it.each<[string, LedgerError, Outcome]>([
    ['a timeout', new RequestTimeoutError(path, 30), 'unknown'],
    ['an incomplete response', new ConnectionError(path, 'the response is not valid JSON'), 'unknown'],
    ['a response that does not decode', new DecodeError(path, []), 'unknown'],
    ['a response that is too large', new ResponseTooLargeError(path, 30), 'unknown'],
    ['no token', new TokenError('the provider failed'), 'notSent'],
    ['a refused token', new UnauthorizedError(path), 'inconclusive'],
    ['two refused tokens', new UnauthorizedError(path, true), 'inconclusive'],
  ])('is decided by the kind of error: %s', (_, error, outcome) => {
    expect(decideOutcome(error)).toBe(outcome);
  });
});
