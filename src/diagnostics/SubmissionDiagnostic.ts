import type { Offset } from '../codecs/scalars.js';
import type { LedgerError } from '../errors/LedgerError.js';

/** What happens to a submission. */
export type SubmissionDiagnostic =
  | SubmissionPrepared
  | SubmissionVerified
  | SubmissionSigned
  | SubmissionSent
  | SubmissionUnclear
  | SubmissionCommitted
  | SubmissionFailed;

/** `submit` has had a submission prepared. */
export interface SubmissionPrepared {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionPrepared';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** The command id of the request. */
  readonly commandId: string;
}

/** What `submit` had prepared is what was asked for, as its verifier says. */
export interface SubmissionVerified {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionVerified';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** The command id of the request. */
  readonly commandId: string;
}

/** All signers of `submit` have signed. */
export interface SubmissionSigned {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionSigned';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** The command id of the request. */
  readonly commandId: string;
}

/** A signed submission was sent, for the first time or again. */
export interface SubmissionSent {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionSent';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** Which try it is; 1 for the first. */
  readonly attempt: number;
}

/** What became of a try is not known, or it can be made again; it will be. */
export interface SubmissionUnclear {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionUnclear';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** How many tries there were. */
  readonly attempts: number;
  /** What the last one ended with. */
  readonly cause: LedgerError;
  /** How long until the next, in milliseconds. */
  readonly delayMs: number;
}

/** A submission was committed. */
export interface SubmissionCommitted {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionCommitted';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** The id of the transaction. */
  readonly updateId: string;
  /** The offset of the transaction. */
  readonly offset: Offset;
}

/** A submission ended otherwise, whether it was sent or not. */
export interface SubmissionFailed {
  /** Tells the events apart. */
  readonly _tag: 'SubmissionFailed';
  /** The submission id of the first try. */
  readonly submissionId: string;
  /** With what. */
  readonly error?: LedgerError;
}
