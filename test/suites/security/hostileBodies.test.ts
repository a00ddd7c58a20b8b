import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import type { HttpPort } from '../../../src/http/HttpPort.js';
import { undiciPort } from '../../../src/undici/index.js';
import { bodies } from './bodies.js';
import { callLedger } from './secrets.js';
import { effort } from '../../helpers/effort.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';

let server: HttpServer;
beforeAll(async () => {
  server = await httpServer((request, response) => {
    const [, where, index] = (request.url ?? '').split('/');
    if (where === 'pages' && request.url?.endsWith('/v2/state/ledger-end') === true) response.end('{"offset":100}');
    else bodies[Number(index)]?.send(response);
  });
});
afterAll(() => server.close());

const prototypeKeys = Reflect.ownKeys(Object.prototype).length;
afterEach(() => {
  expect(Reflect.ownKeys(Object.prototype)).toHaveLength(prototypeKeys);
});

/** The tag of an error, or of the cause of an unknown outcome. Nothing was sent where nothing is a ledger. */
function tagOf(error: unknown): unknown {
  if (!isLedgerError(error)) return error;
  if (error._tag === 'NotSentError') return 'ConnectionError';
  return error._tag === 'OutcomeUnknownError' ? error.lastError._tag : error._tag;
}

const step = effort(4, 1);
const chosen = bodies.map((body, index) => ({ ...body, index })).filter(({ index }) => index % step === 0);

describe.each<[string, HttpPort | undefined]>([
  ['fetch', undefined],
  ['undici', undiciPort()],
])('a body that is not an answer, read by %s,', (_, port) => {
  it.concurrent.each(chosen)('is an error: $name', async ({ index }) => {
    // no body is an error by its time
    const options = { requestTimeoutMs: 60_000, ...(port !== undefined && { port }) };
    const all = await callLedger({ baseUrl: `${server.url}/all/${index}`, ...options });
    expect([all.errors.map(tagOf), all.values]).toEqual([Array(5).fill('ConnectionError'), []]);
    for (const updatesPath of ['/v2/updates', '/v2/updates/flats'] as const) {
      const late = await callLedger({ baseUrl: `${server.url}/pages/${index}`, updatesPath, ...options }, 'updates');
      expect([late.errors.map(tagOf), late.values]).toEqual([Array(2).fill('ConnectionError'), []]);
    }
  });
});
