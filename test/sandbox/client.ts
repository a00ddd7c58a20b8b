import { connect, type Socket } from 'node:net';
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

export const get = (sandbox: Sandbox, path: string) => send(sandbox, path);

export const post = (sandbox: Sandbox, path: string, body: unknown, init: RequestInit = {}) =>
  send(sandbox, path, { ...init, method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body) });

/** What a response with an error of the ledger must match. */
export const failure = (status: number, code: string) => ({ status, json: { code } });

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

/** The variant of an update. */
export const variantOf = (element: unknown): string | undefined =>
  Object.keys(Object(at(element, 'update')) as object)[0];

/** The offset of an update. */
export const offsetOf = (element: unknown): unknown =>
  at(element, 'update', variantOf(element) ?? '', 'value', 'offset');

/** The offsets of a list of updates. */
export const offsets = (reply: Reply): readonly unknown[] => listAt(reply.json).map(offsetOf);

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
