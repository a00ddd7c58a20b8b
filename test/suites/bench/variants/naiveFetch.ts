import { bareRead } from '../bareRead.js';
import type { Load, Outcome } from '../Load.js';
import { naivePage } from '../naiveCodec.js';

/** The same, each answer decoded by a codec as io-ts is usually written. */
export const measure = (load: Load): Promise<Outcome> => bareRead(load, naivePage);
