import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { createLedger } from '../../../src/ledger/createLedger.js';
import { effort } from '../../helpers/effort.js';
import { offsets } from '../../helpers/observe.js';
import { transaction } from '../../helpers/wire.js';
import { updateFormat, upTo } from '../../helpers/world.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';

const pageSize = 20;
/** The answers to three pages; the feed can read two of them ahead. */
const pages = [0, 20, 40].map((begin) =>
  Buffer.from(
    JSON.stringify(
      upTo(60)
        .slice(begin, begin + pageSize)
        .map(transaction),
    ),
  ),
);
const widest = Math.max(...pages.map(({ length }) => length));
/** Distance between the bytes at which an answer is cut, from a random one on. Tests in virtual time cut at every byte. */
const step = process.env['CANTON_RX_CAMPAIGN_RUNS'] === undefined ? effort(151, 13) : 1;
const first = Math.floor(Math.random() * step);

let server: HttpServer;
/** The page that is cut next, and the byte. */
let cut: { readonly page: number; readonly at: number } | undefined;

const answer = (begin: number, end: number): Buffer =>
  pages[begin / pageSize] ??
  Buffer.from(
    JSON.stringify(
      upTo(end)
        .slice(begin, begin + pageSize)
        .map(transaction),
    ),
  );

beforeAll(async () => {
  server = await httpServer((request, response, body) => {
    if (request.url === '/v2/state/ledger-end') {
      response.end('{"offset":60}');
      return;
    }
    const { beginExclusive, endInclusive } = JSON.parse(body) as { beginExclusive: number; endInclusive: number };
    const whole = answer(beginExclusive, endInclusive);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    if (cut?.page !== beginExclusive / pageSize || cut.at >= whole.length) {
      response.end(whole);
      return;
    }
    const { at } = cut;
    const isReset = at % 2 === 0;
    response.write(whole.subarray(0, at), () => {
      if (isReset) response.socket?.resetAndDestroy();
      else response.socket?.destroy();
    });
    if (at === 0) response.socket?.destroy();
    cut = undefined;
  });
});
afterAll(() => server.close());

describe('over real sockets, an answer of 20 updates, read in its turn or ahead of it', () => {
  it(`loses nothing and repeats nothing when it is cut at its bytes ${first}, ${first + step}, …`, async () => {
    const ledger = createLedger({ baseUrl: server.url, retry: { baseDelayMs: 1 } });
    for (let at = first; at < widest; at += step) {
      const parallelRanges = [undefined, 1, 2, 16][at % 4];
      const feed$ = ledger.updates(
        { beginExclusive: 0, endInclusive: 60, updateFormat },
        { maxPageSize: pageSize, parallelRanges },
      );
      const page = at % 3;
      cut = { page, at };
      expect(offsets(await lastValueFrom(feed$.pipe(toArray())))).toEqual(upTo(60));
      if (at < (pages[page]?.length ?? 0)) expect(cut).toBeUndefined();
    }
  }, 600_000);
});
