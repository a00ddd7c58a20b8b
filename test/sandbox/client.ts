import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as after } from 'node:timers/promises';
import { afterEach, expect } from '@jest/globals';
import { WebSocket } from 'ws';
import type { Sandbox } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { until } from '../helpers/time.js';

/** Starts a sandbox that is closed after the test. */
export const sandboxWith = sandboxes();

/** A response. */
export interface Reply {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  readonly json: unknown;
}

export async function send(sandbox: Sandbox, path: string, init: RequestInit = {}): Promise<Reply> {
  const response = await fetch(sandbox.url + path, init);
  const text = await response.text();
  const type = response.headers.get('content-type');
  const json: unknown = type === 'application/json' ? JSON.parse(text) : undefined;
  return { status: response.status, type, text, json };
}

export const endPath = '/v2/state/ledger-end';

export const get = (sandbox: Sandbox, path = endPath) => send(sandbox, path);

export const post = (sandbox: Sandbox, path: string, body: unknown, init: RequestInit = {}) =>
  send(sandbox, path, {
    ...init,
    method: 'POST',
    headers: { ...jsonType, ...(init.headers as Record<string, string> | undefined) },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

/** The header of a request with a body. */
export const jsonType = { 'content-type': 'application/json' };

/** What a response with an error of the ledger must match. */
export const failure = (status: number, code: string, fields: object = {}) => ({ status, json: { code, ...fields } });

/** What a response in plain text must match; with `part`, a part of its text. */
export const plain = (status: number, part = '') => ({
  status,
  type: 'text/plain; charset=UTF-8',
  text: expect.stringContaining(part),
});

/** The value at a path in a JSON value. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === 'object' && inner !== null ? Object.getOwnPropertyDescriptor(inner, key)?.value : undefined,
    value,
  );
}

export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== 'string') throw new TypeError(`no string at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): readonly unknown[] {
  const found = at(value, ...path);
  if (!Array.isArray(found)) throw new TypeError(`no list at ${path.join('.')} of ${JSON.stringify(value)}`);
  return found;
}

/** The names of the fields of an object. */
export const keys = (value: unknown): readonly string[] => Object.keys(Object(value) as object);

/** The variant of an update. */
export const variantOf = (element: unknown): string | undefined => keys(at(element, 'update'))[0];

/** The offset of an update. */
export const offsetOf = (element: unknown): unknown =>
  at(element, 'update', variantOf(element) ?? '', 'value', 'offset');

/** The offsets of the updates of a list or a stream. */
export const offsets = (received: Reply | Client): readonly unknown[] =>
  ('messages' in received ? received.messages : listAt(received.json)).map(offsetOf);

/** The variants of a list of updates. */
export const variants = (reply: Reply): readonly unknown[] => listAt(reply.json).map(variantOf);

/** The events of the updates of a variant in a list. */
export const eventsIn = (reply: Reply, variant: string): readonly unknown[] =>
  listAt(reply.json).flatMap((element) => listAt(element, 'update', variant, 'value', 'events'));

/** Opens a TCP connection. */
export const connectTo = ({ url }: Sandbox): Socket => connect(Number(new URL(url).port), '127.0.0.1');

/** Resolves when the last request is being processed. */
export const requestReceived = ({ requests }: Pick<Sandbox, 'requests'>): Promise<void> =>
  until(() => requests.at(-1)?.body !== undefined);

/** Resolves when the client of a request has disconnected. */
export const aborted = ({ requests }: Pick<Sandbox, 'requests'>, index = 0): Promise<void> =>
  until(() => requests[index]?.aborted === true);

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

/** The subprotocol of participants. */
export const protocol = 'daml.ws.auth';

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

/** Reads a stream to its end. */
export async function streamToEnd(sandbox: Sandbox, body: unknown, options?: Options): Promise<Client> {
  const client = await stream(sandbox, body, options);
  expect(await client.closed).toBe(1000);
  return client;
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
  const [, response] = (await once(openSocket(sandbox, options), 'unexpected-response')) as [unknown, IncomingMessage];
  return { status: response.statusCode, type: response.headers['content-type'], text: await text(response) };
}

/** Opens a WebSocket, without waiting for it. */
export function openSocket(
  sandbox: Sandbox,
  { path = '/v2/updates', headers = {}, protocols = [protocol] }: Options = {},
): WebSocket {
  const socket = new WebSocket(sandbox.url.replace('http', 'ws') + path, [...protocols], { headers });
  socket.on('error', () => undefined);
  open.push(socket);
  return socket;
}
