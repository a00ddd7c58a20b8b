import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { httpServer, type HttpServer } from '../../helpers/httpServer.js';
import { asked } from './asked.js';
import { bodies } from './bodies.js';

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

/** Of a submission the outcome is unknown, and why. */
function tagOf(error: unknown): unknown {
  if (!isLedgerError(error)) return error;
  return error._tag === 'OutcomeUnknownError' ? error.lastError._tag : error._tag;
}

describe('what is no answer', () => {
  it.each(bodies.map((body, index) => ({ ...body, index })))('is an error: $name', async ({ index, becomes }) => {
    for (const updatesPath of ['/v2/updates', '/v2/updates/flats'] as const) {
      const begun = performance.now();
      // none of them is late
      const options = { updatesPath, requestTimeoutMs: 60_000 };
      const all = await asked({ baseUrl: `${server.url}/all/${index}`, ...options });
      const late = await asked({ baseUrl: `${server.url}/pages/${index}`, ...options }, 'updates');
      expect(all.errors.map(tagOf)).toEqual(Array(5).fill(becomes));
      expect(late.errors.map(tagOf)).toEqual(Array(2).fill(becomes));
      expect([...all.values, ...late.values]).toEqual([]);
      expect(performance.now() - begun).toBeLessThan(30_000);
    }
  });
});
