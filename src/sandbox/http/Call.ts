import type { Refusal } from '../errors.js';
import type { Fault, FaultRewrite } from '../Fault.js';
import type { FaultStatus } from '../FaultSocket.js';
import type { Participant } from '../participant/Participant.js';
import type { FaultQueue } from './FaultQueue.js';
import type { RequestRecord, Trace } from './requests.js';

/** A request on its way through a handler. */
export interface Call {
  readonly participant: Participant;
  readonly body: string;
  readonly query: URLSearchParams;
  readonly trace: Trace;
  /** The fault of the request, for those that need the handler's help. */
  readonly fault: Fault | undefined;
  /** Fires when there is nobody left to answer. */
  readonly signal: AbortSignal;
  /** Asks again whether the token of the request is good. */
  readonly isAuthorized: () => boolean;
}

/** What the HTTP side works with. */
export interface Service {
  readonly participant: Participant;
  readonly faults: FaultQueue;
  readonly log: RequestRecord[];
}

/** What goes back to the client. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly body: string;
  /** Whether the connection is reset instead. */
  readonly lost?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What an endpoint does for a WebSocket: the body of the call is the first message, each element becomes one. */
export type Stream = (call: Call) => AsyncIterable<object>;

/** What an endpoint does. */
type Handler = (call: Call) => Answer | Promise<Answer>;

/** An endpoint. */
export interface Route {
  readonly method: 'GET' | 'POST';
  readonly handler: Handler;
  /** What a WebSocket to it gets. */
  readonly stream?: Stream;
  /** Whether it asks for no token. */
  readonly open?: boolean;
  /** Whether a service reduced to the two operations has it. */
  readonly essential?: boolean;
}

/** A JSON answer, on one line. */
export function jsonAnswer(body: unknown, status = 200): Answer {
  return { status, contentType: 'application/json', body: JSON.stringify(body) };
}

/** A plain-text answer: the form of everything that fails before the ledger is asked. */
export function textAnswer(status: number, body: string): Answer {
  return { status, contentType: 'text/plain; charset=UTF-8', body };
}

/** The answer that a fault asks for, to a request or to an upgrade. */
export function statusAnswer({ status, body, contentType, headers = {} }: Omit<FaultStatus, 'kind'>): Answer {
  if (body === undefined) return { status, body: '', headers, ...(contentType !== undefined && { contentType }) };
  const answer = typeof body === 'string' ? textAnswer(status, body) : jsonAnswer(body, status);
  return { ...answer, headers, ...(contentType !== undefined && { contentType }) };
}

const late =
  'The server was not able to produce a timely response to your request.\r\nPlease try again in a short while!';

/** The answer of the request timeout. */
export function timeoutAnswer(): Answer {
  return textAnswer(503, late);
}

/** An answer with its JSON made over. */
export function rewritten(answer: Answer, { body }: FaultRewrite): Answer {
  if (answer.contentType !== 'application/json') return answer;
  try {
    const made = body(JSON.parse(answer.body));
    const text = typeof made === 'string' ? made : (JSON.stringify(made) as string | undefined);
    if (text !== undefined) return { ...answer, body: text };
  } catch {
    // what the function threw may hold anything
  }
  return textAnswer(500, 'The sandbox could not rewrite its answer.');
}

/** The answer of a refusal; a JSON one tells the trace of the request. */
export function refusalAnswer({ status, body }: Refusal, traceId: string): Answer {
  if (typeof body === 'string') return textAnswer(status, body);
  const traced = 'category' in body.context ? { ...body.context, tid: traceId } : body.context;
  return jsonAnswer({ ...body, traceId, context: traced }, status);
}
