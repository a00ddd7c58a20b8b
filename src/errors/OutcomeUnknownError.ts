import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { LedgerError } from './LedgerError.js';
import type { Submission } from './Submission.js';

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
