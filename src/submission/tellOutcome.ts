import { tap, type MonoTypeOperatorFunction } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Link } from '../http/Link.js';

/** Tells what became of a submission. */
export const tellOutcome = ({ report }: Link, submissionId: string): MonoTypeOperatorFunction<Transaction> =>
  tap({
    next: ({ updateId, offset }) => {
      report(() => ({ _tag: 'SubmissionCommitted', submissionId, updateId, offset }));
    },
    error: (error: unknown) => {
      report(() => ({ _tag: 'SubmissionFailed', submissionId, ...(isLedgerError(error) && { error }) }));
    },
  });
