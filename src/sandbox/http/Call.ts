import type { RequestError } from '../errors.js';
import type { Fault, FaultRewrite } from '../Fault.js';
import type { FaultStatus } from '../FaultSocket.js';
import type { Participant } from '../participant/Participant.js';
import type { Settings } from '../participant/Settings.js';
import type { FaultQueue } from './FaultQueue.js';
import type { RequestRecord, Trace } from './requests.js';

/** A request, as passed to its handler. */
export interface Call {
  readonly participant: Participant;
  readonly body: string;
  readonly query: URLSearchParams;
  readonly trace: Trace;
  /** The fault of the request; handlers implement some kinds of fault. */
  readonly fault: Fault | undefined;
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

/** A response before it is sent. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  /** Whether the response is lost: the connection is reset instead. */
  readonly lost?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Serves a WebSocket. The body of the call is the first message, and each element is sent as a message. */
export type Stream = (call: Call) => AsyncIterable<object> | Iterable<object>;

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly handler: Handler;
  /** Serves WebSockets of the same path. */
  readonly stream?: Stream;
  /** Whether the endpoint works without a token. */
  readonly open?: boolean;
  /** Whether the endpoint is served with `interfaceOnly`. */
  readonly essential?: boolean;
  /** The status in a release that does not serve the endpoint. */
  readonly missing?: (settings: Settings) => 404 | 405 | undefined;
}

/** Serves a request. */
type Handler = (call: Call) => Answer | Promise<Answer>;

/** Creates a JSON response on one line. */
export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

/** Creates a plain-text response, the form of all errors that occur before the ledger handles the request. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=UTF-8', body };
}

/** Creates the response that a fault defines, for a request or an upgrade. */
export function statusAnswer({ status, body, contentType, headers = {} }: Omit<FaultStatus, 'kind'>): Answer {
  if (body === undefined) return { status, body: '', headers, ...(contentType !== undefined && { contentType }) };
  const answer = typeof body === 'string' ? textAnswer(status, body) : jsonAnswer(body, status);
  return { ...answer, headers, ...(contentType !== undefined && { contentType }) };
}

/** Creates the response of a request timeout. */
export function timeoutAnswer(): Answer {
  return textAnswer(503, timeoutText);
}

const timeoutText =
  'The server was not able to produce a timely response to your request.\r\nPlease try again in a short while!';

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
