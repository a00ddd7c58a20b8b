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
import { failedResponses } from '../fixtures/errors/responses.js';

type Verdict = ReturnType<typeof verdict>;

const errorOfAnswer = (status: number, body: unknown): LedgerError =>
  errorOf({ path: '/v2/updates', status, text: typeof body === 'string' ? body : JSON.stringify(body) });

describe('verdict', () => {
  it.each(failedResponses)('on a response: %s, %i', (_, status, body, expected) => {
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
