import type { Load, Outcome } from '../Load.js';
import { naivePage } from '../naiveCodec.js';
import { parseRead } from '../parseRead.js';

/** JSON.parse of pages, each decoded by a codec as io-ts is usually written. */
export const measure = (load: Load): Promise<Outcome> => parseRead(load, naivePage);
