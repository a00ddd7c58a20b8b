import { checkPositive } from './checkPositive.js';

/** How a feed asks again after a transient failure: exponential back-off with full jitter, for a while. */
export interface RetryPolicy {
  /**
   * The longest wait before the first retry, in milliseconds; it doubles with every further one.
   *
   * @defaultValue 250
   */
  readonly baseDelayMs?: number | undefined;
  /**
   * The longest wait before any retry, in milliseconds, unless the service asks for a longer one.
   *
   * @defaultValue 30000
   */
  readonly maxDelayMs?: number | undefined;
  /**
   * How long a feed goes on without a healthy answer, in milliseconds, before it ends with the last error: the time of its
   * attempts and of the waits between them, not that of a machine asleep. 0 never asks again.
   *
   * @defaultValue 300000
   */
  readonly giveUpAfterMs?: number | undefined;
}

/** Fills in what neither policy says; the feed's own goes before the ledger's. Throws a TypeError for what makes no sense. */
export function retryPolicy(ledgers: RetryPolicy = {}, feeds: RetryPolicy = {}): CompleteRetryPolicy {
  const policy = {
    baseDelayMs: feeds.baseDelayMs ?? ledgers.baseDelayMs ?? 250,
    maxDelayMs: feeds.maxDelayMs ?? ledgers.maxDelayMs ?? 30_000,
    giveUpAfterMs: feeds.giveUpAfterMs ?? ledgers.giveUpAfterMs ?? 300_000,
  };
  // no time at all is a policy too: never again
  checkPositive({ ...policy, giveUpAfterMs: policy.giveUpAfterMs + 1 });
  return policy;
}

/** A policy that leaves nothing open. */
export type CompleteRetryPolicy = { readonly [K in keyof RetryPolicy]-?: number };
