import type * as t from 'io-ts';
import { enveloped } from './internal/enveloped.js';
import { isRecord } from './internal/isRecord.js';
import { offsetWithin } from './internal/offsetWithin.js';
import type { Offset } from './Offset.js';
import { Update } from './Update.js';

/** Codec of an element of the updates answer, `{"update": {...}}`: decodes to the update itself. */
export const UpdateElement: t.Type<Update, unknown> = enveloped('update', Update);

/** The offset of an element that may not decode, where it can be read; to say which one failed. */
export function offsetOfElement(element: unknown): Offset | undefined {
  const update = isRecord(element) ? element['update'] : undefined;
  return isRecord(update) ? Object.values(update).map(offsetWithin)[0] : undefined;
}
