import type { Offset } from '../codecs/scalars.js';
import type { DecodeError, LedgerResetError, PrunedError } from '../errors/feed.js';
import type { LedgerError } from '../errors/LedgerError.js';

/**
 * A diagnostic of a feed, or of a request.
 *
 * @inline
 */
export type FeedDiagnostic =
  /** A feed was subscribed to. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'FeedStarted';
      /** The offset after which the feed begins. */
      readonly beginExclusive: Offset;
      /** The offset at which the feed ends. Absent for a feed without an end. */
      readonly endInclusive?: Offset;
    }
  /**
   * The participant hosts a party of a feed or view on no synchronizer, so that there is nothing of it: the id may be mistyped.
   * Looked up once, when a feed without elements begins to wait.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'PartyUnknown';
      /** The party. */
      readonly party: string;
    }
  /** A request for updates, or for completions, was sent: for a page of a range or, without an end, for the next ones. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'PollSent';
      /** The path of the request. */
      readonly path: string;
      /** The offset after which its elements are new. The response may begin with the last one before that, as a proof. */
      readonly beginExclusive: Offset;
      /** The offset at which its range ends. Absent for a request without an end. */
      readonly endInclusive?: Offset;
      /** The maximum number of elements in the response. */
      readonly limit: number;
      /** After how many milliseconds without an element the participant answers. Only for a request without an end. */
      readonly idleTimeoutMs?: number;
    }
  /** A page, or an element of a WebSocket, was received. The feed emits its updates or completions in order. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'PageReceived';
      /** The path of the request or of the WebSocket. */
      readonly path: string;
      /** The number of elements: updates or completions, and checkpoints, including those that are not emitted. */
      readonly count: number;
      /** The offset of the first element that is emitted. Absent if none is. */
      readonly first?: Offset;
      /** The offset of the last element that is emitted. Absent if none is. */
      readonly last?: Offset;
      /** How long the response took, or the time since the previous element of the WebSocket, in milliseconds. */
      readonly durationMs: number;
    }
  /** A WebSocket is open. The feed follows the ledger through it and stops polling. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SocketOpened';
      /** The path of the upgrade. */
      readonly path: string;
      /** The offset after which it begins. */
      readonly beginExclusive: Offset;
    }
  /** A WebSocket has closed or could not be opened. The feed continues over HTTP from its cursor. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'SocketClosed';
      /** The path of the upgrade. */
      readonly path: string;
      /** The reason. */
      readonly cause: LedgerError;
      /** How long no feed of the ledger opens another WebSocket, in milliseconds. */
      readonly againInMs: number;
    }
  /** A request failed with a transient error. The feed retries from its cursor. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'RetryScheduled';
      /** The error. */
      readonly cause: LedgerError;
      /** The delay before the retry, in milliseconds. */
      readonly delayMs: number;
      /** The number of failures in a row. */
      readonly failures: number;
      /** How much of the policy's `giveUpAfterMs` is used up at the end of this delay, in milliseconds. */
      readonly spentMs: number;
    }
  /**
   * The participant refused a page as too large, or a page was too large to be read: no feed requests larger pages until this
   * limit grows. Or it has grown, because one request for more succeeded after several pages of this limit.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'PageLimitLearned';
      /** The new limit of a page: the number of updates. */
      readonly pageLimit: number;
    }
  /** The requests of the ledger go to another address than before, because of an outage or of the function `baseUrl`. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'AddressChanged';
      /** The URL of the participant before. */
      readonly from: string;
      /** The URL of the participant now. */
      readonly to: string;
    }
  /** The participant does not serve a path. From now on all feeds use another path. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'EndpointSwitched';
      /** The path that is not served. */
      readonly from: string;
      /** The path that replaces it. */
      readonly to: string;
    }
  /** A feed has emitted everything up to the ledger end. Later updates are new. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'CaughtUp';
      /** The cursor of the feed. */
      readonly cursor: Offset;
    }
  /**
   * A feed that had caught up lags by more than a page again: after an outage, during a burst, or with a slow subscriber.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'FellBehind';
      /** The cursor of the feed. */
      readonly cursor: Offset;
      /**
       * The number of offsets between the cursor and the ledger end, not all of which are updates. Absent if the participant does
       * not serve the ledger end.
       */
      readonly lag?: number;
    }
  /** The feed cannot continue from its cursor without a gap. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'GapFound';
      /** The cursor of the feed. */
      readonly cursor: Offset;
      /** The reason. A `DecodeError` if the snapshot at the cursor has only half of a contract in flight. */
      readonly cause: PrunedError | LedgerResetError | DecodeError;
      /** The offset after which the feed resumes, as returned by `onGap`. Absent if the feed ends. */
      readonly resumesFrom?: Offset;
    }
  /**
   * A feed continues at another offset of the same history, without a gap: at its last update, because what follows that may have
   * changed; or at the offsets that its updates have now, after a restore or on another participant.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'PositionMoved';
      /**
       * Why: after an `'outage'`, the feed reads again what follows its last update; the participant was `'restored'`, and has
       * its updates at other offsets; or the feed was `'relocated'` to another participant.
       */
      readonly reason: 'outage' | 'restored' | 'relocated';
      /** Where the feed was. */
      readonly from: Address;
      /** Where it continues. */
      readonly to: Address;
    }
  /**
   * After an outage, nothing shows whether the ledger is still the same: the feed has read no update that the ledger still has,
   * and the participant does not report its ID. The feed continues. Reported once for each feed.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'LedgerUnproven';
      /** The cursor of the feed. */
      readonly cursor: Offset;
    }
  /**
   * A feed has ended. Reported once for each number of a feed: for the run of a processor, a view or a snapshot as a whole, which
   * may end before `FeedStarted`.
   */
  | {
      /** Discriminates the union. */
      readonly _tag: 'FeedEnded';
      /** Whether it completed, failed, or was unsubscribed from or stopped. */
      readonly how: 'completed' | 'failed' | 'unsubscribed';
      /**
       * The error of a feed that failed: a `LedgerError`, or an error of a store or a handler that ends a processor, such as a
       * `RelayError`. Absent for an error of the caller's own code.
       */
      readonly error?: Error;
    }
  /** A request has no response yet, and its timeout is not over. Not reported while a poll waits for updates. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'ResponseDelayed';
      /** The path of the request. */
      readonly path: string;
      /** The host and the port of the participant or proxy. */
      readonly host: string;
      /** The time since the request was sent, in milliseconds. */
      readonly waitedMs: number;
    }
  /** The participant refused a token, and the provider returned another one. */
  | {
      /** Discriminates the union. */
      readonly _tag: 'TokenRefreshed';
      /** The path of the refused request. */
      readonly path: string;
    };

/**
 * An offset of a participant.
 *
 * @inline
 */
interface Address {
  /** The offset. */
  readonly offset: Offset;
  /** The participant; absent if it is not known. */
  readonly participantId?: string;
}
