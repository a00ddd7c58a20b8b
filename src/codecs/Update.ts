import type * as t from 'io-ts';
import { isRecord } from './internal/Codec.js';
import { envelope } from './internal/message.js';
import { findOffset, oneOf, unknownWithOffset } from './internal/variant.js';
import { OffsetCheckpoint } from './OffsetCheckpoint.js';
import { Reassignment } from './Reassignment.js';
import { type Offset, Timestamp } from './scalars.js';
import { TopologyTransaction } from './TopologyTransaction.js';
import { Transaction } from './Transaction.js';

/**
 * An update of a variant that this version does not know, undecoded. Feeds emit it, so a newer ledger does not end
 * them.
 *
 * @category Updates
 */
export interface UnknownUpdate {
  /** The variant. */
  readonly _tag: 'UnknownUpdate';
  /** The wire name of the variant. */
  readonly variant: string;
  /** The update's position on this participant's ledger. */
  readonly offset: Offset;
  /** The content, undecoded. */
  readonly value: unknown;
}

/** @inline */
type Known = Transaction | Reassignment | TopologyTransaction | OffsetCheckpoint;

/**
 * An element of the ledger's feed: a union, discriminated by `_tag`.
 *
 * @category Updates
 */
export type Update = Known | UnknownUpdate;

/**
 * Codec of `Update`: `{"Transaction": {"value": {...}}}` and so on.
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
 * @category Updates
 */
export const Update: t.Type<Update, unknown> = oneOf<Known, UnknownUpdate>(
  'Update',
  {
    Transaction: envelope('value', Transaction),
    Reassignment: envelope('value', Reassignment),
    TopologyTransaction: envelope('value', TopologyTransaction),
    OffsetCheckpoint: envelope('value', OffsetCheckpoint),
  },
  unknownWithOffset('UnknownUpdate'),
);

/**
 * Codec of an element in a response with updates, `{"update": {...}}`. It decodes to the update itself.
 *
 * @category Updates
 */
export const UpdateElement: t.Type<Update, unknown> = envelope('update', Update);

/** The readable part of what identifies an element. */
interface ElementHead {
  readonly offset?: Offset;
  readonly updateId?: string;
  readonly synchronizerId?: string;
  readonly recordTime?: Timestamp;
}

/**
 * Returns what identifies an element that may be invalid.
 *
 * @param field - the field that has the content of the element
 */
export function headOfElement(element: unknown, field = 'update'): ElementHead {
  const content = isRecord(element) ? element[field] : undefined;
  const variant = isRecord(content) ? Object.values(content)[0] : undefined;
  const offset = findOffset(variant);
  const value = isRecord(variant) && isRecord(variant['value']) ? variant['value'] : undefined;
  const texts = ['updateId', 'synchronizerId', 'recordTime'].flatMap((key) => {
    const text = value?.[key];
    return typeof text === 'string' && text !== '' && (key !== 'recordTime' || Timestamp.is(text)) ? [[key, text]] : [];
  });
  return { ...(offset !== undefined && { offset }), ...(Object.fromEntries(texts) as Omit<ElementHead, 'offset'>) };
}
