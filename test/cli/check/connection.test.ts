import { createServer } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { startSandbox } from '../../../src/sandbox/index.js';
import { useProcessTime } from '../../helpers/time.js';
import { type JsonReport, listen, runCheck, serveHttp, serveTcp } from './runCheck.js';

describe('the check of the connection', () => {
  it('fails at once if nothing listens on the port', async () => {
    const sandbox = await startSandbox();
    await sandbox.close();
    const { code, finding, ids } = await runCheck(sandbox.url);

    expect({ code, ids }).toStrictEqual({ code: 3, ids: ['reachable'] });
    expect(finding('reachable')?.text).toBe('connection refused: nothing listens on this port');
  });

  it('fails within 10 seconds if the server does not answer', async () => {
    useProcessTime(4);
    const url = await serveTcp(() => undefined);
    const startedAt = performance.now();
    const { code, finding } = await runCheck(url);

    expect(code).toBe(3);
    expect(finding('reachable')?.text).toBe('connected, but no response in time');
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('distinguishes a server that does not accept connections', async () => {
    useProcessTime(4);
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
      // the three first requests are connected; their timeout is followed by another attempt to connect
      if (connections === 3) server.close();
    });
    const { code, finding } = await runCheck(await listen(server));

    expect(code).toBe(3);
    expect(finding('reachable')?.text).toBe('no connection in time');
  });

  it('fails if the server closes the connection without a response', async () => {
    const url = await serveTcp((socket) => socket.once('data', () => socket.end()));
    const { code, finding } = await runCheck(url);

    expect(code).toBe(3);
    expect(finding('reachable')?.text).toBe('the connection was closed without a response');
  });

  it('fails if the server speaks another protocol, as the gRPC port does', async () => {
    const url = await serveTcp((socket) => socket.end('\0\0\u0006\u0004\0\0\0\0\0\0\u0005\0\0@\0'));
    const { code, finding } = await runCheck(url);

    expect(code).toBe(4);
    expect(finding('reachable')?.text).toBe('the server does not speak HTTP/1.1');
  });
});

describe('the check of the server', () => {
  const checkServer = async (
    status: number,
    type: string,
    body: string | Uint8Array,
    headers = {},
  ): Promise<JsonReport> =>
    runCheck(
      await serveHttp((_, response) => {
        response.writeHead(status, { 'content-type': type, ...headers }).end(body);
      }),
    );

  it.each([
    [200, 'text/html', '<!doctype html><h1>Log in</h1>', {}, 'the server answers with an HTML page (200)'],
    [404, 'text/plain', '<html>', {}, 'the server answers with an HTML page (404)'],
    [
      302,
      'text/plain',
      '',
      { location: 'https://login.example/s3cret' },
      'the server redirects to another address (302)',
    ],
    [404, 'text/plain', 'nothing here', {}, 'a server answers, but has no ledger at this address (404)'],
    [200, 'text/plain', 'OK', {}, 'the response is not JSON'],
    [200, 'application/json', '{"status":"UP"}', {}, 'the server is not a JSON Ledger API'],
    [200, 'application/json', 'null', {}, 'the server is not a JSON Ledger API'],
  ])('reports that %d %s %j is not of a ledger', async (status, type, body, headers, text) => {
    const { code, finding, ids, printed } = await checkServer(status, type, body, headers);

    expect(finding('reachable')).toMatchObject({ state: 'failed', text });
    expect(finding('reachable')?.next).toMatch(/./);
    expect({ code, ids }).toStrictEqual({ code: 4, ids: ['reachable'] });
    expect(printed).not.toContain('s3cret');
  });

  it('reports that text in another encoding is not of a ledger', async () => {
    const { code, finding } = await checkServer(200, 'text/plain', Uint8Array.of(0xc3, 0x28));

    expect(code).toBe(4);
    expect(finding('reachable')?.text).toBe('the response is not JSON');
  });

  it('reports that a very large response is not of a ledger', async () => {
    const { code, finding } = await checkServer(200, 'application/json', ' '.repeat(4 * 2 ** 20 + 1));

    expect(code).toBe(4);
    expect(finding('reachable')?.text).toBe('the response is larger than 4 MiB');
  });

  it('reports a gateway whose participant is down', async () => {
    const { code, finding } = await checkServer(502, 'text/plain', 'Bad Gateway');

    expect(code).toBe(3);
    expect(finding('reachable')?.text).toBe('a gateway answers, but the participant does not (502)');
  });
});

describe('the check of the clock', () => {
  it.each([
    ['ahead', 40_000],
    ['behind', -40_000],
  ])('fails if the service is far %s', async (side, aheadMs) => {
    const url = await serveHttp((_, response) => {
      response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":3}');
    });
    const { finding } = await runCheck(url);

    expect(finding('clock')).toMatchObject({ state: 'failed' });
    expect(finding('clock')?.text).toMatch(/^the participant is \d+\.\d s \w+, to within \d+\.\d s/);
    expect(finding('clock')?.text).toContain(` s ${side}, `);
    const { aheadSeconds, withinSeconds } = finding('clock')?.data ?? {};
    // both are rounded
    expect(Math.abs(Number(aheadSeconds) - aheadMs / 1_000)).toBeLessThan(Number(withinSeconds) + 0.2);
  });
});

describe('the measurement of the round trip', () => {
  it('uses as many responses as arrive in time', async () => {
    useProcessTime();
    const url = await serveHttp((_, response) => {
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":3}');
      }, 400);
    });
    const { finding } = await runCheck(url);

    expect(finding('roundTrip')).toMatchObject({ state: 'ok' });
    expect(finding('roundTrip')?.text).toMatch(/^\d+(\.\d)? ms, median of [1-4] from/);
    expect(Number(finding('roundTrip')?.data?.['medianMs'])).toBeGreaterThan(395);
  });
});

describe('the check of encryption', () => {
  const env = { CANTON_RX_LEDGER_TOKEN: 's3cret' };

  it('warns if the ledger is on another host, even if it does not answer', async () => {
    const { finding, ids, code, printed } = await runCheck('http://corp-ledger.invalid', env);

    expect(finding('encryption')).toMatchObject({
      state: 'warned',
      text: 'the token is sent over plain http to another host: others on the network can read it',
    });
    expect(finding('encryption')?.next).toContain('https://');
    expect({ ids, code }).toStrictEqual({ ids: ['reachable', 'encryption'], code: 3 });
    expect(printed).not.toContain('s3cret');
  });

  it.each([
    ['http://127.0.0.1:9', env],
    ['http://127.1.2.3:9', env],
    ['http://LOCALHOST:9', env],
    ['http://ledger.localhost:9', env],
    ['http://[::1]:9', env],
    ['https://corp-ledger.invalid', env],
    ['http://corp-ledger.invalid', {}],
  ])('does not warn at %s with %j', async (url, given) => {
    expect((await runCheck(url, given)).ids).toStrictEqual(['reachable']);
  });

  it.each(['http://localhost.corp.invalid', 'http://127.0.0.1.corp.invalid', 'http://xlocalhost:9'])(
    'warns at %s, which is not this machine',
    async (url) => {
      expect((await runCheck(url, env)).ids).toStrictEqual(['reachable', 'encryption']);
    },
  );
});
