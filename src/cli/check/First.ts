import type { Offset } from '../../codecs/Offset.js';
import type { Answer } from '../probe/Answer.js';

/** An answer, or the error of having none. */
export type Outcome = { readonly answer: Answer } | { readonly error: unknown };

/** What was asked first, all at a time; the other checks build on it. */
export interface First {
  readonly version: Outcome;
  readonly end: Outcome;
  readonly pruned: Outcome;
  /** Where the ledger ends, and up to where it is pruned, if that was told. */
  readonly endOffset: Offset | undefined;
  readonly prunedOffset: Offset | undefined;
}
