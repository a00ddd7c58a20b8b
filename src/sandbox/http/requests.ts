import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Refusal } from '../errors.js';
import type { Participant } from '../participant/Participant.js';
import type { SandboxRequest } from '../Sandbox.js';
import type { WireTraceContext } from '../wire/WireEvent.js';

/** A request that has arrived as a whole. */
export interface Work {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly participant: Participant;
  /** Fires when the client is gone. */
  readonly signal: AbortSignal;
}

/** The trace of a request: the caller's, or a new one that only errors tell. */
export interface Trace {
  readonly id: string;
  readonly context: WireTraceContext | null;
}

/** A request of the log while it is being answered. */
export class RequestRecord implements SandboxRequest {
  body: unknown = undefined;
  status?: number;
  aborted = false;
  readonly at = Date.now();
  #settled = false;

  constructor(
    readonly method: string,
    readonly path: string,
    readonly query: Readonly<Record<string, string>>,
    readonly authorized: boolean,
  ) {}

  /** From here on, the end of the connection is no doing of the client. */
  settle(): void {
    this.#settled = true;
  }

  closed(): void {
    this.aborted = !this.#settled;
  }
}

/** The trace of a request, from its W3C headers. */
export function traceOf({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = typeof traceparent === 'string' ? traceparent : '';
  const id = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(parent)?.[1];
  if (id === undefined) return { id: randomBytes(16).toString('hex'), context: null };
  return { id, context: { traceparent: parent, tracestate: typeof tracestate === 'string' ? tracestate : null } };
}

interface Address {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a request is for. */
export function addressOf({ url = '/' }: IncomingMessage): Address {
  const [path = '/', search] = url.split('?', 2);
  return { path, query: new URLSearchParams(search) };
}

/** The bearer token of an Authorization header. */
export function bearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer(?:\s+(.*))?$/i.exec(header ?? '') ?? [];
  if (token === '' || (token === undefined && /^Bearer\s*$/i.test(header ?? ''))) {
    throw new Refusal(400, 'Invalid value for: header Authorization (missing token)');
  }
  return token;
}

/** A body for the log: JSON if it is, else the text, else nothing. */
export function parsed(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** What lets pages of any origin call. */
export function corsHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
    'access-control-max-age': '600',
    vary: 'origin',
  };
}
