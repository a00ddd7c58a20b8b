import { HttpException, NotImplementedException } from '@nestjs/common';
import { isLedgerError, type LedgerError, type RejectionReason } from 'canton-rx';
import { throwError, type Observable } from 'rxjs';

export const noParty = (): HttpException => new NotImplementedException('PARTY is not set');

/**
 * The response for a failed submission. `wasCommitted` is its most important field: after `false` the
 * request may be sent again, and after `unknown` only with the same Idempotency-Key.
 */
export const submissionFailed = (error: unknown): Observable<never> =>
  throwError(() => (isLedgerError(error) ? toHttp(error) : error));

function toHttp(error: LedgerError): HttpException {
  const status = statusOf(error);
  const wasCommitted = error._tag === 'OutcomeUnknownError' ? 'unknown' : false;
  const facts = {
    ...('code' in error && error.code !== undefined && { code: error.code }),
    ...(error._tag === 'SubmissionRejectedError' && { reason: error.reason }),
  };
  const next = wasCommitted === 'unknown' ? afterUnknown : nextSteps[status];
  return new HttpException({ statusCode: status, error: error._tag, ...facts, wasCommitted, next }, status, {
    cause: error,
  });
}

type Status = 409 | 422 | 502 | 503;

function statusOf(error: LedgerError): Status {
  switch (error._tag) {
    case 'SubmissionRejectedError':
      return rejections[error.reason];
    // signed too late: it has to be prepared again
    case 'SubmissionExpiredError':
      return 409;
    // refused while it was prepared: the client is wrong below 500, the ledger from there on
    case 'ApiError':
      return error.status < 500 ? 422 : 503;
    case 'InvalidRequestError':
      return 422;
    case 'NotSentError':
    case 'ConnectionError':
    case 'RequestTimeoutError':
    case 'TokenError':
    case 'UnauthorizedError':
    case 'OutcomeUnknownError':
      return 503;
    // the participant has prepared something else than was asked for, or answers nonsense
    default:
      return 502;
  }
}

/** What the ledger refused, by whom it depends on: other transactions, the request, or the participant and its network. */
const rejections: Readonly<Record<RejectionReason, Status>> = {
  contention: 409,
  inactiveContract: 409,
  other: 409,
  refusal: 422,
  authorization: 422,
  invalid: 422,
  packages: 503,
  traffic: 503,
  backPressure: 503,
  topology: 503,
  timeout: 503,
};

/** What the client does next. A refused command id may be used again. */
const nextSteps: Readonly<Record<Status, string>> = {
  409: 'Read the contracts again. If the request still applies, repeat it.',
  422: 'Change the request.',
  502: 'Tell the operator of the service.',
  503: 'Repeat the request later.',
};

const afterUnknown = 'Repeat the request with the same Idempotency-Key. It is not committed twice.';
