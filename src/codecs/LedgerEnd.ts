import type * as t from 'io-ts';
import { defaulting } from './internal/defaulting.js';
import { message } from './internal/message.js';
import { repeated } from './internal/repeated.js';
import { Offset } from './Offset.js';
import { SynchronizerTime } from './SynchronizerTime.js';

/** How far a participant's ledger has come. */
export interface LedgerEnd {
  /** The offset of the last update; 0 on an empty ledger. */
  readonly offset: Offset;
  /** How far each synchronizer's clock has come; empty before 3.6. */
  readonly synchronizerTimes: readonly SynchronizerTime[];
}

/** Codec of `LedgerEnd`. */
export const LedgerEnd: t.Type<LedgerEnd, unknown> = message<LedgerEnd>('LedgerEnd', {
  offset: defaulting(Offset, 0),
  synchronizerTimes: repeated(SynchronizerTime),
});
