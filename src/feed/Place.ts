import type { Offset } from '../codecs/Offset.js';
import type { Page } from './Page.js';
import type { Reading } from './Reading.js';

/** Where a feed stands between two requests. */
export interface Place {
  /** Everything up to here has been emitted, or does not match the request; down to here, in descending order. */
  readonly cursor: Offset;
  /** Where a feed that goes downward ends. */
  readonly floor: Offset;
  /** What to ask for next; while it listens, what comes next comes by itself. */
  readonly next: 'ledgerEnd' | 'page' | 'pageDown' | 'poll' | 'listening' | 'nothing';
  /** How far pages go: as far as the ledger is known to have come, or as the request asks. */
  readonly target: Offset;
  /** What lies ahead of the cursor and is being read already, in order. */
  readonly ahead: readonly Reading[];
  /** How many elements the last pages had: the older they are, the less they count. */
  readonly found: number;
  /** Over how many offsets those pages reached, counted in the same way. */
  readonly searched: number;
  /** How many ranges to read at a time. */
  readonly atATime: number;
  /** How long a page takes at best, in milliseconds, as far as those since the ledger end was read tell. */
  readonly fastestMs: number;
  /** Whether all that there was has been emitted, and less than a page has come since. */
  readonly hasCaughtUp: boolean;
  /** When the ledger end was read last, in milliseconds. */
  readonly endReadAt: number;
  /** How many elements the next poll asks for. */
  readonly pollLimit: number;
  /** When the last poll was sent, in milliseconds. */
  readonly polledAt: number;
  /** How many polls in a row have waited for an update in vain. */
  readonly fruitless: number;
}

/** What one request has come to: perhaps a page, and the place after it. */
export interface Step {
  readonly place: Place;
  readonly page?: Page;
  /** What it has come to: nothing left to do but to wait, or more than a page again. */
  readonly turn?: 'CaughtUp' | 'FellBehind';
}
