import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Submission } from './Submission.js';

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
