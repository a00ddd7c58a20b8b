import { UpdateElement } from '../../../../src/codecs/Update.js';
import { toPage } from '../../../../src/feed/Page.js';
import { type Load, type Outcome, stopwatch } from '../Load.js';
import { origin, pagesOf } from '../ledgerText.js';
import { naivePage } from '../naiveCodec.js';

const perPage = 200;
const texts = 16;

/** Parses different pages and processes each. No page is retained, as in a feed. */
export function parseRead({ kind, count }: Load, read: (json: unknown, first: number) => unknown): Promise<Outcome> {
  const pageOf = pagesOf(kind, 1);
  const pages = Array.from({ length: texts }, (_, i) => {
    const first = 1 + i * 237;
    return { first, text: pageOf(first, perPage).toString('latin1') };
  });
  const watch = stopwatch(count);
  while (watch.count() < count) {
    for (const { first, text } of pages) {
      const page = read(JSON.parse(text), origin + first);
      if (!Array.isArray(page) || page.length !== perPage) throw new Error('a page is not whole');
      watch.add(perPage);
    }
  }
  return Promise.resolve({ cost: watch.each() });
}

/** JSON.parse of pages, and nothing else. */
export const parse = (load: Load): Promise<Outcome> => parseRead(load, (json) => json);

/** JSON.parse of pages, and the library's decoder. */
export const decode = (load: Load): Promise<Outcome> =>
  parseRead(load, (json, first) => {
    const range = { beginExclusive: first - 1, endInclusive: first + 1_000 };
    const page = toPage({
      form: { field: 'update', codec: UpdateElement },
      path: '/v2/updates/flats',
      json,
      range,
      limit: 200,
      onUndecodable: 'fail',
    });
    if (page.failure !== undefined) throw page.failure;
    return page.updates;
  });

/** JSON.parse of pages, and a decoder in usual io-ts style. */
export const decodeNaive = (load: Load): Promise<Outcome> => parseRead(load, naivePage);
