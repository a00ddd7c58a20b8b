import type { Hash } from 'node:crypto';
import type { Offset } from '../../codecs/Offset.js';

/** What a file has in whole lines. */
export interface Extent {
  readonly updates: number;
  readonly bytes: number;
  /** The offset of the last update; absent of an empty file. */
  readonly last: Offset | undefined;
  /** Of these lines; to be gone on with. */
  readonly hash: Hash;
}
