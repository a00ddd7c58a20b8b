import { HttpException, NotImplementedException } from '@nestjs/common';
import { isLedgerError, type LedgerError } from 'canton-rx';
import { throwError, type Observable } from 'rxjs';

export const noKey = (): HttpException => new NotImplementedException('PARTY and PARTY_KEY_FILE are not set');

/**
 * The response for a failed submission. `wasCommitted` is its most important field: after `false` the
 * request may be sent again, and after `unknown` only with the same Idempotency-Key.
 */
export const submissionFailed = (error: unknown): Observable<never> =>
  throwError(() => (isLedgerError(error) ? toHttp(error) : error));

function toHttp(error: LedgerError): HttpException {
  const status = statusOf(error);
  const wasCommitted = error._tag === 'OutcomeUnknownError' ? 'unknown' : false;
  const facts = 'code' in error && error.code !== undefined ? { code: error.code } : {};
  return new HttpException({ statusCode: status, error: error._tag, ...facts, wasCommitted }, status, { cause: error });
}

function statusOf(error: LedgerError): number {
  switch (error._tag) {
    // the contract is archived, say, or the command id was used already
    case 'SubmissionRejectedError':
    case 'SubmissionExpiredError':
      return 409;
    // refused while it was prepared: the client is wrong below 500, the ledger from there on
    case 'ApiError':
      return error.status < 500 ? 422 : 503;
    case 'NotSentError':
    case 'ConnectionError':
    case 'RequestTimeoutError':
    case 'TokenError':
    case 'UnauthorizedError':
      return 503;
    case 'OutcomeUnknownError':
      return 504;
    // the participant has prepared something else than was asked for, or answers nonsense
    default:
      return 502;
  }
}
