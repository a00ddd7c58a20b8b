import type { Base64, Offset, Party } from '../codecs/scalars.js';
import type { ApiError } from './ApiError.js';
import { hasTag, lines } from './internal/message.js';
import type { LedgerError } from './LedgerError.js';

/** Which submission an error is about; enough to find out on the ledger what became of it. */
export interface Submission {
  /** Of the first try; each further one has its own. */
  readonly submissionId: string;
  /** The user that submitted; empty for the one whom the token names. */
  readonly userId: string;
  /** The parties that signed. */
  readonly parties: readonly Party[];
  /** When it was sent first, in milliseconds since the epoch, by this machine's clock. */
  readonly sentAt: number;
  /** The ledger end before it was sent: what it committed lies after this. Absent where the service did not tell. */
  readonly beginExclusive?: Offset;
  /** The hash that was signed, where the caller told it; the transaction's `externalTransactionHash` is this, in hex. */
  readonly transactionHash?: Base64;
  /** How many times it was sent. */
  readonly attempts: number;
}

/**
 * Why a prepared submission must not be signed: it cannot be read (`undecodable`), its hash is built in a way that cannot
 * be checked (`scheme`), the hash is not the one of the transaction (`hash`), or the transaction is another one than was
 * asked for: in its parties, command id or synchronizer (`parties`), in what it does (`commands`), or in its time bounds
 * (`times`). Or a verifier said `false` (`refused`).
 */
export type VerificationReason = 'undecodable' | 'scheme' | 'hash' | 'parties' | 'commands' | 'times' | 'refused';

/** A submission never reached the service: nothing was committed by it. */
export class NotSentError extends Error {
  /** The class's name. */
  override readonly name = 'NotSentError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'NotSentError' as const;

  constructor(
    /** What happened, in a few words. */
    readonly reason: string,
    /** The submission. */
    readonly submission: Submission,
    /** The system's name for it, such as `ECONNREFUSED`, where there is one. */
    readonly code?: string,
  ) {
    super(lines(`The submission was not sent: ${reason}.`, { Code: code, Submission: submission.submissionId }));
  }
}

/** Whether a value is a {@link NotSentError}. */
export const isNotSentError = (u: unknown): u is NotSentError => hasTag(u, 'NotSentError');

/**
 * A submission may have been committed: its answer was lost, and what became of it could not be found out in time. Subscribe
 * to the same Observable again, which cannot commit it twice; or look for the transaction in the feed, from `submission.beginExclusive` on.
 */
export class OutcomeUnknownError extends Error {
  /** The class's name. */
  override readonly name = 'OutcomeUnknownError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'OutcomeUnknownError' as const;

  constructor(
    /** The submission. */
    readonly submission: Submission,
    /** What the last try ended with. */
    readonly lastError: LedgerError,
    /** Where it was committed: the ledger said so, and only the transaction itself could not be read. Absent otherwise. */
    readonly completionOffset?: Offset,
  ) {
    super(
      lines(
        completionOffset === undefined
          ? 'The submission may have been committed.'
          : 'The submission was committed, but its transaction could not be read.',
        {
          'Committed at': completionOffset,
          Submission: submission.submissionId,
          Attempts: submission.attempts,
          After: submission.beginExclusive,
          'Last error': lastError.name,
        },
      ),
    );
  }
}

/** Whether a value is an {@link OutcomeUnknownError}. */
export const isOutcomeUnknownError = (u: unknown): u is OutcomeUnknownError => hasTag(u, 'OutcomeUnknownError');

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

/** A prepared submission must not be signed. It says why and where, never what was found; nothing was signed or sent. */
export class VerificationError extends Error {
  /** The class's name. */
  override readonly name = 'VerificationError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'VerificationError' as const;

  constructor(
    /** What is wrong with it, in a word. */
    readonly reason: VerificationReason,
    /** The same in a few words, without any value. */
    readonly explanation: string,
    /** The field, where there is one: `commands[0].createArguments.owner`. */
    readonly path?: string,
  ) {
    super(lines(`The prepared submission must not be signed: ${explanation}.`, { Reason: reason, Path: path }));
  }
}

/** Whether a value is a {@link VerificationError}. */
export const isVerificationError = (u: unknown): u is VerificationError => hasTag(u, 'VerificationError');
