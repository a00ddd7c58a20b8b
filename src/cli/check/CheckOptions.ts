import type { Party } from '../../codecs/Party.js';
import type { Connection } from '../arguments/Connection.js';

/** Which ledger to look at, and how to tell. */
export interface CheckOptions extends Connection {
  /** As whom to read. */
  readonly parties: readonly Party[] | 'any';
  /** Whether a program reads it. */
  readonly isJson: boolean;
}
