import { describe, expect, it } from '@jest/globals';
import {
  AnswerTooLargeError,
  ConnectionError,
  RequestTimeoutError,
  TokenError,
  UnauthorizedError,
} from '../../src/errors/request.js';
import { DecodeError } from '../../src/errors/feed.js';
import { errorOf } from '../../src/errors/ApiError.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { type Outcome, outcomeOf } from '../../src/submission/outcome.js';
import { knownCodes, type KnownCode } from '../helpers/knownCodes.js';
import { canton } from '../helpers/scripted.js';

const path = '/v2/interactive-submission/executeAndWaitForTransaction';

/** What a category says of a submission: of this try, and whether of those before it. */
const ofCategory: Readonly<Record<number, Outcome>> = {
  1: 'unknown',
  2: 'unknown',
  3: 'unknown',
  5: 'rejected',
  8: 'rejected',
  // of the participant's state now: routing and lookups come before it looks for an earlier try
  9: 'unheard',
  10: 'unheard',
  11: 'unheard',
  12: 'unheard',
};

/** What is told where the ledger keeps code and category to itself. */
const ofRedacted: Readonly<Record<number, Outcome>> = {
  400: 'unheard',
  401: 'unheard',
  403: 'unheard',
  500: 'unknown',
  501: 'unheard',
};

const exceptions: Readonly<Record<string, Outcome>> = {
  DUPLICATE_COMMAND: 'committed',
  // the same bytes are out of their time bounds from then on
  LOCAL_VERDICT_LEDGER_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_PREPARATION_TIME_OUT_OF_BOUND: 'expired',
  LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED: 'expired',
  LEDGER_TIME_OUTSIDE_BOUNDS: 'expired',
  // a verdict, after which this try is over: the contention may pass
  LOCAL_VERDICT_LOCKED_CONTRACTS: 'busy',
  LOCAL_VERDICT_TIMEOUT: 'busy',
  MEDIATOR_SAYS_TX_TIMED_OUT: 'busy',
  NOT_SEQUENCED_TIMEOUT: 'busy',
  // back-pressure, before anything is done
  PARTICIPANT_BACKPRESSURE: 'busy',
  SEQUENCER_BACKPRESSURE: 'busy',
  SEQUENCER_OVERLOADED: 'busy',
  PARTICIPANT_OVERLOADED: 'busy',
  SERVER_OVERLOADED: 'busy',
  MAXIMUM_NUMBER_OF_STREAMS: 'busy',
  HEAP_MEMORY_OVER_LIMIT: 'busy',
  THREADPOOL_OVERLOADED: 'busy',
  // it is an error of its own, and of reading
  PARTICIPANT_PRUNED_DATA_ACCESSED: 'unknown',
};

/** Verdicts come from the synchronizer, after the participant has looked for earlier tries. */
const isVerdict = (code: string): boolean => /^(LOCAL_VERDICT|MEDIATOR_SAYS)_/.test(code);

function expected({ code, errorCategory, status, isRedacted }: KnownCode): Outcome | undefined {
  if (isRedacted) return ofRedacted[status];
  const exception = exceptions[code];
  if (exception !== undefined) return exception;
  return isVerdict(code) && errorCategory > 3 ? 'rejected' : ofCategory[errorCategory];
}

const answered = (status: number, body: unknown): LedgerError =>
  errorOf({ path, status, text: typeof body === 'string' ? body : JSON.stringify(body) });

