import { once } from 'node:events';
import { Agent, createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, take, toArray } from 'rxjs';
import { WebSocketServer, type WebSocket } from 'ws';
import type { SocketRequest } from '../../src/ws/SocketPort.js';
import { wsPort } from '../../src/ws/wsPort.js';
import { observe } from '../helpers/observe.js';

/** A service that accepts WebSockets as a participant does. `onMessage` is called with the first message of each. */
async function participant(onMessage: (socket: WebSocket, message: string, connection: Duplex) => void) {
  const upgrades: IncomingHttpHeaders[] = [];
  const connections = new Set<Socket>();
  const server = createServer((_, answer) => {
    answer.writeHead(404).end();
  });
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => 'daml.ws.auth' });
  server.on('connection', (connection: Socket) => {
    connections.add(connection);
    connection.on('close', () => connections.delete(connection));
  });
  server.on('upgrade', (request, connection, head) => {
    const { headers, url } = request;
    if (url === '/refused') {
      connection.end('HTTP/1.1 403 Forbidden\r\nConnection: close\r\n\r\n');
      return;
    }
    upgrades.push(headers);
    sockets.handleUpgrade(request, connection, head, (socket) => {
      socket.on('error', () => undefined);
      socket.once('message', (data: Buffer) => {
        onMessage(socket, data.toString(), connection);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${port}`,
    upgrades,
    connections,
    close: () => {
      for (const connection of connections) connection.destroy();
      server.close();
    },
  };
}

const request = (url: string): SocketRequest => ({
  url,
  protocols: ['daml.ws.auth'],
  headers: { authorization: 'Bearer abc.def', 'x-tenant': 'blue' },
  message: '{"beginExclusive":0}',
});

let service: Awaited<ReturnType<typeof participant>>;
let messages: string[] = [];
let serve: (socket: WebSocket, connection: Duplex) => void = () => undefined;
beforeEach(async () => {
  messages = [];
  service = await participant((socket, message, connection) => {
    messages.push(message);
    serve(socket, connection);
  });
});
afterEach(() => {
  service.close();
});

const port = wsPort();

describe('a socket of ws', () => {
  it('sends the token, the headers and its message, and emits the messages of the service', async () => {
    serve = (socket) => {
      socket.send('{"update":1}');
      socket.send('{"update":2}');
      socket.close(1000);
    };
    const signs = await lastValueFrom(port(request(service.url)).pipe(toArray()));
    expect(signs).toEqual([
      { _tag: 'Open' },
      { _tag: 'Text', text: '{"update":1}' },
      { _tag: 'Text', text: '{"update":2}' },
      { _tag: 'End', code: 1000 },
    ]);
    expect(messages).toEqual(['{"beginExclusive":0}']);
    const headers = { 'sec-websocket-protocol': 'daml.ws.auth', authorization: 'Bearer abc.def', 'x-tenant': 'blue' };
    expect(service.upgrades).toMatchObject([headers]);
  });

  it('ends with the code of the close, and with 1006 where the connection was lost', async () => {
    for (const code of [1011, 1006]) {
      serve = (socket) => {
        if (code === 1006) socket.terminate();
        else socket.close(code);
      };
      expect(await lastValueFrom(port(request(service.url)))).toEqual({ _tag: 'End', code });
    }
  });

  it('fails with the reason where the upgrade is refused or the connection fails', async () => {
    const refusal = { _tag: 'ConnectionError', path: '/refused', reason: 'the upgrade was rejected with status 403' };
    await expect(lastValueFrom(port(request(`${service.url}/refused`)))).rejects.toMatchObject(refusal);
    await expect(lastValueFrom(port({ ...request(service.url), protocols: ['other'] }))).rejects.toMatchObject({
      reason: 'the response to the upgrade lacks the subprotocol',
    });
    service.close();
    await expect(lastValueFrom(port(request(service.url)))).rejects.toMatchObject({
      message: 'the socket was not opened',
      cause: { code: 'ECONNREFUSED' },
    });
  });

  it('closes at once when it is unsubscribed, open or not', async () => {
    serve = () => undefined;
    await firstValueFrom(port(request(service.url)));
    const seen = observe(port(request(service.url)));
    seen.subscription.unsubscribe();
    while (service.connections.size > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(seen.values).toEqual([]);
    expect(seen.error).toBeUndefined();
  });

  it('fails with a binary message, and does not skip it', async () => {
    serve = (socket) => {
      socket.send('{"update":1}');
      socket.send(Buffer.from('{"update":2}'));
      socket.send('{"update":3}');
    };
    const seen = observe(port(request(service.url)));
    await new Promise<void>((resolve) => {
      seen.subscription.add(resolve);
    });
    expect(seen.values).toEqual([{ _tag: 'Open' }, { _tag: 'Text', text: '{"update":1}' }]);
    expect(seen.error).toMatchObject({ message: 'the socket received a message that is not text' });
  });

  it('sends nothing before the subscription', () => {
    void port(request(service.url));
    expect(service.upgrades).toEqual([]);
  });
});

describe('the sockets of ws', () => {
  it('send pings, and emit the pongs', async () => {
    serve = () => undefined;
    const signs$ = wsPort({ pingEveryMs: 5 })(request(service.url));
    const alive$ = signs$.pipe(filter(({ _tag }) => _tag === 'Alive'));
    expect(await lastValueFrom(alive$.pipe(take(3), toArray()))).toHaveLength(3);
  });

  it.each([
    ['a message that is too large', Buffer.concat([Buffer.from([0x81, 126, 8, 0]), Buffer.alloc(2_048, 'x')]), 1006],
    ['an invalid frame', Buffer.from([0xf1, 1, 0x78]), 1006],
    ['a close', Buffer.from([0x88, 2, 0x03, 0xe9]), 1001],
  ])('end with %s, although the service keeps the connection open', async (_, frame, code) => {
    serve = (socket, connection) => {
      // the service ignores the close of the client
      socket.close = () => undefined;
      connection.removeAllListeners('end').write(frame);
    };
    const startedAt = performance.now();
    const signs$ = wsPort({ maxMessageBytes: 1_000 })(request(service.url));
    expect(await lastValueFrom(signs$.pipe(toArray()))).toEqual([{ _tag: 'Open' }, { _tag: 'End', code }]);
    // ws itself would wait for 30 s
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  it('send no pings where the interval is longer than a timer allows', async () => {
    let pings = 0;
    serve = (socket) => {
      socket.on('ping', () => (pings += 1));
      setTimeout(() => {
        socket.close();
      }, 100);
    };
    await lastValueFrom(wsPort({ pingEveryMs: Infinity })(request(service.url)));
    expect(pings).toBe(0);
  });

  it.each([0.5, 1_000, 2 ** 32, Infinity])('have a limit for messages where the option is %d bytes', async (bytes) => {
    serve = (socket) => {
      socket.send('x'.repeat(2_000));
    };
    const signs = await lastValueFrom(
      wsPort({ maxMessageBytes: bytes })(request(service.url)).pipe(take(2), toArray()),
    );
    expect(signs.at(-1)?._tag).toBe(bytes < 2_000 ? 'End' : 'Text');
  });

  it('are connected by the agent of the options', async () => {
    serve = (socket) => {
      socket.close(1000);
    };
    const agent = new Agent();
    const connections: unknown[] = [];
    agent.createConnection = (...args) => {
      connections.push(args);
      return Agent.prototype.createConnection.apply(agent, args);
    };
    await lastValueFrom(wsPort({ agent })(request(service.url)));
    expect(connections).toHaveLength(1);
  });
});
