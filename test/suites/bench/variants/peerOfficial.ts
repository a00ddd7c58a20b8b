import { readPages } from '../bareRead.js';
import type { Load, Outcome } from '../Load.js';
import { officialReader } from '../peers/official.js';

/** The vendor's client. */
export const measure = async (load: Load): Promise<Outcome> => readPages(load, await officialReader(load.url));
