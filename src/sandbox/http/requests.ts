import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { RequestError } from '../errors.js';
import type { Participant } from '../participant/Participant.js';
import type { SandboxRequest } from '../Sandbox.js';
import type { WireTraceContext } from '../wire/WireEvent.js';

/** A request with its complete body. */
export interface ParsedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly participant: Participant;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The trace of a request: from its headers, or a new one. Only errors contain it. */
export interface Trace {
  readonly id: string;
  readonly context: WireTraceContext | null;
}

/** A request in the log. */
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

  /** From now on, a closed connection does not count as aborted by the client. */
  settle(): void {
    this.#settled = true;
  }

  onClose(): void {
    this.aborted = !this.#settled;
  }
}

/** Reads the trace of a request from its W3C headers. */
export function readTrace({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = typeof traceparent === 'string' ? traceparent : '';
  const id = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(parent)?.[1];
  if (id === undefined) return { id: randomBytes(16).toString('hex'), context: null };
  return { id, context: { traceparent: parent, tracestate: typeof tracestate === 'string' ? tracestate : null } };
}

/** Splits the URL of a request. */
export function parseUrl({ url = '/' }: IncomingMessage): Url {
  const [path = '/', search] = url.split('?', 2);
  return { path, query: new URLSearchParams(search) };
}

interface Url {
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Reads the bearer token of an Authorization header. */
export function readBearerToken(header: string | undefined): string | undefined {
  const [, token] = /^Bearer(?:\s+(.*))?$/i.exec(header ?? '') ?? [];
  if (token === '' || (token === undefined && /^Bearer\s*$/i.test(header ?? ''))) {
    throw new RequestError(400, 'Invalid value for: header Authorization (missing token)');
  }
  return token;
}

/** Reads a body for the log: as JSON if possible, else as text. Returns `undefined` if it is empty. */
export function parseForLog(body: string): unknown {
  if (body === '') return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

/** The headers that allow requests from pages of any origin. */
export function corsHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return {
    'access-control-allow-origin': headers.origin ?? '*',
    'access-control-allow-methods': 'GET, POST, OPTIONS',
    'access-control-allow-headers': headers['access-control-request-headers'] ?? 'authorization, content-type',
    'access-control-max-age': '600',
    vary: 'origin',
  };
}
