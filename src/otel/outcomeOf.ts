import { isLedgerError } from '../errors/LedgerError.js';
import type { Submitted } from './Submitted.js';

/** What became of a submission, for a span and a meter: `failed` is of what was not sent, or not heard. */
export function outcomeOf(submitted: Submitted): string {
  const { error, transaction } = submitted;
  if (transaction !== undefined) return 'committed';
  if (!('error' in submitted)) return 'abandoned';
  if (!isLedgerError(error)) return 'failed';
  switch (error._tag) {
    case 'SubmissionRejectedError':
      return 'rejected';
    case 'SubmissionExpiredError':
      return 'expired';
    case 'OutcomeUnknownError':
      return 'unknown';
    case 'NotSentError':
      return 'not_sent';
    case 'VerificationError':
      return 'not_verified';
    default:
      return 'failed';
  }
}
