import type { Offset } from '../../codecs/Offset.js';
import type { Update } from '../../codecs/Update.js';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';

/** What to print of which ledger. */
export interface TailOptions {
  readonly ledger: string;
  /** Provides the token of a request; throws where there is none. Absent: no token is sent. */
  readonly token: (() => string) | undefined;
  /** Exclusive; `'end'` for only what is new. */
  readonly from: Offset | 'end';
  /** Inclusive; absent for a feed that does not end. */
  readonly to: Offset | undefined;
  readonly format: UpdateFormat;
  /** Print only these; none for all. */
  readonly variants: readonly Update['_tag'][];
  /** Print only updates of these; none for all. */
  readonly synchronizers: readonly string[];
}
