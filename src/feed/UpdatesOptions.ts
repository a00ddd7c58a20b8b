import type { ObservableInput } from 'rxjs';
import type { Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerResetError, isPrunedError, type LedgerResetError, type PrunedError } from '../errors/feed.js';
import { checkPositive, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Transport } from './Transport.js';

/**
 * The options of a feed.
 *
 * @category Ledger
 */
export interface UpdatesOptions {
  /**
   * The maximum number of updates per request. If the service refuses a page as too large, the limit is halved for all feeds of the
   * ledger.
   *
   * @defaultValue 200
   */
  readonly maxPageSize?: number | undefined;
  /**
   * How long a request for new updates waits for one, in milliseconds; `stream_idle_timeout_ms` on the wire. It should be
   * well below all request timeouts on the way; that of the participant is 20 000.
   *
   * @defaultValue 5000, and 12 000 after two requests in a row without an update
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How a feed without an end receives new updates once it has caught up: `'http'` polls, and with a transport, such as
   * `webSocketTransport()` of `canton-rx/ws`, the service pushes them. Default: the ledger's transport.
   */
  readonly transport?: 'http' | Transport | undefined;
  /**
   * The maximum number of ranges of the ledger to read at the same time while the feed catches up, 1 to 32. Their updates are
   * emitted in order, and at most that many pages are held in memory. With `1`, a page is requested only after all updates of the page
   * before it have been emitted.
   *
   * @defaultValue 2 to 16, depending on how long the service takes to answer
   */
  readonly parallelRanges?: number | undefined;
  /**
   * What to do with an update that does not decode: `'fail'` ends the feed with a `DecodeError` after the updates before it;
   * `'emit'` emits an {@link InvalidUpdate} and continues.
   *
   * @defaultValue 'fail'
   */
  readonly onInvalid?: 'fail' | 'emit' | undefined;
  /**
   * What to do if the feed cannot continue without a gap, because the ledger is pruned after the cursor or ends before it.
   * `'fail'` ends the feed with the error of the gap. A function chooses where to resume: the first offset that it returns is
   * the new `beginExclusive`. The feed ends with the error of the gap if there is no offset, or if the feed would find the
   * same gap there: at or before the cursor of a pruned ledger, at or after the cursor of a reset one. The feed does not emit
   * what lies in the gap; read the active contracts at the new offset, for example.
   *
   * @defaultValue 'fail'
   */
  readonly onGap?: 'fail' | ((gap: Gap) => ObservableInput<Offset>) | undefined;
  /** How to retry after a transient failure. Default: the ledger's policy. */
  readonly retry?: RetryPolicy | undefined;
}

/**
 * An update that does not decode, emitted by a feed with `onInvalid: 'emit'`.
 *
 * @category Updates
 */
export interface InvalidUpdate {
  /** Discriminates it from the updates. */
  readonly _tag: 'InvalidUpdate';
  /** The offset of the update. An update without a valid offset always ends the feed, which could not continue after it. */
  readonly offset: Offset;
  /** The fields that do not decode, at most about a hundred of a list; never their values. */
  readonly problems: readonly Problem[];
}

/**
 * A point at which a feed cannot continue without a gap.
 *
 * @category Ledger
 */
export interface Gap {
  /** The cursor of the feed: everything up to here has been emitted, or does not match the request. */
  readonly cursor: Offset;
  /** The reason. A `PrunedError` has the first offset that is left, a `LedgerResetError` the ledger end. */
  readonly error: PrunedError | LedgerResetError;
}

/** Whether an error is a gap, after which only the caller can choose where to resume. */
export const isGapError = (u: unknown): u is Gap['error'] => isPrunedError(u) || isLedgerResetError(u);

const maxParallelRanges = 32;

/** Throws a TypeError for invalid options. */
export function checkOptions(options: UpdatesOptions): void {
  const { maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, transport = 'http', retry } = options;
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  // answers that come while the first is awaited are emitted in one call stack
  if (parallelRanges > maxParallelRanges) throw new TypeError(`parallelRanges must be at most ${maxParallelRanges}`);
  if (!['http', 'Transport'].includes(transport === 'http' ? transport : transport._tag))
    throw new TypeError("transport must be 'http' or a transport");
  retryPolicy(retry);
}
