import type { Update } from '../../codecs/Update.js';
import type { UpdateFormat } from '../../codecs/UpdateFormat.js';

/** Which updates, and what of them. */
export interface Selection {
  /** What the ledger is asked for. */
  readonly format: UpdateFormat;
  /** Of what it sends, only these; none for all. */
  readonly variants: readonly Update['_tag'][];
  /** Of what it sends, only updates of these; none for all. */
  readonly synchronizers: readonly string[];
}
