import type { Happening } from './Happening.js';

/**
 * What a ledger is doing, for logs, metrics and progress displays. A closed union: `_tag` tells what happened, and a
 * `switch` over it is complete. Holds no token, signature or payload.
 *
 * @example
 * ```ts
 * import { createLedger, type LedgerEvent } from 'canton-rx';
 *
 * const line = (event: LedgerEvent): string => {
 *   switch (event._tag) {
 *     case 'RetryScheduled':
 *       return `${event.cause.name}; again in ${event.delayMs} ms`;
 *     case 'FellBehind':
 *       return `${event.lag ?? '?'} offsets behind`;
 *     default:
 *       return event._tag;
 *   }
 * };
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const logging = ledger.events$.subscribe((event) => {
 *   console.log(new Date(event.at).toISOString(), event.feed, line(event));
 * });
 * logging.unsubscribe();
 * ```
 */
export type LedgerEvent = Happening & {
  /** When it happened, in milliseconds since the epoch, by this machine's clock. */
  readonly at: number;
  /** The feed to which it happened: 1 for the first that the ledger started. Absent for what belongs to none. */
  readonly feed?: number;
};
