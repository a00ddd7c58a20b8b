import type { Kind } from './elements.js';

/** The ledger that a server serves, and how far away it is. */
export interface ServerSpec {
  readonly kind: Kind;
  /** How many updates there are. */
  readonly count: number;
  /** One offset in so many has an update. */
  readonly step: number;
  /** How long the way there and back takes. */
  readonly roundTripMs: number;
}

/** What a server has counted since it started. */
export interface Served {
  readonly requests: number;
  /** Answers to bounded ranges. */
  readonly pages: number;
  readonly emptyPages: number;
  readonly updates: number;
  /** When each of the updates that came since was appended, in milliseconds of the machine's clock. */
  readonly appendedAt: readonly number[];
}

/** What a server is told to do. */
export type ServerOrder =
  { readonly order: 'tell' } | { readonly order: 'append'; readonly perSecond: number; readonly count: number };
