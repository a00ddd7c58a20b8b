import type { Base64, Offset, Party } from '../codecs/scalars.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { type ApiError, userAdvice } from './ApiError.js';
import { TaggedError } from './internal/message.js';
import { nextStep, refusals, rejectionReason, type RejectionReason } from './rejectionReason.js';

/**
 * Identifies a submission in an error, so that you can look up its outcome on the ledger.
 *
 * @category Errors
 */
export interface Submission {
  /** The id of the first attempt. Each further attempt has its own id. */
  readonly submissionId: string;
  /** Identifies the change, with the user and the parties. Absent for signed bytes, which contain it. */
  readonly commandId?: string;
  /** The user that submitted. Empty for the user of the token. */
  readonly userId: string;
  /** The parties that authorize the transaction. */
  readonly actAs: readonly Party[];
  /** The time of the first attempt by this machine's clock, in milliseconds since the epoch. */
  readonly sentAt: number;
  /** The ledger end before the first attempt: its transaction has a later offset. Absent if the participant did not return it. */
  readonly since?: Offset;
  /**
   * The position of the ledger before the first attempt, with the last updates that the parties saw. Pass it as `since` to continue
   * the commands: it shows whether the ledger was replaced or restored meanwhile. Absent for signed bytes.
   */
  readonly position?: LedgerPosition;
  /** The signed hash, if the caller passed it. The transaction's `externalTransactionHash` is the same in hex. */
  readonly transactionHash?: Base64;
  /** The number of attempts. */
  readonly attempts: number;
}

/**
 * Why a prepared submission must not be signed:
 *
 * - `undecodable`: it cannot be decoded
 * - `scheme`: the scheme of its hash cannot be checked
 * - `hash`: the hash is not that of the transaction
 * - `parties`, `commands`, `times`: the transaction differs from the request in its parties, command id or synchronizer, in its
 *   commands, or in its time bounds
 * - `refused`: a verifier emitted another value than `true`, or none
 *
 * @category Errors
 */
export type VerificationReason = 'undecodable' | 'scheme' | 'hash' | 'parties' | 'commands' | 'times' | 'refused';

/**
 * A submission did not reach the participant and was not committed.
 *
 * @category Errors
 */
export class NotSentError extends TaggedError<'NotSentError'> {
  constructor(
    /** The reason, in a few words. */
    readonly reason: string,
    /** The submission. */
    readonly submission: Submission,
    /** The system's error code, such as `ECONNREFUSED`, if there is one. */
    readonly code?: string,
  ) {
    super('NotSentError', `The submission was not sent: ${reason}.`, {
      Code: code,
      Submission: submission.submissionId,
    });
  }

  override get summary(): string {
    return 'Your request was not sent, and nothing has changed.';
  }
}

/**
 * The signed transaction is outside its time bounds. It was not committed and will not be. Prepare and sign again, with the
 * same command id.
 *
 * @category Errors
 */
export class SubmissionExpiredError extends TaggedError<'SubmissionExpiredError'> {
  /** The ledger's error code, which identifies the time bound that was missed. */
  readonly code: string | undefined;
  /** The ledger's explanation. */
  readonly reason: string;
  /** Identifies the error in the participant's logs. */
  readonly correlationId: string | undefined;

  constructor(
    { code, reason, correlationId }: ApiError,
    /** The submission. */
    readonly submission: Submission,
  ) {
    super(
      'SubmissionExpiredError',
      `The prepared transaction is outside its time bounds${reason === '' ? '.' : `: ${reason}`}`,
      {
        Code: code,
        Correlation: correlationId,
        Submission: submission.submissionId,
      },
    );
    this.code = code;
    this.reason = reason;
    this.correlationId = correlationId;
  }

  override get summary(): string {
    return 'Your request came too late, and nothing has changed.';
  }
}

/**
 * A submission was rejected. It was not committed and will not be: all its attempts were refused.
 *
 * @category Errors
 */
export class SubmissionRejectedError extends TaggedError<'SubmissionRejectedError'> {
  /** Why the ledger refused it. */
  readonly reason: RejectionReason;
  /** The HTTP status. */
  readonly status: number;
  /** The ledger's error code, such as `INVALID_EXTERNAL_SIGNATURE`. `NA` if the ledger withholds it, `undefined` for a proxy. */
  readonly code: string | undefined;
  /** The ledger's error category, 1 to 14. -1 if the ledger withholds it, `undefined` for a proxy. */
  readonly errorCategory: number | undefined;
  /** The ledger's explanation, or the beginning of any other response. */
  readonly explanation: string;
  /** The ids of the contracts that the ledger names. */
  readonly contractIds: readonly string[];
  /** Identifies the error in the participant's logs. */
  readonly correlationId: string | undefined;
  /** The details that the ledger gives. */
  readonly context: Readonly<Record<string, string>>;

  constructor(
    error: ApiError,
    /** The submission. */
    readonly submission: Submission,
  ) {
    const { status, code, errorCategory, reason: explanation, correlationId, context, contractIds } = error;
    const reason = rejectionReason(error);
    super('SubmissionRejectedError', `The submission was rejected${explanation === '' ? '.' : `: ${explanation}`}`, {
      Reason: reason,
      'Missing right': error.missingRight,
      Code: code,
      Category: errorCategory,
      Status: status,
      Correlation: correlationId,
      Submission: submission.submissionId,
      Next: error.isUserRefused ? userAdvice : nextStep(error),
    });
    this.reason = reason;
    this.status = status;
    this.code = code;
    this.errorCategory = errorCategory;
    this.explanation = explanation;
    this.contractIds = contractIds;
    this.correlationId = correlationId;
    this.context = context;
  }

  /**
   * Whether other transactions use the same contracts: they are locked, archived or not found. The same intent may
   * succeed with other commands, built from the present contracts; see `retryContention`.
   */
  get isContention(): boolean {
    return this.reason === 'contention' || this.reason === 'inactiveContract';
  }

  /** The sentence for the `reason`. It never quotes the `explanation`. */
  override get summary(): string {
    return refusals[this.reason];
  }
}

/**
 * A prepared submission must not be signed. Nothing was signed or sent. The error gives the reason and the field, and never
 * contains a value.
 *
 * @category Errors
 */
export class VerificationError extends TaggedError<'VerificationError'> {
  constructor(
    /** The kind of problem. */
    readonly reason: VerificationReason,
    /** The problem, in a few words and without any value. */
    readonly explanation: string,
    /** The field, if there is one: `commands[0].createArguments.owner`. */
    readonly path?: string,
  ) {
    super('VerificationError', `The prepared submission must not be signed: ${explanation}.`, {
      Reason: reason,
      Path: path,
    });
  }

  override get summary(): string {
    return 'The prepared request does not match yours, so it was not signed.';
  }
}
