import { describe, expect, it } from '@jest/globals';
import {
  ConnectionError,
  InvalidRequestError,
  RequestTimeoutError,
  TokenError,
  UnauthorizedError,
} from '../../src/errors/request.js';
import { CursorError, HandlerError, StoreError } from '../../src/errors/process.js';
import {
  DecodeError,
  LedgerResetError,
  OrderError,
  PageLimitError,
  PrunedError,
  SnapshotLimitError,
} from '../../src/errors/feed.js';
import { errorOf } from '../../src/errors/ApiError.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { isTransient, verdict } from '../../src/errors/verdict.js';
import { errorBody } from '../helpers/wire.js';

type Verdict = ReturnType<typeof verdict>;

const errorOfAnswer = (status: number, body: unknown): LedgerError =>
  errorOf({ path: '/v2/updates', status, text: typeof body === 'string' ? body : JSON.stringify(body) });

const answers: readonly (readonly [string, number, unknown, Verdict])[] = [
  // by category
  ['unavailable', 503, errorBody('SERVICE_NOT_RUNNING', 1), 'retry'],
  ['contention', 409, errorBody('LOCAL_VERDICT_LOCKED_CONTRACTS', 2), 'retry'],
  ['back-pressure', 409, errorBody('PARTICIPANT_BACKPRESSURE', 2), 'retry'],
  ['in flight', 409, errorBody('SUBMISSION_ALREADY_IN_FLIGHT', 2), 'retry'],
  ['deadline', 504, errorBody('REQUEST_TIME_OUT', 3), 'retry'],
  ['offset after the ledger end', 400, errorBody('OFFSET_AFTER_LEDGER_END', 12), 'retry'],
  ['invalid', 400, errorBody('INVALID_ARGUMENT', 8), 'stop'],
  ['state', 400, errorBody('OFFSET_OUT_OF_RANGE', 9), 'stop'],
  ['duplicate, also 409', 409, errorBody('DUPLICATE_COMMAND', 10), 'stop'],
  ['missing, also 404', 404, errorBody('PACKAGE_NAMES_NOT_FOUND', 11), 'stop'],
  // by code, against the category
  ['page too large', 413, errorBody('JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED', 2), 'shrink'],
  ['disabled', 400, errorBody('DEPRECATED_API_DISABLED', 9), 'switch'],
  ['token expired in mid-stream', 409, errorBody('ACCESS_TOKEN_EXPIRED', 2), 'refresh'],
  ['signed too long ago', 409, errorBody('LOCAL_VERDICT_MAX_RECORD_TIME_EXCEEDED', 2), 'stop'],
  // withheld by the ledger: by status
  ['unauthorized', 401, errorBody('NA', -1), 'refresh'],
  ['forbidden', 403, errorBody('NA', -1), 'stop'],
  ['security alert', 400, errorBody('NA', -1), 'stop'],
  ['internal', 500, errorBody('NA', -1), 'stop'],
  ['unimplemented', 501, errorBody('NA', -1), 'stop'],
  // not from the ledger
  ['unknown path', 404, { errors: ['uri'], status: 404, ledgerApiError: null }, 'switch'],
  ['wrong method', 405, 'Method Not Allowed', 'switch'],
  ['body too large', 413, 'exceeded size limit (8388608 bytes)!', 'stop'],
  ['request timeout', 503, 'The server was not able to produce a timely response', 'retry'],
  ['proxy without a body', 401, '', 'refresh'],
  ['proxy', 502, '<html></html>', 'retry'],
  ['proxy', 504, '<html></html>', 'retry'],
  ['proxy', 500, 'oops', 'retry'],
  ['rate limit', 429, '', 'retry'],
  ['decode failure', 400, 'Invalid value for: body', 'stop'],
];

describe('verdict', () => {
  it.each(answers)('on an answer: %s, %i', (_, status, body, expected) => {
    expect(verdict(errorOfAnswer(status, body))).toBe(expected);
    expect(isTransient(errorOfAnswer(status, body))).toBe(expected === 'retry');
  });

  it.each<[LedgerError, Verdict]>([
    [new ConnectionError('/x', 'the connection failed'), 'retry'],
    [new RequestTimeoutError('/x', 1), 'retry'],
    [new TokenError('the provider failed'), 'retry'],
    [new StoreError('save', 'balances', 'the disk is full'), 'retry'],
    [new CursorError('ledger', 'balances', 'another update'), 'stop'],
    [new DecodeError('/x', []), 'stop'],
    [new HandlerError(7, undefined, 1, 'mine'), 'stop'],
    [new InvalidRequestError([]), 'stop'],
    [new LedgerResetError(1), 'stop'],
    [new OrderError(1, 2), 'stop'],
    [new PageLimitError(1), 'stop'],
    [new SnapshotLimitError(200, 1), 'stop'],
    [new PrunedError('/x'), 'stop'],
    [new UnauthorizedError('/x'), 'stop'],
    [new UnauthorizedError('/x', true), 'retry'],
  ])('on an error: %s', (error, expected) => {
    expect(verdict(error)).toBe(expected);
  });
});
