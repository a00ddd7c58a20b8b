import { isLedgerError, type LedgerError } from '../errors/LedgerError.js';
import { connectionOutcome } from './outcome.js';

/**
 * What a failed attempt to submit commands of hosted parties means. It follows from where in the participant the error
 * arises: the participant interprets the commands before it registers the change and searches for duplicates.
 *
 * - `committed`: the participant has committed the change, in this or an earlier attempt.
 * - `rejected`: the attempt was registered and failed. No earlier attempt was in flight or committed at that time.
 * - `refused`: the attempt failed before it was registered. That says nothing about earlier attempts.
 * - `inFlight`: another attempt is in flight.
 * - `notSent`: the attempt did not reach the participant.
 * - `pruned`: the deduplication period begins before the data that the participant still has.
 * - `unknown`: the attempt may have been committed, or may still be.
 */
export type AttemptOutcome = 'committed' | 'rejected' | 'refused' | 'inFlight' | 'notSent' | 'pruned' | 'unknown';

/**
 * Determines what an error means for an attempt: by the ledger's code, then its category, then the HTTP status.
 *
 * @param hasNames - whether the attempt requests a transaction by names, which the participant looks up after the commit
 */
export function decideAttempt(error: LedgerError, hasNames: boolean): AttemptOutcome {
  if (isLedgerError(error, 'TokenError')) return 'notSent';
  if (isLedgerError(error, 'ConnectionError')) return connectionOutcome(error);
  if (isLedgerError(error, 'UnauthorizedError')) return 'refused';
  if (!isLedgerError(error, 'ApiError')) return 'unknown';
  const { code, errorCategory = 0, status } = error;
  if (code === undefined) return refusedStatuses.includes(status) ? 'refused' : 'unknown';
  // the ledger withholds the reason
  if (code === 'NA') return status === 401 || status === 403 ? 'refused' : 'unknown';
  if (Object.hasOwn(outcomes, code)) return outcomes[code] ?? 'unknown';
  if (isAboutNames(code)) return hasNames ? 'unknown' : 'refused';
  if (registered.test(code)) return 'rejected';
  if (errorCategory === 2) return refusedBusy.test(code) ? 'refused' : 'unknown';
  return refusedCategories.includes(errorCategory) ? 'refused' : 'unknown';
}

/** Whether an error of reading a transaction is about names in its format, which the participant does not know. */
export const isAboutNames = (code = ''): boolean =>
  /^(PACKAGE_NAMES|TEMPLATES_OR_INTERFACES)_NOT_FOUND$|^NO_(TEMPLATES|INTERFACE)_/.test(code);

const outcomes: Readonly<Record<string, AttemptOutcome>> = {
  DUPLICATE_COMMAND: 'committed',
  SUBMISSION_ALREADY_IN_FLIGHT: 'inFlight',
  INVALID_DEDUPLICATION_PERIOD: 'pruned',
  // the transaction was committed, and could not be read
  UPDATE_NOT_FOUND: 'unknown',
  // the token expired while the request waited for its result
  ACCESS_TOKEN_EXPIRED: 'unknown',
};

/** Codes of the synchronizer, of its mediator and of the confirming participants. A malformed request hides its reason. */
const registered =
  /^(LOCAL_VERDICT_(?!MALFORMED)|MEDIATOR_(SAYS|INVALID)_|NOT_SEQUENCED_|SEQUENCER_(BACKPRESSURE|REQUEST_FAILED|NOT_ENOUGH|MAX_SEQ)|OUTDATED_TRAFFIC)/;

/** Codes of a participant that is busy: of those with category 2, only they are certain to come before the registration. */
const refusedBusy =
  /BACKPRESSURE|OVERLOADED|MAXIMUM_NUMBER_OF_STREAMS|MEMORY_OVER_LIMIT|^INTERPRETATION_TIME|^FAILED_TO_DETERMINE|^NO_VIEW_|^CHOSEN_MEDIATOR/;

/** Security, authentication, permission, invalid argument, current state, resource, offset, unsupported. */
const refusedCategories: readonly number[] = [5, 6, 7, 8, 9, 10, 11, 12, 14];

/** Statuses without an error of the ledger that are certain to come before any work. */
const refusedStatuses: readonly number[] = [400, 401, 403, 404, 405, 413, 429, 501];
