import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { afterEach } from '@jest/globals';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';

/** Returns a function that starts sandboxes which are closed after each test. Call it once, at the top of a test file. */
export function sandboxes(): (options?: SandboxOptions) => Promise<Sandbox> {
  const open: Sandbox[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
  });
  return async (options) => {
    const sandbox = await startSandbox(options);
    open.push(sandbox);
    return sandbox;
  };
}

/** An HTTP server on loopback whose answers the test writes. */
export interface HttpServer {
  readonly url: string;
  /** Resolves when the client closes a connection before its answer. */
  readonly aborted: Promise<void>;
  close(): Promise<void>;
}

/** Starts an HTTP server. `handle` is called with each request once its body has arrived. */
export async function httpServer(
  handle: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<HttpServer> {
  let aborted: () => void = () => undefined;
  const abortedOnce = new Promise<void>((resolve) => {
    aborted = resolve;
  });
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    response.on('close', () => {
      if (!response.writableEnded) aborted();
    });
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      handle(request, response, Buffer.concat(chunks).toString());
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(server)}`,
    aborted: abortedOnce,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** Listens on a free port of the loopback interface, and returns the port. */
async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  return isAddress(address) ? address.port : 0;
}

const isAddress = (address: string | AddressInfo | null): address is AddressInfo =>
  typeof address === 'object' && address !== null;

/** An HTTP proxy on loopback that connects every request to one server. */
export interface ConnectProxy {
  readonly url: string;
  /** What clients wanted to connect to, as `host:port`. */
  readonly targets: readonly string[];
  readonly close: () => Promise<void>;
}

/** Starts an HTTP proxy for the method CONNECT, with which clients connect to the server of a URL, whatever host they name. */
export async function connectProxy(url: string): Promise<ConnectProxy> {
  const { port, hostname } = new URL(url);
  const targets: string[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer();
  proxy.on('connect', (request: IncomingMessage, client: Socket) => {
    targets.push(request.url ?? '');
    const server = connect(Number(port), hostname, () => {
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      client.pipe(server).pipe(client);
    });
    for (const socket of [client, server]) sockets.add(socket.on('error', () => undefined));
  });
  return {
    url: `http://127.0.0.1:${await listen(proxy)}`,
    targets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      const closed = once(proxy, 'close');
      proxy.close();
      await closed;
    },
  };
}

/** A TCP proxy between a client and a server. The test decides what it forwards. */
export interface TcpProxy {
  /** The URL of the server with the address of the proxy. */
  readonly url: string;
  readonly close: () => void;
}

/** Starts a TCP proxy. `onConnection` is called with both ends of each connection; when one end closes, so does the other. */
export async function tcpProxy(url: string, onConnection: (client: Socket, server: Socket) => void): Promise<TcpProxy> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  const proxy = createTcpServer((client) => {
    const server = connect(Number(port), hostname);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true).on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    onConnection(client, server);
  });
  const target = new URL(url);
  target.port = String(await listen(proxy));
  return {
    url: target.href,
    close: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** A TCP proxy that forwards everything, and can be disconnected for any time. */
export interface SwitchableProxy {
  /** The origin of the server with the address of the proxy. */
  readonly url: string;
  /** Closes all connections, and refuses new ones. */
  readonly disconnect: () => void;
  readonly reconnect: () => void;
  readonly close: () => void;
}

export async function switchableProxy(server: string): Promise<SwitchableProxy> {
  const clients = new Set<Socket>();
  let isConnected = true;
  const { url, close } = await tcpProxy(server, (client, target) => {
    if (isConnected) clients.add(client.pipe(target).pipe(client));
    else client.destroy();
  });
  return {
    url: new URL(url).origin,
    disconnect: () => {
      isConnected = false;
      for (const client of clients) client.destroy();
      clients.clear();
    },
    reconnect: () => {
      isConnected = true;
    },
    close,
  };
}
