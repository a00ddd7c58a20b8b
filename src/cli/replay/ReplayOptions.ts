import type { Offset } from '../../codecs/Offset.js';
import type { Connection } from '../arguments/Connection.js';
import type { Selection } from '../arguments/Selection.js';

/** Which range of which ledger, and into which file. */
export interface ReplayOptions extends Connection, Selection {
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive; `'end'` for where the ledger ends when the file is begun. */
  readonly to: Offset | 'end';
  /** The path of the file. */
  readonly out: string;
}
