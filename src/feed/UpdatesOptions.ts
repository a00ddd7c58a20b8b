import type { ObservableInput } from 'rxjs';
import type { Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerResetError, isPrunedError, type LedgerResetError, type PrunedError } from '../errors/feed.js';
import { checkPositive, retryPolicy, type RetryPolicy } from '../http/retry.js';

/** How a feed reads. */
export interface UpdatesOptions {
  /**
   * The most updates that one request asks for. A service that refuses a page as too large is asked for half of it, and
   * that stays so for the ledger.
   *
   * @defaultValue 200
   */
  readonly maxPageSize?: number | undefined;
  /**
   * How long a request for what has not happened yet waits for it, in milliseconds; the wire's `stream_idle_timeout_ms`.
   * Should be well below the request timeouts on the way, the participant's own being 20 000.
   *
   * @defaultValue 5000, and 12 000 once two requests in a row have brought no update
   */
  readonly idleTimeoutMs?: number | undefined;
  /**
   * How a feed without an end waits for what has not happened yet, once it has caught up: `'http'` polls; `'websocket'`
   * has the service push, by the ledger's `webSocket`, and polls as long as no socket is to be had: where the upgrade is
   * refused, or a socket was lost a moment ago. Either way each update is emitted once, in order, and what lies between
   * two sockets is read by HTTP.
   *
   * @defaultValue 'http'
   */
  readonly transport?: 'http' | 'websocket' | undefined;
  /**
   * How many ranges of the ledger are read at a time while the feed catches up. Their updates are emitted in order all
   * the same; so many pages may be held at most, and 32 is the most. `1` asks for one page after the other, each only after all of the one
   * before has been emitted.
   *
   * @defaultValue as many as pay, 2 to 16: the longer an answer takes, the more
   */
  readonly parallelRanges?: number | undefined;
  /**
   * What an update that does not decode does: `'fail'` ends the feed with a `DecodeError` after everything before it;
   * `'emit'` passes an {@link InvalidUpdate} on and goes on.
   *
   * @defaultValue 'fail'
   */
  readonly onInvalid?: 'fail' | 'emit' | undefined;
  /**
   * What happens where the ledger cannot be read on without a gap: it is pruned beyond the cursor, or ends before it.
   * `'fail'` ends the feed with the gap's error. A function says where to go on: the first offset that it gives is the
   * new `beginExclusive`; nothing, or an offset that leads nowhere (at or before the cursor of a pruned ledger, at or
   * beyond that of one that was reset), ends the feed with the gap's error. What lies between is not emitted by this
   * feed: read the active contracts at that offset, say, or stop.
   *
   * @defaultValue 'fail'
   */
  readonly onGap?: 'fail' | ((gap: Gap) => ObservableInput<Offset>) | undefined;
  /** How to ask again after a transient failure. Default: the ledger's. */
  readonly retry?: RetryPolicy | undefined;
}

/** An update that does not decode, passed on by a feed with `onInvalid: 'emit'`. */
export interface InvalidUpdate {
  /** Tells it from the updates. */
  readonly _tag: 'InvalidUpdate';
  /** Where it stands on the ledger. One whose offset cannot be read ends the feed in any case: nobody could go past it. */
  readonly offset: Offset;
  /** The places that do not decode, of a list about a hundred at most; never what stands there. */
  readonly problems: readonly Problem[];
}

/** A place at which a ledger cannot be read on without a gap. */
export interface Gap {
  /** Where the feed stands: everything up to here has been emitted, or does not match the request. */
  readonly cursor: Offset;
  /** Why it cannot go on. A `PrunedError` tells the first offset that is still there, a `LedgerResetError` where the ledger ends. */
  readonly error: PrunedError | LedgerResetError;
}

/** Whether an error is one beyond which only the caller can say where to go on. */
export const isGapError = (u: unknown): u is Gap['error'] => isPrunedError(u) || isLedgerResetError(u);

const mostRanges = 32;

/** Throws a TypeError for options that make no sense: a mistake in the program, not of the ledger. */
export function checkOptions(options: UpdatesOptions): void {
  const { maxPageSize = 1, idleTimeoutMs = 1, parallelRanges = 1, transport = 'http', retry } = options;
  checkPositive({ maxPageSize, idleTimeoutMs, parallelRanges }, true);
  // what has been answered while the first was waited for is emitted at one go, and nests
  if (parallelRanges > mostRanges) throw new TypeError(`parallelRanges must be ${mostRanges} at most`);
  if (!['http', 'websocket'].includes(transport)) throw new TypeError('transport must be http or websocket');
  retryPolicy(retry);
}
