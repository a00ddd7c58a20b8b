import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';

/**
 * A diagnostic of a submission.
 *
 * @inline
 */
export type SubmissionDiagnostic =
  /** The participant prepared a submission for `submit`. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionPrepared';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The command id of the request. */
      readonly commandId: string;
    }
  /** The verifier of `submit` accepted the prepared submission. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionVerified';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The command id of the request. */
      readonly commandId: string;
    }
  /** All signers of `submit` signed the submission. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionSigned';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The command id of the request. */
      readonly commandId: string;
    }
  /** A submission was sent: the first attempt or a retry. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionSent';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The number of the attempt, from 1. */
      readonly attempt: number;
    }
  /**
   * The outcome of an attempt is unknown, or the attempt failed and may be repeated. After a delay, the submission is looked for or
   * sent again.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionUnclear';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The number of attempts so far. */
      readonly attempts: number;
      /** The error of the last attempt. */
      readonly cause: LedgerError;
      /** The delay before the next attempt, in milliseconds. */
      readonly delayMs: number;
    }
  /** A submission was committed. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionCommitted';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The id of the transaction. */
      readonly updateId: string;
      /** The offset of the transaction. */
      readonly offset: Offset;
      /** Set if an earlier attempt, or another submission with the same command id, committed it. */
      readonly isRepeated?: true;
    }
  /** A submission failed, before or after it was sent. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SubmissionFailed';
      /** The submission id of the first attempt. */
      readonly submissionId: string;
      /** The error; absent if it is not a `LedgerError`. */
      readonly error?: LedgerError;
    };
