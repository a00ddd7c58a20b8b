import { bareRead } from '../bareRead.js';
import type { Load, Outcome } from '../Load.js';

/** fetch and JSON.parse, one request after the other, and nothing else. */
export const measure = (load: Load): Promise<Outcome> => bareRead(load, (json) => json);
