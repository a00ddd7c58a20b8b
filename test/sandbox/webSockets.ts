import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach } from '@jest/globals';
import { WebSocket } from 'ws';
import type { Sandbox } from '../../src/sandbox/index.js';
import { offsetOf } from './client.js';

const open: WebSocket[] = [];

afterEach(() => {
  for (const socket of open.splice(0)) socket.terminate();
});

/** The client side of a WebSocket, with its messages. */
export interface Client {
  readonly socket: WebSocket;
  readonly texts: readonly string[];
  /** The messages so far, parsed. */
  readonly messages: readonly unknown[];
  /** The close code. */
  readonly closed: Promise<number>;
  /** Resolves when that many messages have arrived. */
  readonly received: (count: number) => Promise<readonly unknown[]>;
}

interface Options {
  readonly path?: string;
  readonly headers?: Record<string, string>;
  readonly protocols?: readonly string[];
}

const protocol = 'daml.ws.auth';

/** Opens a WebSocket that is closed after the test, and sends a request unless it is `undefined`. */
export async function stream(sandbox: Sandbox, body: unknown, options: Options = {}): Promise<Client> {
  const socket = openSocket(sandbox, options);
  const texts: string[] = [];
  socket.on('message', (data: Buffer) => texts.push(data.toString()));
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  await once(socket, 'open');
  if (body !== undefined) socket.send(typeof body === 'string' ? body : JSON.stringify(body));
  const messages = () => texts.map((message) => JSON.parse(message) as unknown);
  return {
    socket,
    texts,
    get messages() {
      return messages();
    },
    closed,
    received: async (count) => {
      while (texts.length < count) await once(socket, 'message');
      return messages();
    },
  };
}

/** Resolves when the sandbox has noticed the end of a connection. */
export const afterDisconnect = (): Promise<void> => after(20);

/** The TCP connection of a client. */
export function connectionOf({ socket }: Client): Socket {
  return Object.getOwnPropertyDescriptor(socket, '_socket')?.value as Socket;
}

/** The HTTP response to a rejected upgrade. */
export async function rejectedUpgrade(
  sandbox: Sandbox,
  options: Options = {},
): Promise<{ readonly status: number | undefined; readonly type: string | undefined; readonly text: string }> {
  const socket = openSocket(sandbox, options);
  const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
  return { status: response.statusCode, type: response.headers['content-type'], text: await text(response) };
}

/** Opens a WebSocket, without waiting for it. */
export function openSocket(
  sandbox: Sandbox,
  { path = '/v2/updates', headers = {}, protocols }: Options = {},
): WebSocket {
  const socket = new WebSocket(sandbox.url.replace('http', 'ws') + path, [...(protocols ?? [protocol])], { headers });
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
}

/** The offsets of the updates that a client received. */
export const offsets = ({ messages }: Client): readonly unknown[] => messages.map(offsetOf);
