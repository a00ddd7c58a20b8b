import { once } from 'node:events';
import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { createServer, type Socket } from 'node:net';
import process from 'node:process';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { checkEncryption, checkProxy } from '../../../src/cli/check/connection.js';
import { type Probe, troubleOfError, troubleOfResponse } from '../../../src/cli/check/Probe.js';
import { ConnectionError } from '../../../src/errors/request.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { listen, runCheck, serveHttp } from './runCheck.js';

describe('the check of the connection', () => {
  it('fails at once if nothing listens on the port', async () => {
    const sandbox = await startSandbox();
    await sandbox.close();
    const { code, finding, ids } = await runCheck(sandbox.url);

    expect({ code, ids }).toStrictEqual({ code: 3, ids: ['reachable'] });
    expect(finding('reachable')?.text).toBe('connection refused: nothing listens on this port');
  });

  it.each([
    ['does not answer', () => undefined, 3, 'connected, but no response in time'],
    [
      'closes the connection',
      (socket: Socket) => socket.once('data', () => socket.end()),
      3,
      'the connection was closed without a response',
    ],
    [
      'speaks another protocol, as the gRPC port does',
      (socket: Socket) => socket.end('\0\0\u0006\u0004\0\0\0\0\0\0\u0005\0\0@\0'),
      4,
      'the server does not speak HTTP/1.1',
    ],
  ])('fails within 10 seconds if the server %s', async (_, handle, code, text) => {
    const startedAt = performance.now();
    const report = await runCheck(await listen(createServer((socket) => void handle(socket))));

    expect(report.code).toBe(code);
    expect(report.finding('reachable')?.text).toBe(text);
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });

  it('distinguishes a server that does not accept connections', async () => {
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
});

describe('the check of the server', () => {
  const redirect = { location: 'https://login.example/s3cret' };
  const notLedger = 'the server is not a JSON Ledger API';

  it.each([
    [200, 'text/html', '<!doctype html><h1>Log in</h1>', 4, 'the server answers with an HTML page (200)'],
    [302, 'text/plain', '', 4, 'the server redirects to another address (302)'],
    [404, 'text/plain', 'nothing here', 4, 'a server answers, but has no ledger at this address (404)'],
    [200, 'text/plain', 'OK', 4, 'the response is not JSON'],
    [200, 'text/plain', Uint8Array.of(0xc3, 0x28), 4, 'the response is not JSON'],
    [200, 'application/json', '{"status":"UP"}', 4, notLedger],
    [200, 'application/json', 'null', 4, notLedger],
    [200, 'application/json', ' '.repeat(4 * 2 ** 20 + 1), 4, 'the response is larger than 4 MiB'],
    [502, 'text/plain', 'Bad Gateway', 3, 'a gateway answers, but the participant does not (502)'],
  ])('reports that %d %s is not of a ledger: %#', async (status, type, body, code, text) => {
    const url = await serveHttp((_, response) => {
      response.writeHead(status, { 'content-type': type, ...(status === 302 && redirect) }).end(body);
    });
    const { finding, ids, printed, ...report } = await runCheck(url);

    expect(finding('reachable')).toMatchObject({ state: 'failed', text, next: expect.stringMatching(/./) });
    expect({ code: report.code, ids }).toStrictEqual({ code, ids: ['reachable'] });
    expect(printed).not.toContain('s3cret');
  });

  it.each([
    ['an unknown host', 'ENOTFOUND', 'unreachable', 'the host name does not resolve'],
    ['an expired certificate', 'CERT_HAS_EXPIRED', 'unreachable', 'the certificate has expired'],
    ['no TLS', 'ERR_SSL_WRONG_VERSION_NUMBER', 'unreachable', 'the server does not speak TLS'],
    ['an unknown code', 'ESOMETHING', 'unreachable', 'the connection failed (ESOMETHING)'],
    ['no code, as at a port that fetch refuses', undefined, 'unreachable', 'the connection failed'],
  ])('explains %s', (_, code, kind, text) => {
    const error = new ConnectionError('/v2/version', 'the connection failed', { code });
    expect(troubleOfError(error)).toMatchObject({ kind, text });
  });

  it('reports a bug of the check as such', () => {
    expect(troubleOfError(new TypeError('x is not a function'))).toMatchObject({ kind: 'other' });
  });

  it.each([
    [502, 'unreachable', /gateway/],
    [503, 'unreachable', /gateway/],
    [504, 'unreachable', /gateway/],
    [429, 'unreachable', /rate of requests/],
    [407, 'unreachable', /proxy requires credentials/],
    [404, 'foreign', /HTML page/],
  ])('goes by the status first, and then by the page: %d', (status, kind, text) => {
    const response = { headers: { 'content-type': 'text/html' }, text: '<html>no</html>', status };
    expect(troubleOfResponse(response)).toMatchObject({ kind, text: expect.stringMatching(text) });
  });
});

describe('the check of the clock', () => {
  it('finds no difference in a header that is a second old, because servers keep it', async () => {
    const url = await serveHttp((_, response) => {
      response.setHeader('date', new Date(Date.now() - 990).toUTCString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":3}');
    });
    const { finding } = await runCheck(url);
    expect(finding('clock')).toMatchObject({ state: 'ok', text: expect.stringMatching(/^in sync/) });
  });

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

describe('the check of endpoints', () => {
  const unknown = { errors: ['HttpMethod(GET), uri: x'], status: 404, ledgerApiError: null };

  it.each([
    ['a participant that answers a GET where a WebSocket can be opened like an unknown path', unknown, true, false],
    ['a gateway without the paths', '<html>404</html>', undefined, undefined],
  ])('goes by %s', async (_, page, served, missing) => {
    const url = await serveHttp((request, response) => {
      const isServed = request.url === '/v2/state/active-contracts';
      if (request.method === 'POST' && isServed) response.writeHead(400).end('Invalid value for: body');
      else response.writeHead(404).end(typeof page === 'string' ? page : JSON.stringify(page));
    });
    const { finding } = await runCheck(url);
    const { data } = finding('endpoints') ?? {};
    expect([data?.['/v2/state/active-contracts'], data?.['/v2/commands/completions']]).toEqual([served, missing]);
  });
});

describe('the measurement of the round trip', () => {
  it('uses as many responses as arrive in time', async () => {
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

describe('the environment of a check', () => {
  const probeIn = (
    env: Readonly<Record<string, string>>,
    ledger = 'https://ledger.example',
    token?: string,
  ): Probe => ({
    connection: { ledger, token: token === undefined ? undefined : () => token },
    parties: 'any',
    env,
  });

  it('warns of a token on plain http to another host, even if that does not answer', async () => {
    const env = { CANTON_RX_LEDGER_TOKEN: 's3cret' };
    const { finding, ids, code, printed } = await runCheck('http://corp-ledger.invalid', env);

    expect(finding('encryption')).toMatchObject({
      state: 'warned',
      text: 'the token is sent over plain http to another host: others on the network can read it',
      next: expect.stringContaining('https://'),
    });
    expect({ ids, code }).toStrictEqual({ ids: ['reachable', 'encryption'], code: 3 });
    expect(printed).not.toContain('s3cret');
  });

  it.each([
    ['http://127.0.0.1:9', 0],
    ['http://127.1.2.3:9', 0],
    ['http://LOCALHOST:9', 0],
    ['http://ledger.localhost:9', 0],
    ['http://[::1]:9', 0],
    ['https://corp-ledger.invalid', 0],
    ['http://localhost.corp.invalid', 1],
    ['http://127.0.0.1.corp.invalid', 1],
    ['http://xlocalhost:9', 1],
  ])('knows whether requests to %s leave this machine in plain text: %d', (ledger, warnings) => {
    expect(checkEncryption(probeIn({}, ledger, 's3cret'))).toHaveLength(warnings);
    expect(checkEncryption(probeIn({}, ledger))).toEqual([]);
  });

  it('is marked if certificates are not verified', () => {
    expect(checkEncryption(probeIn({ NODE_TLS_REJECT_UNAUTHORIZED: '0' }))).toMatchObject([{ state: 'warned' }]);
  });

  it('has a proxy that Node.js uses only if it is told to', () => {
    const isSupported = Number(process.versions.node.split('.')[0]) >= 24;
    const proxy = { HTTPS_PROXY: 'http://user:hush@proxy.example' };
    expect(checkProxy(probeIn(proxy))).toMatchObject([{ state: 'open', text: expect.stringContaining('HTTPS_PROXY') }]);
    const used = checkProxy(probeIn({ ...proxy, NODE_USE_ENV_PROXY: '1' }));
    expect(used).toMatchObject([{ state: isSupported ? 'ok' : 'open' }]);
    expect(checkProxy(probeIn({ ...proxy, NO_PROXY: 'localhost, .example' }))).toEqual([]);
    expect(JSON.stringify(checkProxy(probeIn(proxy)))).not.toContain('hush');
  });
});

describe('the check of WebSockets', () => {
  /** A ledger that is empty and answers 200 to every request but an upgrade. */
  const ledgerWith = (upgrade: (socket: Duplex, request: IncomingMessage) => unknown): Promise<string> => {
    const server = createHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
    });
    return listen(server.on('upgrade', (request, socket: Duplex) => void upgrade(socket, request)));
  };
  const accept = (socket: Duplex, header = ''): boolean =>
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${header}\r\n`);

  it('reports that they are available, and closes the connection', async () => {
    const received: string[] = [];
    let closed: Promise<unknown> | undefined;
    const url = await ledgerWith((socket, { url: path = '', headers }) => {
      received.push(path, headers['sec-websocket-protocol'] ?? '', headers.authorization ?? '');
      closed = once(socket.resume(), 'end');
      accept(socket, 'sec-websocket-protocol: daml.ws.auth\r\n');
    });
    const { finding, printed } = await runCheck(url, { CANTON_RX_LEDGER_TOKEN: 's3cret' });

    expect(finding('webSocket')).toMatchObject({ state: 'ok', text: 'available at /v2/updates' });
    expect(received).toStrictEqual(['/v2/updates', 'daml.ws.auth', 'Bearer s3cret']);
    expect(printed).not.toContain('s3cret');
    expect(closed).toBeDefined();
    await closed;
  });

  it.each([
    [
      'a refusal',
      (socket: Duplex) => socket.end('HTTP/1.1 405 Method Not Allowed\r\n\r\n'),
      'refused at /v2/updates (405)',
    ],
    ['no subprotocol', accept, 'no subprotocol daml.ws.auth at /v2/updates'],
    [
      'another subprotocol',
      (socket: Duplex) => accept(socket, 'sec-websocket-protocol: other\r\n'),
      'no subprotocol daml.ws.auth at /v2/updates',
    ],
    ['a proxy that closes the connection', (socket: Duplex) => socket.destroy(), 'no response at /v2/updates'],
    ['a proxy that does not answer', () => undefined, 'no response at /v2/updates'],
  ])('reports %s, which is not a failure', async (_, upgrade, text) => {
    const { finding } = await runCheck(await ledgerWith((socket) => upgrade(socket)));

    expect(finding('webSocket')).toMatchObject({ state: 'open', text: `${text}; feeds poll instead` });
  });
});
