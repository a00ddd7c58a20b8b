import { readPages } from '../bareRead.js';
import type { Load, Outcome } from '../Load.js';
import { openapiZodReader } from '../peers/openapi.js';

/** openapi-fetch and zod. */
export const measure = async (load: Load): Promise<Outcome> => readPages(load, await openapiZodReader(load.url));
