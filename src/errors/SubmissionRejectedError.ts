import type { ApiError } from './ApiError.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Submission } from './Submission.js';

/** A submission was rejected: nothing was committed by it, and nothing will be. */
export class SubmissionRejectedError extends Error {
  /** The class's name. */
  override readonly name = 'SubmissionRejectedError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'SubmissionRejectedError' as const;
  /** The HTTP status. */
  readonly status: number;
  /** The ledger's id of the error, such as `INVALID_EXTERNAL_SIGNATURE`; `NA` where it keeps it to itself, absent for a proxy. */
  readonly code: string | undefined;
  /** The ledger's category, 1 to 14; -1 where it keeps it to itself, absent for a proxy. */
  readonly errorCategory: number | undefined;
  /** The ledger's explanation, or the first words of another answer. */
  readonly reason: string;
  /** By which the operator finds the error in the logs. */
  readonly correlationId: string | undefined;
  /** Facts of the error, as the ledger gives them. */
  readonly context: Readonly<Record<string, string>>;

  constructor(
    { status, code, errorCategory, reason, correlationId, context }: ApiError,
    /** The submission. */
    readonly submission: Submission,
  ) {
    super(
      lines(`The submission was rejected${reason === '' ? '.' : `: ${reason}`}`, {
        Code: code,
        Category: errorCategory,
        Status: status,
        Correlation: correlationId,
        Submission: submission.submissionId,
      }),
    );
    this.status = status;
    this.code = code;
    this.errorCategory = errorCategory;
    this.reason = reason;
    this.correlationId = correlationId;
    this.context = context;
  }
}

/** Whether a value is a {@link SubmissionRejectedError}. */
export const isSubmissionRejectedError = (u: unknown): u is SubmissionRejectedError =>
  hasTag(u, 'SubmissionRejectedError');
