import { toPage } from '../../../../src/feed/Page.js';
import type { Load, Outcome } from '../Load.js';
import { parseRead } from '../parseRead.js';

/** JSON.parse of pages, and the library's decoding of them. */
export const measure = (load: Load): Promise<Outcome> =>
  parseRead(load, (json, first) => {
    const range = { beginExclusive: first - 1, endInclusive: first + 1_000 };
    const page = toPage({ path: '/v2/updates/flats', json, range, limit: 200, onInvalid: 'fail' });
    if (page.failure !== undefined) throw page.failure;
    return page.updates;
  });
