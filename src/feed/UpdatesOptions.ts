import type { ObservableInput } from 'rxjs';
import type { Offset } from '../codecs/Offset.js';
import type { RetryPolicy } from '../http/RetryPolicy.js';
import type { Gap } from './Gap.js';

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
