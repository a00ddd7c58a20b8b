import type { Listeners } from '../events/Listeners.js';
import type { Link } from '../http/Link.js';

/** The two paths at which updates are served: the one of the interface document, and the one that replaces it. */
export type UpdatesPath = '/v2/updates/flats' | '/v2/updates';

/** What the feeds of a ledger find out about its service, and keep for its lifetime. */
export interface Learned {
  /** Where updates are served. */
  updatesPath: UpdatesPath;
  /** Whether another path may be tried where this one is not served. */
  readonly maySwitch: boolean;
  /** The largest page that the service gives, as far as is known. */
  pageLimit: number;
  /** The longest that the service may be asked to wait, in milliseconds, as far as is known. */
  longestPollMs: number;
  /** How many offsets one page may reach over, as far as is known: a service may not be able to search more in time. */
  longestRange: number;
  /** When the service was found not to tell its ledger end, in milliseconds; `-Infinity` if it does. */
  endUntoldAt: number;
  /** When the last WebSocket ended, in milliseconds; 0 if none has. */
  socketEndedAt: number;
  /** For how long no other is opened then, in milliseconds. */
  noSocketForMs: number;
  /** How many WebSockets in a row have ended without having brought anything. */
  socketFailures: number;
}

/** A ledger service: the way to it, and what is known of it. */
export interface Service {
  readonly link: Link;
  readonly learned: Learned;
  readonly events: Listeners;
  /** How many feeds there have been. */
  feeds: number;
}
