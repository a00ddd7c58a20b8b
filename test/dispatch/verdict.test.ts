import { describe, expect, it } from '@jest/globals';
import { verdictOf } from '../../src/dispatch/verdict.js';
import { ApiError, InvalidRequestError, SubmissionRejectedError, TokenError } from '../../src/index.js';

const submission = { submissionId: 's', commandId: 'c', userId: 'u', actAs: ['a'], sentAt: 0, attempts: 1 };

/** The verdict on a submission that was refused, and is known not to be committed. */
const refusedBy = (status: number, code?: string) => {
  const canton = { code: code ?? '', cause: 'c', errorCategory: 8, context: {}, retryable: false } as never;
  const error = new ApiError({
    path: '/v2/commands',
    status,
    ...(code === undefined ? { text: '<html>' } : { canton }),
  });
  return verdictOf(new SubmissionRejectedError(error, submission));
};

describe('verdictOf', () => {
  it.each([
    ['a page of a proxy, which says nothing about the command', 404, undefined, true, true],
    ['a proxy that has no participant', 502, undefined, true, true],
    ['a proxy, because the command is too large', 413, undefined, false, false],
    ['a proxy, because the command is malformed', 400, undefined, false, false],
    ['the ledger, for good', 400, 'DAML_FAILURE', false, false],
    ['the ledger, because of contention', 409, 'LOCAL_VERDICT_LOCKED_CONTRACTS', true, false],
    ['the ledger, because there is no traffic', 409, 'SEQUENCER_NOT_ENOUGH_TRAFFIC_CREDIT', true, true],
    ['the ledger, because no account pays', 400, 'TRAFFIC_ACCOUNT_VALIDATION_FAILED', true, true],
    ['the ledger, because of overload', 503, 'PARTICIPANT_BACKPRESSURE', true, true],
  ])('of a command that is refused by %s', (_, status, code, passes, concernsAll) => {
    expect(refusedBy(status, code)).toMatchObject({ kind: 'refused', passes, concernsAll });
  });

  it('of a command that was not sent: it passes, and concerns all', () => {
    const verdict = verdictOf(new TokenError('no token'));
    expect(verdict).toMatchObject({ kind: 'refused', reason: 'notSent', passes: true, concernsAll: true });
  });

  it('of an error that is not of a submission', () => {
    expect(verdictOf(new InvalidRequestError([]))).toEqual({ kind: 'other' });
    expect(verdictOf(new Error('broken'))).toEqual({ kind: 'other' });
  });
});