describe('the outcome of a try', () => {
  it.each(knownCodes)('that ends with $code of category $errorCategory, $status', (one) => {
    const body = one.isRedacted ? canton('NA', -1) : canton(one.code, one.errorCategory);
    expect(outcomeOf(answered(one.status, body))).toBe(expected(one));
  });

  it('has an exception only for codes that there are', () => {
    const codes = knownCodes.map(({ code }) => code);
    expect(Object.keys(exceptions).filter((code) => !codes.includes(code))).toEqual([]);
  });

  it.each<[string, number, unknown, Outcome]>([
    ['the time of the HTTP layer is over', 503, 'The server was not able to produce a timely response', 'unknown'],
    ['a gateway gave up waiting', 504, '', 'unknown'],
    ['a gateway lost its connection', 502, '<html>Bad Gateway</html>', 'unknown'],
    ['an internal failure', 500, 'oops', 'unknown'],
    ['a rate limit of a proxy', 429, 'slow down', 'unknown'],
    ['a conflict that nobody explains', 409, 'conflict', 'unknown'],
    ['a request that came too slowly', 408, '', 'unknown'],
    ['too early', 425, '', 'unknown'],
    ['the client left', 499, '', 'unknown'],
    ['too large to be read', 413, 'exceeded size limit (8388608 bytes)!', 'unheard'],
    ['no such path', 404, { errors: ['uri'], status: 404, ledgerApiError: null }, 'unheard'],
    ['no such method', 405, 'Method Not Allowed', 'unheard'],
    ['a gateway that does not let it through', 403, '', 'unheard'],
    ['a gateway that wants a token', 401, '', 'unheard'],
    ['a decoder that refuses the body', 400, 'Invalid value for: body', 'unheard'],
    ['somewhere else', 302, '', 'unheard'],
    ['somewhere else for good', 308, '<html></html>', 'unheard'],
    ['not implemented', 501, '', 'unheard'],
    ['a code that is new, of contention', 409, canton('TOMORROWS_ERROR', 2), 'unknown'],
    ['a code that is new, of a broken rule', 400, canton('TOMORROWS_ERROR', 8), 'rejected'],
    ['a code that is new, of the state', 400, canton('TOMORROWS_ERROR', 9), 'unheard'],
    ['a category that is new', 503, canton('TOMORROWS_ERROR', 15), 'unknown'],
    ['the name of a property of all objects', 409, canton('constructor', 2), 'unknown'],
  ])('that is answered by something else: %s', (_, status, body, outcome) => {
    expect(outcomeOf(answered(status, body))).toBe(outcome);
  });

  it.each<[string, number, number, Outcome, Outcome]>([
    ['SERVICE_NOT_RUNNING', 1, 503, 'busy', 'unknown'],
    ['SEQUENCER_REQUEST_FAILED', 2, 409, 'busy', 'unknown'],
    ['REQUEST_TIME_OUT', 3, 504, 'busy', 'unknown'],
    ['LEDGER_API_INTERNAL_ERROR', 4, 500, 'unheard', 'unknown'],
    ['NOT_CONNECTED_TO_SYNCHRONIZER', 9, 400, 'unheard', 'unheard'],
    ['DUPLICATE_COMMAND', 10, 409, 'committed', 'committed'],
    ['SUBMISSION_ALREADY_IN_FLIGHT', 2, 409, 'unknown', 'unknown'],
  ])('that the ledger calls definite, or not: %s', (code, category, status, definite, indefinite) => {
    const of = (answer: string): Outcome =>
      outcomeOf(answered(status, canton(code, category, { definite_answer: answer })));
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
  ])('without a connection is not sent: %s', (code) => {
    expect(outcomeOf(new ConnectionError(path, 'the connection failed', code))).toBe('notSent');
  });

  it.each([
    undefined,
    'ECONNRESET',
    // of a connection that stood as well
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
  ])('whose connection breaks is not known: %s', (code) => {
    expect(outcomeOf(new ConnectionError(path, 'the connection failed', code))).toBe('unknown');
  });

  it.each<[string, LedgerError, Outcome]>([
    ['no answer in time', new RequestTimeoutError(path, 30), 'unknown'],
    ['an answer that is not whole', new ConnectionError(path, 'the answer is not whole JSON'), 'unknown'],
    ['an answer that does not decode', new DecodeError(path, []), 'unknown'],
    ['an answer that is too large', new AnswerTooLargeError(path, 30), 'unknown'],
    ['no token', new TokenError('the provider failed'), 'notSent'],
    ['a token that is refused', new UnauthorizedError(path), 'unheard'],
  ])('by %s', (_, error, outcome) => {
    expect(outcomeOf(error)).toBe(outcome);
  });
});
