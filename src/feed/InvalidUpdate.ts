import type { Offset } from '../codecs/Offset.js';
import type { Problem } from '../codecs/Problem.js';

/** An update that does not decode, passed on by a feed with `onInvalid: 'emit'`. */
export interface InvalidUpdate {
  /** Tells it from the updates. */
  readonly _tag: 'InvalidUpdate';
  /** Where it stands on the ledger. One whose offset cannot be read ends the feed in any case: nobody could go past it. */
  readonly offset: Offset;
  /** The places that do not decode, of a list about a hundred at most; never what stands there. */
  readonly problems: readonly Problem[];
}
