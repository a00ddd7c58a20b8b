import type { Offset } from '../../codecs/Offset.js';
import type { Connection } from '../arguments/Connection.js';
import type { Selection } from '../arguments/Selection.js';

/** What to print of which ledger. */
export interface TailOptions extends Connection, Selection {
  /** Exclusive; `'end'` for only what is new. */
  readonly from: Offset | 'end';
  /** Inclusive; absent for a feed that does not end. */
  readonly to: Offset | undefined;
  /** Whether the ledger is to push what is new. */
  readonly isPushed: boolean;
  /** Whether people read it, a row each, or programs, one JSON object a line. */
  readonly isPretty: boolean;
}
