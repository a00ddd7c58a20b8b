import { readPages } from '../bareRead.js';
import type { Load, Outcome } from '../Load.js';
import { openapiFetchReader } from '../peers/openapi.js';

/** openapi-fetch. */
export const measure = async (load: Load): Promise<Outcome> => readPages(load, await openapiFetchReader(load.url));
