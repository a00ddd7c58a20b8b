import * as t from 'io-ts';
import type { Offset } from '../../codecs/Offset.js';

/** What a file is to be, and what it is when it is complete; kept in a file beside it. */
export interface Account {
  readonly version: 1;
  /** Exclusive. */
  readonly from: Offset;
  /** Inclusive. */
  readonly to: Offset;
  /** What was asked for: text that is equal for equal requests. */
  readonly selection: string;
  /** Whose offsets these are, where the participant tells it. */
  readonly participantId?: string;
  /** Absent until the file is whole. */
  readonly complete?: { readonly updates: number; readonly bytes: number; readonly sha256: string };
}

/** Codec of `Account`. */
export const Account: t.Type<Account, unknown> = t.intersection([
  t.readonly(t.type({ version: t.literal(1), from: t.number, to: t.number, selection: t.string })),
  t.readonly(
    t.partial({
      participantId: t.string,
      complete: t.readonly(t.type({ updates: t.number, bytes: t.number, sha256: t.string })),
    }),
  ),
]);
