import type { IncomingHttpHeaders } from 'node:http';
import type { RequestError } from '../errors.js';
import type { FaultRewrite, FaultStatus } from '../Fault.js';
import type { Settings } from '../participant/Settings.js';

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
export interface TimeLimit {
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
