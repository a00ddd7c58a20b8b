import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { EMPTY, firstValueFrom, lastValueFrom, tap, toArray } from 'rxjs';
import { type WebSocket, WebSocketServer } from 'ws';
import { Service } from '../../src/feed/Service.js';
import { readList } from '../../src/ws/openSocket.js';
import { wsPort } from '../../src/ws/wsPort.js';

const path = '/v2/state/active-contracts';
const elements = Array.from({ length: 5_000 }, (_, n) => ({
  workflowId: '',
  contractEntry: { JsActiveContract: { reassignmentCounter: n, filler: 'x'.repeat(200) } },
}));

let server: WebSocketServer;
let requests: unknown[] = [];
/** What the service does with a socket after its first message. */
let serve: (socket: WebSocket) => void = () => undefined;

beforeEach(async () => {
  requests = [];
  server = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => 'daml.ws.auth' });
  server.on('connection', (socket, { url, headers }) => {
    socket.once('message', (message: Buffer) => {
      requests.push([url, headers.authorization, JSON.parse(message.toString())]);
      serve(socket);
    });
  });
  await once(server, 'listening');
});
afterEach(() => {
  for (const socket of server.clients) socket.terminate();
  server.close();
});

/** The list of the service. */
function list() {
  const { port } = server.address() as AddressInfo;
  const baseUrl = `http://127.0.0.1:${port}`;
  const link = { port: () => EMPTY, baseUrl, headers: {}, token: 'abc', requestTimeoutMs: 10_000 };
  return readList(new Service(link), wsPort(), path, { activeAtOffset: 7 });
}

const send = (socket: WebSocket, ...messages: readonly object[]): void => {
  for (const message of messages) socket.send(JSON.stringify(message));
};

/** The number of elements before the error of a list, and the error. */
async function failure(): Promise<{ readonly count: number; readonly error: unknown }> {
  let count = 0;
  const list$ = list().pipe(
    tap(() => {
      count += 1;
    }),
  );
  const error: unknown = await lastValueFrom(list$, { defaultValue: 'complete' }).then(
    () => 'complete',
    (reason: unknown) => reason,
  );
  return { count, error };
}

describe('a list over a socket of the package ws', () => {
  it('has every element, in order, when the service closes it with 1000', async () => {
    serve = (socket) => {
      send(socket, ...elements);
      socket.close(1000);
    };
    expect(await lastValueFrom(list().pipe(toArray()))).toEqual(elements);
    expect(requests).toEqual([[path, 'Bearer abc', { activeAtOffset: 7 }]]);
  });

  it('is an error if the connection is cut in the middle (pitfall 1)', async () => {
    serve = (socket) => {
      send(socket, ...elements.slice(0, 100));
      socket.ping(undefined, undefined, () => {
        socket.terminate();
      });
    };
    expect(await failure()).toMatchObject({ error: { _tag: 'ConnectionError' } });
  });

  it('closes the connection when it is unsubscribed from (pitfall 45)', async () => {
    const closed = new Promise((resolve) => {
      serve = (socket) => {
        socket.once('close', resolve);
        send(socket, ...elements.slice(0, 1));
      };
    });
    expect(await firstValueFrom(list())).toEqual(elements[0]);
    await closed;
    expect(server.clients.size).toBe(0);
  });
});
