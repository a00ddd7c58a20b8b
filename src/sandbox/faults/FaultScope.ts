/**
 * Which requests a {@link Fault} is for. The upgrade to a WebSocket is a request too, but only to the faults that it can
 * have, which are those of the kinds `status`, `reset`, `hang` and `rewrite`; and to a fault of the kind `socket` nothing
 * else is one.
 */
export interface FaultScope {
  /** The path, whole, or a pattern for it; default any. */
  readonly path?: string | RegExp;
  /**
   * How many requests to that path it lets pass first; default 0.
   *
   * Each fault counts for itself. It counts every request that its `path` and its kind fit, as it arrives, from when the fault was
   * queued, those that another fault hits included; only then is it due. Of several that are due, the one queued
   * first hits, and the others hit the next requests: with `after: 1` twice, the first request passes, the second
   * gets the one, the third the other.
   */
  readonly after?: number;
  /** How many requests it hits; default 1. */
  readonly times?: number;
}
