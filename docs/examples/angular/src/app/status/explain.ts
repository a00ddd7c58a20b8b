import { isLedgerError } from 'canton-rx';

/** An error in a few words, for a line of the status. */
export function nameOf(error: Error): string {
  if (isLedgerError(error, 'ConnectionError')) return 'No answer';
  if (isLedgerError(error, 'RequestTimeoutError')) return 'No answer in time';
  if (isLedgerError(error, 'ApiError')) return `Answer ${error.status}`;
  return error.name;
}

/** An error in a sentence, and what may be wrong. */
export function explain(error: Error): string {
  const [first = error.name] = error.message.split('\n');
  if (isLedgerError(error, 'ConnectionError'))
    return 'Nothing answers there, or it does not allow this page to read it (CORS). It is tried again until it answers.';
  if (isLedgerError(error, 'UnauthorizedError')) return `${first} Enter another one with the address.`;
  if (isLedgerError(error, 'ApiError') && error.code === undefined)
    return `${first} This may not be the address of a JSON Ledger API.`;
  return first;
}
