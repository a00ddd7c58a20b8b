import { isPrunedError } from 'canton-rx';

/** The reason why something cannot be read, in one line. */
export const reasonOf = (error: Error): string =>
  isPrunedError(error) ? 'It has been pruned.' : (error.message.split('\n')[0] ?? error.name);
