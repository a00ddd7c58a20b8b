import { isPrunedError } from 'canton-rx';

/** Why something cannot be read, in a line. */
export const reasonOf = (error: Error): string =>
  isPrunedError(error) ? 'It has been pruned.' : (error.message.split('\n')[0] ?? error.name);
