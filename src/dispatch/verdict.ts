import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { type RejectionReason, rejectionReason } from '../errors/rejectionReason.js';
import type { SubmissionRejectedError } from '../errors/submission.js';
import { meaningOf } from '../submission/codes.js';
import { earliestOffset } from '../submission/outcome.js';

/**
 * What the error of a submission means for the work:
 *
 * - `committed`: it is done. Only its transaction cannot be read.
 * - `unknown`: it may be done. `isReset` if the ledger is another one, `prunedTo` if what would show it is pruned.
 * - `refused`: it is not done, and will not be.
 * - `other`: an error of another kind, such as of a function of the caller.
 */
export type Verdict =
  | { readonly kind: 'committed'; readonly offset: Offset }
  | { readonly kind: 'unknown'; readonly isReset: boolean; readonly prunedTo: Offset | undefined }
  | {
      readonly kind: 'refused';
      readonly reason: RejectionReason | 'notSent';
      /** Whether the same commands may be accepted later. */
      readonly passes: boolean;
      /** Whether all other work would be refused, too. */
      readonly concernsAll: boolean;
      /** Whether the cause may also be the commands, such as their size. */
      readonly mayBePermanent: boolean;
      /** The first offset at which the deduplication period may begin, if that is pruned; `Infinity` if it is not named. */
      readonly earliest: Offset | undefined;
    }
  | { readonly kind: 'other' };

/**
 * The reasons that pass by themselves. A contract that is archived or unknown is none: the same commands name it, so they would
 * be refused again. One that is in flight is contention.
 */
const passing: ReadonlySet<RejectionReason> = new Set(['contention', 'traffic', 'backPressure', 'topology', 'timeout']);

/** Returns what the error of a submission means. */
export function verdictOf(error: unknown): Verdict {
  if (isLedgerError(error, 'OutcomeUnknownError')) {
    const { completionOffset, lastError } = error;
    if (completionOffset !== undefined) return { kind: 'committed', offset: completionOffset };
    const isReset = isLedgerError(lastError, 'LedgerResetError');
    const prunedTo = isLedgerError(lastError, 'PrunedError') ? (lastError.earliestOffset ?? Infinity) : undefined;
    return { kind: 'unknown', isReset, prunedTo };
  }
  if (isLedgerError(error, 'NotSentError', 'UnauthorizedError', 'TokenError'))
    return { ...refused, reason: 'notSent', passes: true, concernsAll: true };
  if (!isLedgerError(error, 'SubmissionRejectedError')) return { kind: 'other' };
  const { reason, code = '' } = error;
  const meaning = meaningOf(code);
  return {
    ...refused,
    reason,
    passes: passing.has(reason) || isOfProxy(error),
    concernsAll: meaning?.concerns === 'all' || isOfProxy(error),
    mayBePermanent: mayBePermanent(code),
    earliest: meaning?.hosted.outcome === 'pruned' ? (earliestOffset(error) ?? Infinity) : undefined,
  };
}

/** Whether the cause of a refusal by a code may also be the commands, such as their size. Contention passes. */
const mayBePermanent = (code: string): boolean =>
  meaningOf(code)?.hosted.again === 'thrice' &&
  rejectionReason({ code, errorCategory: undefined, status: 0 }) !== 'contention';

const refused = { kind: 'refused', mayBePermanent: false, earliest: undefined } as const;

/** Whether a proxy refused the command: it says nothing about the command, unless that is malformed or too large. */
const isOfProxy = ({ code, status }: SubmissionRejectedError): boolean =>
  code === undefined && status !== 400 && status !== 413;
