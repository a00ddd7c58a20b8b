import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { checkNotNegative } from '../../codecs/internal/field.js';
import { RequestError } from '../errors.js';
import type { Fault, FaultScope } from '../Fault.js';
import type { Participant } from '../participant/Participant.js';
import type { Settings } from '../participant/Settings.js';
import type { SandboxRequest } from '../Sandbox.js';
import type { Trace } from '../submission/Submission.js';
import type { Answer } from './Answer.js';

/** A request, as passed to its handler. */
export interface Call {
  readonly participant: Participant;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly trace: Trace;
  /** The fault of the request; handlers implement some kinds of fault. */
  readonly fault: Fault | undefined;
  /** The response if the time of the request is over. */
  readonly timeoutAnswer: Answer;
  /** Aborts when a response is no longer needed. */
  readonly signal: AbortSignal;
  /** Checks the token of the request with the current settings. */
  readonly isAuthorized: () => boolean;
}

/** The state of the HTTP server. */
export interface Service {
  readonly participant: Participant;
  readonly faults: FaultQueue;
  readonly log: RequestRecord[];
}

/** Serves a WebSocket. The body of the call is the first message, and each element is sent as a message. */
export type Stream = (call: Call) => AsyncIterable<object> | Iterable<object>;

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly handler: (call: Call) => Answer | Promise<Answer>;
  /** Serves WebSockets of the same path. */
  readonly stream?: Stream;
  /** Whether the endpoint works without a token. */
  readonly open?: boolean;
  /** Whether the endpoint is served with `interfaceOnly`. */
  readonly essential?: boolean;
  /** The status in a release that does not serve the endpoint. */
  readonly missing?: (settings: Settings) => 404 | 405 | undefined;
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

/** A request whose body has not been read yet. */
interface Received {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly record: RequestRecord;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** Logs a request, until its response or its socket closes. */
export function logRequest(
  request: IncomingMessage,
  closing: ServerResponse | Socket,
  log: RequestRecord[],
  protocolToken?: string,
): Received {
  const { method = 'GET', headers } = request;
  const { path, query } = parseUrl(request);
  const isAuthorized = /^Bearer\s+\S/i.test(headers.authorization ?? '') || Boolean(protocolToken);
  const record = new RequestRecord(method, path, Object.fromEntries(query), isAuthorized);
  log.push(record);
  const disconnected = new AbortController();
  closing.once('close', () => {
    record.onClose();
    disconnected.abort();
  });
  return { path, query, record, signal: disconnected.signal };
}

/** Splits the URL of a request. */
export function parseUrl({ url = '/' }: IncomingMessage): Pick<Received, 'path' | 'query'> {
  const [path = '/', search] = url.split('?', 2);
  return { path, query: new URLSearchParams(search) };
}

/** Reads the trace of a request from its W3C headers. */
export function readTrace({ traceparent, tracestate }: IncomingHttpHeaders): Trace {
  const parent = typeof traceparent === 'string' ? traceparent : '';
  const id = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}$/.exec(parent)?.[1];
  if (id === undefined) return { id: randomBytes(16).toString('hex'), context: null };
  return { id, context: { traceparent: parent, tracestate: typeof tracestate === 'string' ? tracestate : null } };
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

/** The queued faults. */
export class FaultQueue {
  readonly #queue: Entry[] = [];

  add(fault: Fault, { path, after = 0, times = 1 }: FaultScope = {}): void {
    checkNotNegative({ after, times });
    if ('ms' in fault) checkNotNegative({ ms: fault.ms });
    if ('bytes' in fault) checkNotNegative({ bytes: fault.bytes });
    if ('elements' in fault) checkNotNegative({ elements: fault.elements });
    this.#queue.push({ fault, path, after, remaining: times });
  }

  /** Takes the first fault that is due for a path, and counts the request for the faults that are not due yet. */
  take(path: string, target: 'request' | 'upgrade' = 'request'): Fault | undefined {
    const candidates = this.#queue.filter(
      ({ path: pattern, fault }) => matchesPath(path, pattern) && appliesTo[target](fault),
    );
    const entry = candidates.find(({ after }) => after <= 0);
    for (const waiting of candidates) waiting.after -= 1;
    if (entry === undefined) return undefined;
    entry.remaining -= 1;
    if (entry.remaining <= 0) this.#queue.splice(this.#queue.indexOf(entry), 1);
    return entry.fault;
  }
}

interface Entry {
  readonly fault: Fault;
  readonly path: string | RegExp | undefined;
  after: number;
  remaining: number;
}

const upgradeKinds = new Set<Fault['kind']>(['status', 'reset', 'hang', 'rewrite']);

const appliesTo = {
  request: ({ kind }: Fault) => kind !== 'socket',
  upgrade: ({ kind }: Fault) => kind === 'socket' || upgradeKinds.has(kind),
};

function matchesPath(path: string, pattern: string | RegExp | undefined): boolean {
  if (pattern === undefined || typeof pattern === 'string') return pattern === undefined || pattern === path;
  // unlike test(), search() has no state in a global pattern
  return path.search(pattern) >= 0;
}
