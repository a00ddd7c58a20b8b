import type { Offset } from '../../codecs/Offset.js';

/** How far a replay has come; the one place where it is kept. */
export interface ReplayProgress {
  /** The offset of the last update that was read, and written unless left out. */
  cursor: Offset;
  /** How many are in the file, or wait to be. */
  updates: number;
}
