import * as t from 'io-ts';
import { defaulting } from './internal/defaulting.js';
import { isRecord } from './internal/isRecord.js';
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

const fields = message<LedgerEnd>('LedgerEnd', {
  offset: defaulting(Offset, 0),
  synchronizerTimes: repeated(SynchronizerTime),
});

/** The error of a proxy, say: taken for the end of an empty ledger, it would make a feed believe that the ledger was reset. */
const isSomethingElse = (u: unknown): boolean =>
  isRecord(u) && !('offset' in u) && Object.keys(u).some((key) => key !== 'synchronizerTimes');

/** Codec of `LedgerEnd`. */
export const LedgerEnd: t.Type<LedgerEnd, unknown> = new t.Type(
  fields.name,
  fields.is,
  (u, context) =>
    isSomethingElse(u) ? t.failure(u, t.appendContext(context, 'offset', Offset)) : fields.validate(u, context),
  fields.encode,
);
