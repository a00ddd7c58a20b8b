import type { ObservableInput } from 'rxjs';
import type { Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerResetError, isPrunedError, type LedgerResetError, type PrunedError } from '../errors/feed.js';
import { checkPositive, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Transport } from './Transport.js';

/**
 * Options of a feed.
 *
 * @category Ledger
 */
export interface UpdatesOptions {
  /**
   * The maximum number of updates per request. If the participant refuses a page as too large, all feeds of the ledger
   * halve the limit.
   *
   * @defaultValue 200
   */
  readonly maxPageSize?: number | undefined;
  /**
   * How long a request for new updates waits for an update, in milliseconds (`stream_idle_timeout_ms` on the wire). It
   * should be well below the request timeout of the participant (20 000) and of every proxy.
   *
   * @defaultValue 5000, and 12 000 after two requests in a row without an update
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How a feed without an end receives new updates once it has caught up. With `'http'`, it polls. With a transport,
   * such as `webSocketTransport()` from `canton-rx/ws`, the participant pushes them. Default: the ledger's transport.
   */
  readonly transport?: 'http' | Transport | undefined;
  /**
   * The maximum number of ranges that the feed reads at the same time while it catches up, 1 to 32. It emits their
   * updates in order, and holds at most that many pages in memory. With `1`, it requests a page only after it has
   * emitted all updates of the previous page.
   *
   * @defaultValue 2 to 16, depending on the latency of the participant
   */
  readonly parallelRanges?: number | undefined;
  /**
   * What to do with an update that cannot be decoded. `'fail'` emits the updates before it and ends the feed with a
   * `DecodeError`. `'emit'` emits an {@link InvalidUpdate} and continues.
   *
   * @defaultValue 'fail'
   */
  readonly onInvalid?: 'fail' | 'emit' | undefined;
  /**
   * What to do if the feed cannot continue without a gap, because the ledger is pruned beyond the cursor or ends before
   * it.
   *
   * - `'fail'` ends the feed with the error of the gap.
   * - A function chooses where to resume: the first offset that it emits is the new `beginExclusive`. The feed ends
   *   with the error of the gap if the function emits no offset, or an offset with the same gap: one at or before the
   *   cursor if the ledger is pruned, one at or after the cursor if it is reset.
   *
   * The feed does not emit the updates in the gap. To recover, you can read the active contracts at the new offset.
   *
   * @defaultValue 'fail'
   */
  readonly onGap?: 'fail' | ((gap: Gap) => ObservableInput<Offset>) | undefined;
  /** How to retry after a transient failure. Default: the ledger's policy. */
  readonly retry?: RetryPolicy | undefined;
}

/**
 * An update that cannot be decoded. A feed with `onInvalid: 'emit'` emits it.
 *
 * @category Updates
 */
export interface InvalidUpdate {
  /** The discriminant. */
  readonly _tag: 'InvalidUpdate';
  /**
   * The offset of the update. An update without a valid offset always ends the feed, because the cursor cannot pass it.
   */
  readonly offset: Offset;
  /** The fields that cannot be decoded, without their values; at most about a hundred per list. */
  readonly problems: readonly Problem[];
}

/**
 * A point at which a feed cannot continue without a gap.
 *
 * @category Ledger
 */
export interface Gap {
  /** The cursor of the feed: it has emitted everything up to here that matches the request. */
  readonly cursor: Offset;
  /** The reason. A `PrunedError` contains the first available offset, a `LedgerResetError` the ledger end. */
  readonly error: PrunedError | LedgerResetError;
}

/** Whether an error is a gap, after which only the caller can choose where to resume. */
export const isGapError = (u: unknown): u is Gap['error'] => isPrunedError(u) || isLedgerResetError(u);

const maxParallelRanges = 32;

/** Throws a TypeError if an option is invalid. */
export function checkOptions(options: UpdatesOptions): void {
  const { maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, transport = 'http', retry } = options;
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  // responses that arrive before the first one are later emitted in one call stack
  if (parallelRanges > maxParallelRanges) throw new TypeError(`parallelRanges must be at most ${maxParallelRanges}`);
  if (!['http', 'Transport'].includes(transport === 'http' ? transport : transport._tag))
    throw new TypeError("transport must be 'http' or a Transport");
  retryPolicy(retry);
}
