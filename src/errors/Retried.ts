import type { LedgerError } from './LedgerError.js';

/** How often and how long a feed has asked again before it gave up. */
export interface Retried {
  /** How many times. */
  readonly times: number;
  /** How long, in milliseconds: the attempts and the waits between them. */
  readonly forMs: number;
}

/** Adds to the last error of a feed that gave up, and to its message, how often and how long it had asked. */
export const withRetried = <E extends LedgerError>(error: E, retried: Retried): E =>
  Object.assign(error, {
    retried,
    message: `${error.message}\nRetried: ${retried.times} times in ${Math.round(retried.forMs)} ms`,
  });
