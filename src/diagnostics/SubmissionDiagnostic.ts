import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';

/**
 * How much work there is: contracts of a rule, or commands of an outbox.
 *
 * @inline
 */
export interface WorkCounts {
  /** The number that are due later: at a time, after a failure, or after an earlier command of their key. */
  readonly waiting: number;
  /** The number that are due and not begun. */
  readonly due: number;
  /** The number in progress. */
  readonly running: number;
  /** The number that are not tried again by themselves. */
  readonly parked: number;
  /**
   * How long the oldest has waited, in milliseconds; 0 if none does. A contract waits since it is due, a command since it was
   * enqueued.
   */
  readonly oldestMs: number;
}

/**
 * A diagnostic of a rule of `automate`.
 *
 * @inline
 */
export type RuleDiagnostic =
  /** An action of a rule was committed. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ActionCommitted';
      /** The name of the rule. */
      readonly rule: string;
      /** The contract. */
      readonly contractId: string;
      /** The id of the transaction. */
      readonly updateId: string;
      /** The offset of the transaction. */
      readonly offset: Offset;
      /** Whether an earlier attempt or process had committed it. */
      readonly isRepeated: boolean;
      /** The time from the creation of the contract to the commit, by the clock of the ledger, in milliseconds. */
      readonly latencyMs: number;
    }
  /** Another transaction archived the contract before the action of a rule. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ActionObsolete';
      /** The name of the rule. */
      readonly rule: string;
      /** The contract. */
      readonly contractId: string;
    }
  /** An action of a rule failed. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ActionFailed';
      /** The name of the rule. */
      readonly rule: string;
      /** The contract. */
      readonly contractId: string;
      /** The error. */
      readonly cause: unknown;
      /** When it is tried again, in milliseconds since the epoch; absent if it is not. */
      readonly retryAt?: number;
    }
  /** How much there is to do: every 10 seconds while the rule acts, and 0 when it ends. */
  | (WorkCounts & {
      /** Discriminates the union. */
      readonly _tag: 'WorkCounted';
      /** The name of the rule. */
      readonly rule: string;
    });

/**
 * The command of a diagnostic.
 *
 * @inline
 */
interface OutboxCommand {
  /** The name of the outbox. */
  readonly outbox: string;
  /** The number of the command in the outbox. */
  readonly id: number;
  /** The command id. */
  readonly commandId: string;
}

/**
 * A diagnostic of a command outbox.
 *
 * @inline
 */
export type OutboxDiagnostic =
  /** A command of an outbox was committed. */
  | (OutboxCommand & {
      /** Discriminates the union. */
      readonly _tag: 'CommandCommitted';
      /** The offset of the transaction. */
      readonly offset: Offset;
      /** Whether an earlier attempt or process had committed it. */
      readonly isRepeated: boolean;
    })
  /** The function that decides a command of an outbox found nothing to do. */
  | (OutboxCommand & {
      /** Discriminates the union. */
      readonly _tag: 'CommandDropped';
    })
  /** A command of an outbox failed, or has no outcome yet. */
  | (OutboxCommand & {
      /** Discriminates the union. */
      readonly _tag: 'CommandFailed';
      /** The error. */
      readonly cause: unknown;
      /** When it is tried again, in milliseconds since the epoch. */
      readonly retryAt: number;
    })
  /** A command was refused, or its outcome cannot be determined. It waits for a person, and so do the others of its key. */
  | (OutboxCommand & {
      /** Discriminates the union. */
      readonly _tag: 'CommandParked';
      /** The error. */
      readonly cause: unknown;
    })
  /** How much there is to do: every 10 seconds while the outbox sends, and 0 when it ends. */
  | (WorkCounts & {
      /** Discriminates the union. */
      readonly _tag: 'WorkCounted';
      /** The name of the outbox. */
      readonly outbox: string;
    });

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
