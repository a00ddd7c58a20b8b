import { isLedgerError } from 'canton-rx';

/** The reason why something cannot be read, in one line. */
export const reasonOf = (error: Error): string =>
  isLedgerError(error, 'PrunedError') ? 'It has been pruned.' : (error.message.split('\n')[0] ?? error.name);
