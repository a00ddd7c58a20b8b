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

/** Fills in the defaults; the first policy that says something is right. */
export const retryPolicy = (...policies: readonly (RetryPolicy | undefined)[]): Required<RetryPolicy> => {
  const said = (pick: (policy: RetryPolicy) => number | undefined): number | undefined =>
    policies.map((policy) => policy && pick(policy)).find((value) => value !== undefined);
  return {
    baseDelayMs: said((policy) => policy.baseDelayMs) ?? 250,
    maxDelayMs: said((policy) => policy.maxDelayMs) ?? 30_000,
    giveUpAfterMs: said((policy) => policy.giveUpAfterMs) ?? 300_000,
  };
};
