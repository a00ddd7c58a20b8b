import type { ApiError } from './ApiError.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Submission } from './Submission.js';

/**
 * What was signed is too old, or too early: nothing was committed by it, and nothing will be. Prepare and sign again, with
 * the same command id.
 */
export class SubmissionExpiredError extends Error {
  /** The class's name. */
  override readonly name = 'SubmissionExpiredError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'SubmissionExpiredError' as const;
  /** The ledger's id of the error: which of the time bounds it was. */
  readonly code: string | undefined;
  /** The ledger's explanation. */
  readonly reason: string;
  /** By which the operator finds the error in the logs. */
  readonly correlationId: string | undefined;

  constructor(
    { code, reason, correlationId }: ApiError,
    /** The submission. */
    readonly submission: Submission,
  ) {
    super(
      lines(`The prepared transaction is out of its time bounds${reason === '' ? '.' : `: ${reason}`}`, {
        Code: code,
        Correlation: correlationId,
        Submission: submission.submissionId,
      }),
    );
    this.code = code;
    this.reason = reason;
    this.correlationId = correlationId;
  }
}

/** Whether a value is a {@link SubmissionExpiredError}. */
export const isSubmissionExpiredError = (u: unknown): u is SubmissionExpiredError =>
  hasTag(u, 'SubmissionExpiredError');
