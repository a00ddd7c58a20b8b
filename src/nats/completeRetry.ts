import type { NatsUpdatesOptions } from './NatsUpdatesOptions.js';

/** How often a handler is tried again, with nothing left open. */
export interface HandlerRetry {
  readonly baseDelayMs: number;
  readonly maxDelayMs: number;
  readonly giveUpAfterMs: number;
}

/** Fills in what is not said. Throws a TypeError for times that make no sense. */
export function completeRetry({
  handlerRetry = {},
  ackWaitMs = 30_000,
  timeoutMs = 5000,
}: NatsUpdatesOptions): HandlerRetry {
  const { baseDelayMs = 250, maxDelayMs = 30_000, giveUpAfterMs = 60_000 } = handlerRetry;
  // no time at all is a policy too: never again
  const times = { baseDelayMs, maxDelayMs, giveUpAfterMs: giveUpAfterMs + 1, ackWaitMs, timeoutMs };
  for (const [name, ms] of Object.entries(times)) {
    if (!(ms > 0 && ms < Infinity)) throw new TypeError(`${name} must be a positive number of milliseconds`);
  }
  return { baseDelayMs, maxDelayMs, giveUpAfterMs };
}
