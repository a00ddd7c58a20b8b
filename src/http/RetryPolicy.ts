/** How a feed asks again after a transient failure: exponential back-off with full jitter, for a while. */
export interface RetryPolicy {
  /**
   * The longest wait before the first retry, in milliseconds; it doubles with every further one.
   *
   * @defaultValue 250
   */
  readonly baseDelayMs?: number;
  /**
   * The longest wait before any retry, in milliseconds, unless the service asks for a longer one.
   *
   * @defaultValue 30000
   */
  readonly maxDelayMs?: number;
  /**
   * How long a feed goes on without a healthy answer, in milliseconds, before it ends with the last error.
   *
   * @defaultValue 300000
   */
  readonly giveUpAfterMs?: number;
}

/** Fills in what neither policy says; the feed's own goes before the ledger's. */
export const retryPolicy = (ledgers: RetryPolicy = {}, feeds: RetryPolicy = {}): Required<RetryPolicy> => {
  const { baseDelayMs = 250, maxDelayMs = 30_000, giveUpAfterMs = 300_000 } = { ...ledgers, ...feeds };
  return { baseDelayMs, maxDelayMs, giveUpAfterMs };
};
