import { isLedgerError, type Offset, type SubmittedTransaction } from 'canton-rx';
import { numeral } from '../shell/numbers';
import type { Outcome } from './run';

/** The outcome of a submission that was committed. */
export const committed = ({ offset, isRepeated }: SubmittedTransaction): Outcome =>
  committedAt(offset, isRepeated ? ', by an earlier attempt' : '');

/** The outcome of a submission that failed: it was not committed, or its outcome is unknown. */
export function outcomeOf(error: unknown): Outcome {
  if (!isLedgerError(error)) return { kind: 'failed', text: error instanceof Error ? error.message : String(error) };
  switch (error._tag) {
    case 'SubmissionRejectedError':
      return {
        kind: 'rejected',
        text: `The ledger refused it: ${error.code ?? error.status}. Nothing was done.${error.isContention ? contention : ''}`,
        reason: error.explanation,
      };
    case 'SubmissionExpiredError':
      return { kind: 'rejected', text: 'It came too late. Nothing was done; submit it again.', reason: error.reason };
    case 'OutcomeUnknownError':
      if (error.completionOffset !== undefined) return committedAt(error.completionOffset);
      return { kind: 'unknown', text: 'It may have been committed. Look for it in the table before you try again.' };
    case 'VerificationError':
      return {
        kind: 'failed',
        text: `What was prepared is not what was asked for (${error.reason}). It was not signed.`,
      };
    case 'ApiError':
      return {
        kind: 'failed',
        text: `The ledger refused it: ${error.code ?? error.status}. Nothing was done.`,
        reason: error.reason,
      };
    default:
      return { kind: 'failed', text: 'Nothing was done.', reason: error.message };
  }
}

const committedAt = (offset: Offset, how = ''): Outcome => ({
  kind: 'committed',
  text: `Committed at ${numeral(offset)}${how}.`,
  offset,
});

const contention = ' Another transaction uses its contract, or has archived it.';
