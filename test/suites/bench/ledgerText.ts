import { Buffer } from 'node:buffer';
import { elementText, marker, type Kind } from './elements.js';

/** Where the ledgers of the benchmarks start: far enough for all offsets to be of one width. */
export const origin = 1_000_000_000;

/** How many elements differ before the same come again, at other offsets. */
const cycle = 200;

/**
 * The pages of a ledger whose nth update, from 1 on, stands at `origin + n * step`. All that is done for one is a copy
 * of a text made before and the offsets put in: a server must not be what is measured.
 */
export function pagesOf(kind: Kind, step: number): (first: number, count: number) => Buffer {
  const once = Array.from({ length: cycle }, (_, n) => elementText(kind, n));
  const texts = [...once, ...once];
  const all = Buffer.from(texts.join(','), 'latin1');
  const starts: number[] = [];
  const places: (readonly number[])[] = [];
  let start = 0;
  for (const text of texts) {
    starts.push(start);
    places.push([...text.matchAll(new RegExp(String(marker), 'g'))].map(({ index }) => start + index));
    start += text.length + 1;
  }
  starts.push(start);
  return (first, count) => {
    const from = first % cycle;
    const begin = starts[from] ?? 0;
    const end = Math.max(begin, (starts[from + count] ?? 0) - 1);
    const page = Buffer.allocUnsafe(end - begin + 2);
    page.write('[', 0, 'latin1');
    all.copy(page, 1, begin, count === 0 ? begin : end);
    for (let i = 0; i < count; i += 1) {
      const offset = String(origin + (first + i) * step);
      for (const place of places[from + i] ?? []) page.write(offset, place - begin + 1, 'latin1');
    }
    page.write(']', count === 0 ? 1 : end - begin + 1, 'latin1');
    return count === 0 ? page.subarray(0, 2) : page;
  };
}
