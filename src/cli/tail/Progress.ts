import type { Offset } from '../../codecs/Offset.js';

/** How far a command has come; the one place where it is kept. */
export interface Progress {
  /** The offset of the last update that was read, and printed unless left out; absent before it is known where to begin. */
  cursor: Offset | undefined;
  /** How many were read. */
  count: number;
}
