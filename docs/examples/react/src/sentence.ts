import { isLedgerError } from 'canton-rx';

/** A sentence for the person at the screen. The message of an error is for a log. */
export const sentenceOf = (error: unknown): string => (isLedgerError(error) ? error.summary : 'That did not work.'); // an error of this app
