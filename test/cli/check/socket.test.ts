import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { listen, runCheck, sandboxWith } from './runCheck.js';

/** A ledger that is empty and answers 200 to every request. */
const emptyLedger = (): Server =>
  createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
  });

describe('the check of WebSockets', () => {
  it('reports that they are available, and closes the connection', async () => {
    const received: string[] = [];
    let closed: Promise<unknown> | undefined;
    const server = emptyLedger().on('upgrade', ({ url = '', headers }, socket: Duplex) => {
      received.push(url, headers['sec-websocket-protocol'] ?? '', headers.authorization ?? '');
      closed = once(socket.resume(), 'end');
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n');
      socket.write('sec-websocket-protocol: daml.ws.auth\r\n\r\n');
    });
    const { finding, printed } = await runCheck(await listen(server), { CANTON_RX_LEDGER_TOKEN: 's3cret' });

    expect(finding('webSocket')).toMatchObject({ state: 'ok', text: 'available at /v2/updates' });
    expect(received).toStrictEqual(['/v2/updates', 'daml.ws.auth', 'Bearer s3cret']);
    expect(printed).not.toContain('s3cret');
    expect(closed).toBeDefined();
    await closed;
  });

  it('reports a refusal, which is not a failure', async () => {
    const server = createServer(({ headers }, response) => {
      const status = headers.upgrade === undefined ? 200 : 405;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
    });
    const { finding } = await runCheck(await listen(server));

    expect(finding('webSocket')).toMatchObject({
      state: 'open',
      text: 'refused at /v2/updates (405); feeds poll instead',
    });
  });

  it.each(['', 'sec-websocket-protocol: other\r\n'])(
    'reports that the service does not choose the subprotocol: "%s"',
    async (chosen) => {
      const server = emptyLedger().on('upgrade', (_request, socket: Duplex) => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${chosen}\r\n`);
      });
      const { finding } = await runCheck(await listen(server));

      expect(finding('webSocket')).toMatchObject({
        state: 'open',
        text: 'no subprotocol daml.ws.auth at /v2/updates; feeds poll instead',
      });
    },
  );

  it.each([
    ['closes the connection', (socket: Duplex) => socket.destroy()],
    ['does not answer', () => undefined],
  ])('reports a proxy that %s, which is not a failure', async (_, onUpgrade) => {
    const sandbox = await sandboxWith({}, 5);
    const proxy = createServer((request, response) => {
      const { method, url: path, headers } = request;
      const onward = httpRequest(new URL(path ?? '/', sandbox.url), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    proxy.on('upgrade', (_request, socket) => {
      onUpgrade(socket);
    });
    const { finding, code } = await runCheck(await listen(proxy));

    expect(finding('webSocket')).toMatchObject({
      state: 'open',
      text: 'no response at /v2/updates; feeds poll instead',
    });
    expect(code).toBe(0);
  });
});
