import type { Asked } from '../../helpers/scripted.js';
import type { Entry } from '../../helpers/virtualLedger.js';
import type { ForcedEnd } from './forcedEnd.js';

/** What of the ledger has been delivered whole: all from `begin` to `reached`. */
export interface Cover {
  readonly begin: number;
  readonly reached: number;
  /** All that the ledger had there then. */
  readonly entries: readonly Entry[];
  /** What a feed must end with behind these. */
  readonly bad?: ForcedEnd | undefined;
  /** Whether it is the rest of the range of the one before: both are one page then. */
  readonly isRest?: boolean;
}

/** A page that had less than it was asked for: a feed that reads ahead may ask for the rest before it shows anything. */
export interface Unproven {
  readonly cover: Cover;
  readonly bound: number;
  /** Nothing is known yet; a token is being fetched; the request for the rest. */
  state: 'open' | 'token' | Asked;
  /** When that became open, in milliseconds, and how much had been emitted then. */
  since: { readonly ms: number; readonly emitted: number };
}
