import { acsDelta } from '../../codecs/acsDelta.js';
import type { Offset } from '../../codecs/Offset.js';
import type { Party } from '../../codecs/Party.js';

/** The body that asks for the updates of a range. */
export const updatesBody = (
  parties: readonly Party[] | 'any',
  range: { readonly beginExclusive: Offset; readonly endInclusive?: Offset },
): object => ({ ...range, updateFormat: acsDelta({ parties }) });
