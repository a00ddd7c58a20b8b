import type { Offset } from '../codecs/scalars.js';
import type { LedgerResetError, PrunedError } from '../errors/feed.js';
import type { LedgerError } from '../errors/LedgerError.js';

/** What happens to a feed. */
export type FeedDiagnostic =
  | FeedStarted
  | PollSent
  | PageReceived
  | SocketOpened
  | SocketClosed
  | RetryScheduled
  | PageLimitLearned
  | EndpointSwitched
  | CaughtUp
  | FellBehind
  | GapFound
  | FeedEnded;

/** Somebody subscribed to a feed. */
export interface FeedStarted {
  /** Tells the events apart. */
  readonly _tag: 'FeedStarted';
  /** After which offset it begins. */
  readonly beginExclusive: Offset;
  /** Up to which offset it goes; absent for one without an end. */
  readonly endInclusive?: Offset;
}

/** A request for updates was sent: for a page of a range, or without an end, for what comes next. */
export interface PollSent {
  /** Tells the events apart. */
  readonly _tag: 'PollSent';
  /** The path that was asked. */
  readonly path: string;
  /** After which offset. */
  readonly beginExclusive: Offset;
  /** Up to which offset; absent for a request without an end. */
  readonly endInclusive?: Offset;
  /** The most elements that were asked for. */
  readonly limit: number;
  /** How long nothing may come before the service answers, in milliseconds; only of a request without an end. */
  readonly idleTimeoutMs?: number;
}

/** Such a request was answered well, or a WebSocket has brought an element. What is in it is emitted in its turn. */
export interface PageReceived {
  /** Tells the events apart. */
  readonly _tag: 'PageReceived';
  /** The path that answered. */
  readonly path: string;
  /** How many elements the answer has: updates and checkpoints, also such as are not emitted. */
  readonly count: number;
  /** The offset of the first that is emitted; absent where none is. */
  readonly first?: Offset;
  /** The offset of the last that is emitted; absent where none is. */
  readonly last?: Offset;
  /** How long the answer took, or nothing had come before the element, in milliseconds. */
  readonly durationMs: number;
}

/** A WebSocket is open, by which the feed follows; it polls no more. */
export interface SocketOpened {
  /** Tells the events apart. */
  readonly _tag: 'SocketOpened';
  /** The path of the upgrade. */
  readonly path: string;
  /** After which offset. */
  readonly beginExclusive: Offset;
}

/** A WebSocket has ended, or none was to be had. The feed goes on by HTTP, from where it stands. */
export interface SocketClosed {
  /** Tells the events apart. */
  readonly _tag: 'SocketClosed';
  /** The path of the upgrade. */
  readonly path: string;
  /** Why. */
  readonly cause: LedgerError;
  /** How long no feed of the ledger tries to open another, in milliseconds. */
  readonly againInMs: number;
}

/** A transient failure; the feed asks again from where it stands. */
export interface RetryScheduled {
  /** Tells the events apart. */
  readonly _tag: 'RetryScheduled';
  /** What failed. */
  readonly cause: LedgerError;
  /** How long the feed waits before it asks again, in milliseconds. */
  readonly delayMs: number;
  /** How many times in a row it has failed. */
  readonly failures: number;
  /** How much of the policy's `giveUpAfterMs` is used up after this wait, in milliseconds. */
  readonly spentMs: number;
}

/** The service refused a page as too large, or it was too large to be read: from now on no feed asks for more than this. */
export interface PageLimitLearned {
  /** Tells the events apart. */
  readonly _tag: 'PageLimitLearned';
  /** The most elements that are asked for. */
  readonly pageLimit: number;
}

/** The service does not serve updates at a path; from now on all feeds ask at another. */
export interface EndpointSwitched {
  /** Tells the events apart. */
  readonly _tag: 'EndpointSwitched';
  /** The path that is not served. */
  readonly from: string;
  /** The path that is asked instead. */
  readonly to: string;
}

/** Everything up to the ledger end has been emitted; what is emitted from now on is new. */
export interface CaughtUp {
  /** Tells the events apart. */
  readonly _tag: 'CaughtUp';
  /** Where the feed stands. */
  readonly cursor: Offset;
}

/** A feed that had caught up has more than one page before it again: an outage, a burst, a subscriber that is slow. */
export interface FellBehind {
  /** Tells the events apart. */
  readonly _tag: 'FellBehind';
  /** Where the feed stands. */
  readonly cursor: Offset;
  /** How many offsets it is behind the ledger end, not all of which are updates; absent where the service does not tell its end. */
  readonly lag?: number;
}

/** The ledger cannot be read on from the cursor without a gap. */
export interface GapFound {
  /** Tells the events apart. */
  readonly _tag: 'GapFound';
  /** Where the feed stands. */
  readonly cursor: Offset;
  /** Why. */
  readonly cause: PrunedError | LedgerResetError;
  /** After which offset the feed goes on, as `onGap` chose; absent where it ends. */
  readonly resumesFrom?: Offset;
}

/** A feed has ended; nothing is asked for it any more. One of a processor may end before it has started. */
export interface FeedEnded {
  /** Tells the events apart. */
  readonly _tag: 'FeedEnded';
  /** How: its `endInclusive` was reached, it failed, or its subscriber left. */
  readonly how: 'completed' | 'failed' | 'unsubscribed';
  /** Of one that failed; absent where it was an error of the caller's own code. */
  readonly error?: LedgerError;
}
