import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault, FaultStatus } from '../Fault.js';
import { clampTimer } from '../wire/values.js';
import { type Answer, readTimeLimit, rewriteAnswer, statusAnswer, textAnswer, type TimeLimit } from './Answer.js';
import {
  type Call,
  corsHeaders,
  logRequest,
  parseForLog,
  readBearerToken,
  readTrace,
  type RequestRecord,
  type Service,
} from './Call.js';
import { dispatch } from './routes.js';

/** Serves one request: logs it, takes its fault, and sends the response. */
export async function serve(request: IncomingMessage, response: ServerResponse, service: Service): Promise<void> {
  const { participant, faults, log } = service;
  const { method = 'GET', headers } = request;
  const { path, query, record, signal } = logRequest(request, response, log);
  const cors = participant.settings.cors ? corsHeaders(headers) : undefined;
  const isPreflight = cors !== undefined && method === 'OPTIONS';
  // a preflight must not take the fault of the request that follows it
  const fault = isPreflight ? undefined : faults.take(path);
  try {
    const body = await text(request);
    record.body = parseForLog(body);
    const parsed = { participant, method, path, query, headers, body, fault, signal };
    const answer = isPreflight ? { status: 204, body: '' } : await answerRequest(parsed);
    if (request.socket.destroyed) return;
    sendAnswer(answer && { ...answer, headers: { ...cors, ...answer.headers } }, fault, response, record);
  } catch {
    // the client disconnected
    response.destroy();
  }
}

type ParsedRequest = Omit<Call, 'trace' | 'timeoutAnswer' | 'isAuthorized'>;

/** Creates the response to a request, `undefined` if its fault prevents one. */
async function answerRequest(request: ParsedRequest): Promise<Answer | undefined> {
  const { fault } = request;
  switch (fault?.kind) {
    case 'status':
      return fault.when === 'after' ? replaceSuccess(await processRequest(request), fault) : statusAnswer(fault);
    case 'body':
      return { status: 200, contentType: 'application/json', body: fault.body };
    case 'hang':
      return undefined;
    case 'reset':
      return fault.when === 'after' ? processRequest(request) : undefined;
    case 'rewrite':
      return rewriteAnswer(await processRequest(request), fault);
    default:
      return processRequest(request);
  }
}

/** Replaces a successful response. A request that fails gets its own error. */
const replaceSuccess = (answer: Answer, fault: FaultStatus): Answer =>
  answer.status < 300 ? statusAnswer(fault) : answer;

/** Processes a request immediately. A fault delays or loses only the response. */
async function processRequest(request: ParsedRequest): Promise<Answer> {
  const { headers, participant, signal, fault } = request;
  const { settings } = participant;
  const isAuthorized = () => {
    const token = readBearerToken(headers.authorization);
    return settings.checkToken?.(token) ?? true;
  };
  const limit = readTimeLimit(headers, settings);
  if (typeof limit === 'string') return textAnswer(400, limit);
  const { timeoutAnswer } = limit;
  return withTimeout(limit, signal, async (done) => {
    const answer = await dispatch({ ...request, trace: readTrace(headers), timeoutAnswer, isAuthorized, signal: done });
    if (fault?.kind === 'delay' && fault.ms > 0) await sleep(fault.ms, undefined, { signal: done });
    return answer;
  });
}

/**
 * Returns the response of the time limit if the work takes too long. `done` aborts when the result is no longer needed.
 */
async function withTimeout(
  { timeoutMs, timeoutAnswer }: TimeLimit,
  signal: AbortSignal,
  work: (done: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController();
  const done = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.race([work(done), sleep(clampTimer(timeoutMs), timeoutAnswer, { signal: done })]);
  } finally {
    answered.abort();
  }
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
