import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Observable } from 'rxjs';
import { RequestError } from '../errors.js';
import type { Fault } from '../faults/Fault.js';
import type { FaultRewrite, FaultStatus } from '../faults/responseFaults.js';
import type { Trace } from '../participant/Completions.js';
import type { Participant } from '../participant/Participant.js';
import { RequestRecord } from '../participant/RequestRecord.js';
import type { Settings } from '../participant/Settings.js';
import { makeTraceContext } from '../wire/values.js';
import type { Wait } from './Wait.js';

/** A request, as passed to its handler. */
export interface Call {
  readonly participant: Participant;
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The same body as bytes; empty for a WebSocket. */
  readonly bytes: Buffer;
  readonly trace: Trace;
  /** The fault of the request; handlers implement some kinds of fault. */
  readonly fault: Fault | undefined;
  /** The response if the time of the request is over. */
  readonly timeoutAnswer: Answer;
  /** Checks the token of the request with the current settings. */
  readonly isAuthorized: () => boolean;
}

/** Serves a WebSocket. The body of the call is the first message, and each element is sent as a message. */
export type Stream = (call: Call) => Iterable<object | Wait>;

/** Responds to a request. After an unsubscription, the response is not needed any more. */
export type Handler = (call: Call) => Answer | Observable<Answer>;

/** An endpoint. */
export interface Route {
  readonly GET?: Handler;
  readonly POST?: Handler;
  /** Whether the body is binary instead of JSON. */
  readonly binary?: boolean;
  /** Serves WebSockets of the same path. */
  readonly stream?: Stream;
  /** Whether the endpoint works without a token. */
  readonly open?: boolean;
  /** Whether the endpoint is served with `interfaceOnly`. */
  readonly essential?: boolean;
  /** The status in a release that does not serve the endpoint. */
  readonly missing?: (settings: Settings) => 404 | 405 | undefined;
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
  { log, scheduler }: Participant,
  protocolToken?: string,
): Received {
  const { method = 'GET', headers } = request;
  const { path, query } = parseUrl(request);
  const isAuthorized = /^Bearer\s+\S/i.test(headers.authorization ?? '') || Boolean(protocolToken);
  const record = new RequestRecord(method, path, Object.fromEntries(query), isAuthorized, scheduler.now());
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
  if (id === undefined) {
    const digits = randomBytes(24).toString('hex');
    return { id: digits.slice(0, 32), context: makeTraceContext(digits) };
  }
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

/** Rejects a body that is too large. */
export function checkBodySize(size: number, { maxBodyBytes }: Settings): void {
  if (size <= maxBodyBytes) return;
  const problem = `incoming entity size (${size}) exceeded size limit (${maxBodyBytes} bytes)!`;
  throw new RequestError(413, `EntityStreamSizeException: ${problem}`);
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

/** A response before it is sent. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  /** Whether the response is lost: the connection is reset instead. */
  readonly lost?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Creates a JSON response on one line. */
export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

/** Creates a plain-text response, the form of all errors that occur before the ledger handles the request. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=UTF-8', body };
}

/** Creates the response that a fault defines, for a request or an upgrade. */
export function statusAnswer({ status, body, contentType, headers = {} }: Omit<FaultStatus, 'kind' | 'when'>): Answer {
  if (body === undefined) return { status, body: '', headers, ...(contentType !== undefined && { contentType }) };
  const answer = typeof body === 'string' ? textAnswer(status, body) : jsonAnswer(body, status);
  return { ...answer, headers, ...(contentType !== undefined && { contentType }) };
}

/** Lets a fault change a JSON response. */
export function rewriteAnswer(answer: Answer, { body }: FaultRewrite): Answer {
  if (answer.contentType !== 'application/json') return answer;
  try {
    const changed = body(JSON.parse(answer.body));
    const text = typeof changed === 'string' ? changed : (JSON.stringify(changed) as string | undefined);
    if (text !== undefined) return { ...answer, body: text };
  } catch {
    // the thrown value may contain anything, so it is not sent
  }
  return textAnswer(500, 'The sandbox could not rewrite its response.');
}

/** Creates the response of an error. A JSON error contains the trace id of the request. */
export function errorAnswer({ status, body }: RequestError, traceId: string): Answer {
  if (typeof body === 'string') return textAnswer(status, body);
  const context = 'category' in body.context ? { ...body.context, tid: traceId } : body.context;
  return jsonAnswer({ ...body, traceId, context }, status);
}

/** How long a request may take, and the response after that. */
interface TimeLimit {
  readonly timeoutMs: number;
  readonly timeoutAnswer: Answer;
}

/** The response to a request without the header after the time of the sandbox's settings. */
export const unavailable: Answer = textAnswer(
  503,
  'The server was not able to produce a timely response to your request.\r\nPlease try again in a short while!',
);

/** The window of the header, in milliseconds. */
const [minMs, maxMs] = [1_000, 60_000];

/** Reads the time limit of a request from the header `Request-Timeout`, or returns the text of its refusal. */
export function readTimeLimit(headers: IncomingHttpHeaders, settings: Settings): TimeLimit | string {
  const header = settings.profile >= '3.6' ? headers['request-timeout'] : undefined;
  if (header === undefined) return { timeoutMs: settings.requestTimeoutMs, timeoutAnswer: unavailable };
  const text = String(header);
  if (!/^[1-9]\d*$/.test(text))
    return `Invalid Request-Timeout header value '${text}': expected a positive integer number of milliseconds.`;
  const timeoutMs = Number(text);
  if (timeoutMs < minMs) return `Request-Timeout '${text}' ms is below the minimum of ${minMs} ms.`;
  if (timeoutMs > maxMs) return `Request-Timeout '${text}' ms is above the maximum of ${maxMs} ms.`;
  return { timeoutMs, timeoutAnswer: { status: 408, body: '' } };
}

/** Sends a response, or applies the fault to the connection. */
export function sendAnswer(
  answer: Answer | undefined,
  fault: Fault | undefined,
  response: ServerResponse,
  record: RequestRecord,
): void {
  if (fault?.kind === 'hang') return;
  const body = Buffer.from(answer?.body ?? '');
  const stalls = fault?.kind === 'stall' && fault.bytes < body.length;
  if (!stalls) record.settle();
  const resets = fault?.kind === 'reset' || answer?.lost === true;
  if (resets) response.socket?.resetAndDestroy();
  if (resets || answer === undefined) return;
  const type = answer.contentType === undefined ? {} : { 'content-type': answer.contentType };
  const length = answer.status === 204 ? {} : { 'content-length': body.length };
  record.status = answer.status;
  response.writeHead(answer.status, { ...type, ...length, ...answer.headers });
  if (!stalls && fault?.kind !== 'truncate') {
    response.end(body);
    return;
  }
  response.flushHeaders();
  response.write(body.subarray(0, fault.bytes), () => {
    if (fault.kind !== 'truncate') return;
    if (fault.how === 'reset') resetSoon(response.socket);
    else response.destroy();
  });
}

/**
 * The delay of a reset after bytes, in milliseconds. If both arrive together, libuv does not report the reset to many
 * clients.
 */
const resetDelayMs = 10;

/** Resets a connection after the client has had time to read the bytes sent before. */
export function resetSoon(socket: Socket | null): void {
  // a client in this process reads between the timer and the next turn, however late the timer is
  setTimeout(() => setImmediate(() => socket?.resetAndDestroy()), resetDelayMs).unref();
}
