import process from 'node:process';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { lastValueFrom, toArray } from 'rxjs';
import { createLedger } from '../../src/ledger/createLedger.js';
import { httpServer, type HttpServer } from '../helpers/httpServer.js';
import { offsets } from '../helpers/observe.js';
import { transaction } from '../helpers/wire.js';
import { updateFormat, upTo } from '../helpers/world.js';

const whole = Buffer.from(JSON.stringify(upTo(20).map(transaction)));
/** Each byte has its turn in virtual time; here each, if asked for, or every so many from a random one on. */
const step = process.env['CANTON_RX_CAMPAIGN_RUNS'] === undefined ? 13 : 1;
const first = Math.floor(Math.random() * step);

let server: HttpServer;
let cutAt: number | undefined;

beforeAll(async () => {
  server = await httpServer((request, response) => {
    if (request.url === '/v2/state/ledger-end') {
      response.end('{"offset":20}');
      return;
    }
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    if (cutAt === undefined) {
      response.end(whole);
      return;
    }
    const isReset = cutAt % 2 === 0;
    response.write(whole.subarray(0, cutAt), () => {
      if (isReset) response.socket?.resetAndDestroy();
      else response.socket?.destroy();
    });
    if (cutAt === 0) response.socket?.destroy();
    cutAt = undefined;
  });
});
afterAll(() => server.close());

describe('over real sockets, an answer of 20 updates', () => {
  it(`that is cut at its bytes ${first}, ${first + step}, … loses nothing and repeats nothing`, async () => {
    const ledger = createLedger({ baseUrl: server.url, retry: { baseDelayMs: 1 } });
    const feed$ = ledger.updates({ beginExclusive: 0, endInclusive: 20, updateFormat });
    for (let byte = first; byte < whole.length; byte += step) {
      cutAt = byte;
      expect(offsets(await lastValueFrom(feed$.pipe(toArray())))).toEqual(upTo(20));
      expect(cutAt).toBeUndefined();
    }
  }, 600_000);
});
