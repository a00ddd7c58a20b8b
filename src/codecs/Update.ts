import type * as t from 'io-ts';
import { isRecord } from './internal/Codec.js';
import { enveloped } from './internal/message.js';
import { offsetWithin, oneOf, unknownAt } from './internal/variant.js';
import { OffsetCheckpoint } from './OffsetCheckpoint.js';
import { Reassignment } from './Reassignment.js';
import type { Offset } from './scalars.js';
import { TopologyTransaction } from './TopologyTransaction.js';
import { Transaction } from './Transaction.js';

/** An update of a variant that this version does not know: passed on as it came, so that a newer ledger ends no feed. */
export interface UnknownUpdate {
  /** The variant. */
  readonly _tag: 'UnknownUpdate';
  /** The wire's name of the variant. */
  readonly variant: string;
  /** Where it stands on this participant's ledger. */
  readonly offset: Offset;
  /** What stands under that name, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known = Transaction | Reassignment | TopologyTransaction | OffsetCheckpoint;

/** One element of the ledger's feed, told apart by `_tag`. */
export type Update = Known | UnknownUpdate;

/**
 * Codec of `Update`: `{"Transaction": {"value": {...}}}` and the like.
 *
 * @example
 * ```ts
 * import { either as E } from 'fp-ts';
 * import { Update } from 'canton-rx';
 *
 * const wire = { OffsetCheckpoint: { value: { offset: 7, synchronizerTimes: null } } };
 * Update.decode(wire); // right({ _tag: 'OffsetCheckpoint', offset: 7, synchronizerTimes: [] })
 * E.isLeft(Update.decode({ OffsetCheckpoint: { value: { offset: -1 } } })); // true
 * ```
 */
export const Update: t.Type<Update, unknown> = oneOf<Known, UnknownUpdate>(
  'Update',
  {
    Transaction: enveloped('value', Transaction),
    Reassignment: enveloped('value', Reassignment),
    TopologyTransaction: enveloped('value', TopologyTransaction),
    OffsetCheckpoint: enveloped('value', OffsetCheckpoint),
  },
  unknownAt('UnknownUpdate'),
);

/** Codec of an element of the updates answer, `{"update": {...}}`: decodes to the update itself. */
export const UpdateElement: t.Type<Update, unknown> = enveloped('update', Update);

/** The offset of an element that may not decode, where it can be read; to say which one failed. */
export function offsetOfElement(element: unknown): Offset | undefined {
  const update = isRecord(element) ? element['update'] : undefined;
  return isRecord(update) ? Object.values(update).map(offsetWithin)[0] : undefined;
}
