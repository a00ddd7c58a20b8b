import type { Offset } from '../codecs/scalars.js';
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import type { PrunedError } from '../errors/feed.js';
import { isLedgerError, type LedgerError, type OutcomeUnknownError } from '../errors/LedgerError.js';
import type { SubmissionRejectedError } from '../errors/submission.js';
import type { CompleteRetryPolicy } from '../http/retry.js';
import type { Agenda } from './Agenda.js';
import type { Entry } from './Entry.js';
import type { Acted } from './Rule.js';

/** What the outcomes of a rule's actions change. */
export interface OutcomeContext {
  readonly agenda: Agenda;
  /** The delays after failures. */
  readonly retry: CompleteRetryPolicy;
}

/** The ledger committed the action. */
export function commit(context: OutcomeContext, entry: Entry, transaction: SubmittedTransaction): Acted {
  end(context, entry, transaction.offset);
  const { contractId, createdAt } = entry.contract;
  return { _tag: 'Committed', contractId, transaction, isRepeated: transaction.isRepeated === true, createdAt };
}

/** The action is committed at an offset. */
function end({ agenda }: OutcomeContext, entry: Entry, offset: Offset): void {
  entry.endedRounds.add(entry.submission?.round ?? '');
  Object.assign(entry, { submission: undefined, failures: 0, races: 0 });
  agenda.await(entry, offset);
  agenda.places.resume();
}

/** The submission of an action failed. Decides what that means for its contract, and when it is tried again. */
export function refuse(context: OutcomeContext, entry: Entry, error: unknown): Acted[] {
  if (isLedgerError(error, 'OutcomeUnknownError')) {
    if (error.completionOffset === undefined) return [unclear(context, entry, error)];
    // committed, but the transaction is pruned or cannot be decoded
    end(context, entry, error.completionOffset);
    return [{ _tag: 'Failed', contractId: entry.contract.contractId, error }];
  }
  entry.submission = undefined;
  // whatever the reason, there is nothing left to act on
  if (entry.isGone) return [{ _tag: 'Obsolete', contractId: entry.contract.contractId }];
  if (isLedgerError(error) && concernsAll(error)) return [pause(context, entry, error)];
  if (isLedgerError(error, 'SubmissionRejectedError')) context.agenda.places.resume();
  if (isLedgerError(error, 'SubmissionRejectedError') && error.isContention) return overtake(context, entry, error);
  return [fail(context, entry, error)];
}

/** The error of a submission whose outcome stays unknown: the participant has pruned what may show it. */
export type LostError = OutcomeUnknownError & { readonly lastError: PrunedError };

export const isLost = (error: unknown): error is LostError =>
  isLedgerError(error, 'OutcomeUnknownError') &&
  error.completionOffset === undefined &&
  isLedgerError(error.lastError, 'PrunedError');

/** The action failed. It is tried again after a delay that grows. */
export const fail = ({ agenda, retry }: OutcomeContext, entry: Entry, error: unknown): Acted =>
  retryAfter(agenda, entry, error, delayMs(retry, entry.failures));

/** How often the outcome for a contract that is gone is determined again, before it stays unknown. */
const maxUnclear = 5;

/** The outcome must be known before anything else is done. The submission continues later, with the same commands. */
function unclear(context: OutcomeContext, entry: Entry, error: OutcomeUnknownError): Acted {
  const { submission } = entry;
  // the submission began on another ledger, as far as it knows: only a new one learns of the present ledger
  const isReset = isLedgerError(error.lastError, 'LedgerResetError');
  // nothing more can be done for the contract, and the participant may have pruned what would show the outcome
  const isLost = entry.isGone && (isReset || entry.failures >= maxUnclear);
  if (submission === undefined || isLost) return giveUp(entry, submission?.round ?? '', error);
  if (isReset) submission.transaction$ = undefined;
  return fail(context, entry, error);
}

/** The action failed, and is not tried again in its round. */
export function giveUp(entry: Entry, round: string, error: unknown): Acted {
  Object.assign(entry, { state: 'idle', submission: undefined });
  entry.endedRounds.add(round);
  return { _tag: 'Failed', contractId: entry.contract.contractId, error };
}

/** How many times an action that lost a race is decided again before that counts as a failure. */
const maxRaces = 5;

/** The maximum delay before the first of these decisions, in milliseconds. */
const raceDelayMs = 200;

/** Another transaction uses the same contracts: the action is decided again, by what the view shows then. */
function overtake(context: OutcomeContext, entry: Entry, error: SubmissionRejectedError): Acted[] {
  const { agenda } = context;
  if (entry.races >= maxRaces) return [fail(context, entry, error)];
  agenda.retry(entry, halfJitter(raceDelayMs * 2 ** entry.races));
  entry.races += 1;
  return [];
}

/** Whether an error would also meet the actions on other contracts. */
const concernsAll = (error: LedgerError): boolean =>
  isLedgerError(error, 'NotSentError', 'UnauthorizedError') ||
  (isLedgerError(error, 'SubmissionRejectedError') && ['traffic', 'backPressure'].includes(error.reason));

/** The rule begins nothing for a while. */
function pause({ agenda, retry }: OutcomeContext, entry: Entry, error: LedgerError): Acted {
  const { places } = agenda;
  if (!places.isPaused) places.pause(delayMs(retry, places.pauses));
  return retryAfter(agenda, entry, error, places.pauseMs);
}

function retryAfter(agenda: Agenda, entry: Entry, error: unknown, delayMs: number): Acted {
  entry.failures += 1;
  return { _tag: 'Failed', contractId: entry.contract.contractId, error, retryAt: agenda.retry(entry, delayMs) };
}

const delayMs = ({ baseDelayMs, maxDelayMs }: CompleteRetryPolicy, failures: number): number =>
  halfJitter(Math.min(maxDelayMs, baseDelayMs * 2 ** failures));

/** Between half and all of a time: attempts neither come at once nor all at the same time. */
const halfJitter = (ms: number): number => ms * (0.5 + Math.random() / 2);
