/** A feed that calls itself for each page would fill the stack, or the memory. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { asapScheduler, lastValueFrom, NEVER, observeOn, of, share, takeUntil, tap } from 'rxjs';
import type { HttpPort } from '../../src/http/HttpPort.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { effort } from '../helpers/effort.js';
import { updateFormat, upTo } from '../helpers/world.js';
import { transaction, ok } from '../helpers/wire.js';

const thousands = effort(5, 100);
const pages = thousands * 1_000;

/** One new update a page, after the last one, asynchronously. */
const port: HttpPort = ({ url, body = '{}' }) => {
  const { beginExclusive } = JSON.parse(body) as { readonly beginExclusive: number };
  const limit = Number(new URL(url).searchParams.get('limit'));
  const page = upTo(Math.min(limit, pages - beginExclusive)).map((n) => transaction(beginExclusive + n));
  const reply = url.endsWith('ledger-end') ? ok({ offset: pages }) : ok(page);
  return of(reply).pipe(observeOn(asapScheduler));
};

/** The number of stack frames. */
function depth(): number {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = Infinity;
  const { length } = (new Error().stack ?? '').split('\n');
  Error.stackTraceLimit = limit;
  return length;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
const megabytes = (): number => {
  collect();
  return process.memoryUsage().heapUsed / 2 ** 20;
};

describe(`a feed of ${pages} pages`, () => {
  it('has a flat stack and a flat heap, also after share and takeUntil', async () => {
    const depths: number[] = [];
    const heaps: number[] = [];
    let count = 0;
    const feed$ = createLedger({ baseUrl: 'http://ledger.example', port })
      .updates({ beginExclusive: 0, endInclusive: pages, updateFormat }, { maxPageSize: 1 })
      .pipe(
        tap(() => {
          count += 1;
          if (count % 1_000 !== 0) return;
          depths.push(depth());
          // fails early, not only at the end
          expect(depths.at(-1)).toBeLessThan((depths[0] ?? 0) + 10);
          heaps.push(megabytes());
        }),
        share(),
        takeUntil(NEVER),
      );
    await lastValueFrom(feed$);
    expect(count).toBe(pages);
    expect(heaps).toHaveLength(thousands);
    // after the first pages, which compile code; an update for each page would be a megabyte in 3 000 pages
    expect((heaps.at(-1) ?? Infinity) - (heaps[1] ?? 0)).toBeLessThan(1);
  });
});
