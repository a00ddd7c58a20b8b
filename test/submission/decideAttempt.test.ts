import { describe, expect, it } from '@jest/globals';
import { errorOf } from '../../src/errors/ApiError.js';
import { DecodeError } from '../../src/errors/feed.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { ConnectionError, RequestTimeoutError, TokenError, UnauthorizedError } from '../../src/errors/request.js';
import { type AttemptOutcome, decideAttempt } from '../../src/submission/outcome.js';
import { knownCodes, type KnownCode } from '../fixtures/errors/codes.js';
import { errorBody } from '../helpers/wire.js';

const path = '/v2/commands/submit-and-wait-for-transaction';

const errorResponse = (status: number, body: unknown): LedgerError =>
  errorOf({ path, status, text: typeof body === 'string' ? body : JSON.stringify(body) });

/** The codes that arise after the registration and the search for duplicates. */
const registered = [
  'LOCAL_VERDICT_LOCKED_CONTRACTS',
  'LOCAL_VERDICT_INACTIVE_CONTRACTS',
  'LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND',
  'LOCAL_VERDICT_TIMEOUT',
  'MEDIATOR_SAYS_TX_TIMED_OUT',
  'MEDIATOR_INVALID_MESSAGE',
  'NOT_SEQUENCED_TIMEOUT',
  'SEQUENCER_BACKPRESSURE',
  'SEQUENCER_REQUEST_FAILED',
  'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT',
  'SEQUENCER_MAX_SEQUENCING_TIME_TOO_FAR',
  'OUTDATED_TRAFFIC_COST',
];

/** The codes of category 2 that arise before the registration. */
const busy = [
  'PARTICIPANT_BACKPRESSURE',
  'PARTICIPANT_OVERLOADED',
  'SERVER_OVERLOADED',
  'MAXIMUM_NUMBER_OF_STREAMS',
  'HEAP_MEMORY_OVER_LIMIT',
  'THREADPOOL_OVERLOADED',
  'INTERPRETATION_TIME_EXCEEDED',
  'FAILED_TO_DETERMINE_LEDGER_TIME',
  'NO_VIEW_WITH_VALID_RECIPIENTS',
  'CHOSEN_MEDIATOR_IS_INACTIVE',
  // after it, but that is not certain
  'SEQUENCER_OVERLOADED',
];

const exceptions: Readonly<Record<string, AttemptOutcome>> = {
  DUPLICATE_COMMAND: 'committed',
  SUBMISSION_ALREADY_IN_FLIGHT: 'inFlight',
  INVALID_DEDUPLICATION_PERIOD: 'pruned',
  UPDATE_NOT_FOUND: 'unknown',
  ACCESS_TOKEN_EXPIRED: 'unknown',
  // an error of reading, with a class of its own
  PARTICIPANT_PRUNED_DATA_ACCESSED: 'unknown',
};

function expected({ code, errorCategory, status, isRedacted }: KnownCode): AttemptOutcome {
  if (isRedacted) return status === 401 || status === 403 ? 'refused' : 'unknown';
  const exception = exceptions[code];
  if (exception !== undefined) return exception;
  if (code.startsWith('LOCAL_VERDICT_') || registered.includes(code)) return 'rejected';
  // unavailable, contention, deadline, internal
  if ([1, 2, 3, 4].includes(errorCategory)) return busy.includes(code) ? 'refused' : 'unknown';
  return 'refused';
}

describe('a failed attempt to submit commands of a hosted party', () => {
  it.each(knownCodes)('is decided by the code: $code of category $errorCategory, $status', (one) => {
    const body = one.isRedacted ? errorBody('NA', -1) : errorBody(one.code, one.errorCategory);
    expect(decideAttempt(errorResponse(one.status, body), false)).toBe(expected(one));
  });

  it('is of known codes', () => {
    const codes = knownCodes.map(({ code }) => code);
    expect([...registered, ...busy, ...Object.keys(exceptions)].filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each([
    ['LOCAL_VERDICT_LOCKED_CONTRACTS', 2, 409, 'rejected'],
    ['CONTRACT_NOT_FOUND', 11, 404, 'refused'],
    ['UNKNOWN_CONTRACT_SYNCHRONIZERS', 9, 400, 'refused'],
    ['SERVICE_NOT_RUNNING', 1, 503, 'unknown'],
    ['REQUEST_TIME_OUT', 3, 504, 'unknown'],
    ['DUPLICATE_COMMAND', 10, 409, 'committed'],
    ['INVALID_DEDUPLICATION_PERIOD', 9, 400, 'pruned'],
  ] as const)('does not depend on its definite answer: %s', (code, category, status, outcome) => {
    const of = (answer: string) =>
      decideAttempt(errorResponse(status, errorBody(code, category, { definite_answer: answer })), false);
    expect([of('true'), of('false')]).toEqual([outcome, outcome]);
  });

  it.each([
    'PACKAGE_NAMES_NOT_FOUND',
    'TEMPLATES_OR_INTERFACES_NOT_FOUND',
    'NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
    'NO_INTERFACE_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME',
  ])('may be committed if its format has names that are not found: %s', (code) => {
    const error = errorResponse(404, errorBody(code, 11));
    expect([decideAttempt(error, true), decideAttempt(error, false)]).toEqual(['unknown', 'refused']);
  });

  it.each<[number, string, AttemptOutcome]>([
    [400, 'Invalid value for: body', 'refused'],
    [401, '', 'refused'],
    [403, '<html>', 'refused'],
    [404, '<html>', 'refused'],
    [413, 'Request is too large', 'refused'],
    [429, '', 'refused'],
    [408, '', 'unknown'],
    [409, '', 'unknown'],
    [425, '', 'unknown'],
    [499, '', 'unknown'],
    [500, '', 'unknown'],
    [502, '<html>', 'unknown'],
    [503, 'The server was not able to produce a timely response to your request.', 'unknown'],
    [504, '', 'unknown'],
  ])('is decided by the status without a code: %i %s', (status, text, outcome) => {
    expect(decideAttempt(errorResponse(status, text), false)).toBe(outcome);
  });

  it.each<[string, LedgerError, AttemptOutcome]>([
    ['no token', new TokenError('the provider failed'), 'notSent'],
    ['a refused token', new UnauthorizedError(path), 'refused'],
    ['a refused connection', new ConnectionError(path, 'the connection failed', 'ECONNREFUSED'), 'notSent'],
    ['a broken connection', new ConnectionError(path, 'the connection failed', 'ECONNRESET'), 'unknown'],
    ['a timeout', new RequestTimeoutError(path, 30), 'unknown'],
    ['a response that does not decode', new DecodeError(path, []), 'unknown'],
    ['a malformed request, which hides its reason', errorResponse(400, errorBody('NA', -1)), 'unknown'],
    ['an unknown category', errorResponse(400, errorBody('TOMORROWS_CODE', 99)), 'unknown'],
  ])('is decided by the kind of error: %s', (_, error, outcome) => {
    expect(decideAttempt(error, false)).toBe(outcome);
  });
});
