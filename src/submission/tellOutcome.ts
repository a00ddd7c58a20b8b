import { pipe, tap, type MonoTypeOperatorFunction } from 'rxjs';
import type { Transaction } from '../codecs/Transaction.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { Link } from '../http/Link.js';

/** Tells what became of a submission. */
export const tellOutcome = (link: Link, submissionId: string): MonoTypeOperatorFunction<Transaction> =>
  pipe(
    tap(({ updateId, offset }) => {
      link.report(() => ({ _tag: 'SubmissionCommitted', submissionId, updateId, offset }));
    }),
    tellFailure(link, submissionId),
  );

/** Tells that a submission failed. */
export const tellFailure = <A>({ report }: Link, submissionId: string): MonoTypeOperatorFunction<A> =>
  tap({
    error: (error: unknown) => {
      report(() => ({ _tag: 'SubmissionFailed', submissionId, ...(isLedgerError(error) && { error }) }));
    },
  });
