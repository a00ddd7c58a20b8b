import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpServer } from '../../helpers/localServers.js';

/** What the proxy does to a request: to answer in place of the participant, to cut its answer, or nothing. */
export type ProxyFault =
  | { readonly status: number; readonly body: string; readonly headers?: Readonly<Record<string, string>> }
  | 'cut'
  | 'reset'
  | undefined;

/** A request to the proxy. */
export interface ProxyRequest {
  readonly path: string;
  readonly token: string | undefined;
}

/** An HTTP proxy on loopback in front of a participant. */
export interface FaultProxy {
  readonly url: string;
  /** The requests so far. */
  readonly requests: readonly ProxyRequest[];
  /** Decides what happens to each request from now on, also to those that wait for an answer. */
  fail(fault: (request: ProxyRequest) => ProxyFault): void;
  readonly close: () => Promise<void>;
}

/** Headers of a connection, which a proxy does not forward. */
const ownHeaders = new Set(['connection', 'content-length', 'host', 'keep-alive', 'transfer-encoding']);

/** Starts a proxy in front of a participant, which may send a token of its own in place of those of its clients. */
export async function faultProxy(target: string, ownToken?: string): Promise<FaultProxy> {
  let faultOf: (request: ProxyRequest) => ProxyFault = () => undefined;
  const requests: ProxyRequest[] = [];
  const waiting = new Set<() => void>();
  const serve = async (request: IncomingMessage, response: ServerResponse, body: string): Promise<void> => {
    const { method = 'GET', url: path = '/', headers } = request;
    const seen = { path, token: headers.authorization?.replace('Bearer ', '') };
    requests.push(seen);
    if (interfere(response, faultOf(seen))) return;
    const abort = new AbortController();
    response.on('close', () => {
      abort.abort();
    });
    // a fault that begins now also meets requests that wait
    const check = (): void => {
      if (interfere(response, faultOf(seen))) abort.abort();
    };
    waiting.add(check);
    try {
      const answer = await fetch(`${target}${path}`, {
        method,
        headers: forwarded(headers, ownToken),
        ...(method !== 'GET' && { body }),
        signal: abort.signal,
      });
      const text = await answer.text();
      waiting.delete(check);
      const fault = faultOf(seen);
      if (response.writableEnded || response.destroyed) return;
      if (fault === 'cut') {
        response.writeHead(answer.status, { 'content-type': 'application/json', 'content-length': text.length + 1 });
        response.write(text.slice(0, Math.ceil(text.length / 2)), () => response.destroy());
        return;
      }
      if (interfere(response, fault)) return;
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type') ?? 'text/plain' });
      response.end(text);
    } catch {
      response.destroy();
    } finally {
      waiting.delete(check);
    }
  };
  const server = await httpServer((request, response, body) => void serve(request, response, body));
  return {
    url: server.url,
    requests,
    fail: (fault) => {
      faultOf = fault;
      for (const check of waiting) check();
    },
    close: () => server.close(),
  };
}

const forwarded = (headers: IncomingMessage['headers'], ownToken: string | undefined): [string, string][] => [
  ...Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    const isReplaced = name === 'authorization' && ownToken !== undefined;
    return typeof value === 'string' && !ownHeaders.has(name) && !isReplaced ? [[name, value]] : [];
  }),
  ...(ownToken === undefined ? [] : [['authorization', `Bearer ${ownToken}`] satisfies [string, string]]),
];

/** Answers in place of the participant, or ends the connection. Returns whether it did. */
function interfere(response: ServerResponse, fault: ProxyFault): boolean {
  if (fault === undefined || fault === 'cut') return false;
  if (fault === 'reset') {
    response.destroy();
    return true;
  }
  response.writeHead(fault.status, { 'content-type': 'text/html', ...fault.headers });
  response.end(fault.body);
  return true;
}
