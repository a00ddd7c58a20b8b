import type { Load, Outcome } from '../Load.js';
import { parseRead } from '../parseRead.js';

/** JSON.parse of pages, and nothing else. */
export const measure = (load: Load): Promise<Outcome> => parseRead(load, (json) => json);
