import { hasTag, TaggedError } from '../errors/internal/message.js';

/**
 * A submission that was pending when the user signed out.
 *
 * @category Session
 */
export interface AbortedSubmission {
  /** Its command ID; absent if each attempt has its own, or if only the signed bytes have it. */
  readonly commandId: string | undefined;
  /** Whether it was sent, so that it may be committed: look for it after the next sign-in. */
  readonly mayBeCommitted: boolean;
}

/**
 * The user has signed out: the error with which the feeds, views and submissions of a session end. A retry is of no use before the
 * next sign-in.
 *
 * @category Errors
 */
export class SignedOutError extends TaggedError<'SignedOutError'> {
  constructor(
    /** The submission that it ends, if it ends one. */
    readonly submission?: AbortedSubmission,
  ) {
    super('SignedOutError', 'The user has signed out.', {
      Command: submission?.commandId,
      Outcome: submission && (submission.mayBeCommitted ? 'it may be committed' : 'it was not sent'),
    });
  }

  override get summary(): string {
    return this.submission?.mayBeCommitted === true
      ? 'You have signed out, and it is not known whether your request has succeeded.'
      : 'You have signed out.';
  }
}

/** Whether a value is the error of a session that has ended. */
export const isSignedOutError = (u: unknown): u is SignedOutError => hasTag(u, 'SignedOutError');
