import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../Fault.js';
import { timerMs } from '../wire/values.js';
import { type Answer, rewritten, type Service, statusAnswer, timeoutAnswer } from './Call.js';
import { addressOf, bearerToken, corsHeaders, parsed, RequestRecord, traceOf, type Work } from './requests.js';
import { dispatch } from './routes.js';

/** Serves one request, from its place in the log to its answer or fault. */
export async function serve(request: IncomingMessage, response: ServerResponse, service: Service): Promise<void> {
  const { participant, faults, log } = service;
  const { method = 'GET', headers } = request;
  const { path, query } = addressOf(request);
  const authorized = /^Bearer\s+\S/i.test(headers.authorization ?? '');
  const record = new RequestRecord(method, path, Object.fromEntries(query), authorized);
  log.push(record);
  const gone = new AbortController();
  response.once('close', () => {
    record.closed();
    gone.abort();
  });
  const cors = participant.settings.cors ? corsHeaders(headers) : undefined;
  const preflight = cors !== undefined && method === 'OPTIONS';
  // a preflight must not use up the fault that is meant for its request
  const fault = preflight ? undefined : faults.take(path);
  try {
    const body = await text(request);
    record.body = parsed(body);
    const work = { method, path, query, headers, body, participant, signal: gone.signal };
    const answer = preflight ? { status: 204, body: '' } : await answerOf(work, fault);
    if (request.socket.destroyed) return;
    deliver(answer && { ...answer, headers: { ...cors, ...answer.headers } }, fault, response, record);
  } catch {
    // the client went away while sending or waiting: nobody is left to tell
    response.destroy();
  }
}

/** The answer to a request, `undefined` if its fault is that there is none. */
async function answerOf(work: Work, fault: Fault | undefined): Promise<Answer | undefined> {
  switch (fault?.kind) {
    case 'status':
      return statusAnswer(fault);
    case 'body':
      return { status: 200, contentType: 'application/json', body: fault.body };
    case 'hang':
      return undefined;
    case 'reset':
      return fault.when === 'after' ? process(work, fault) : undefined;
    case 'rewrite':
      return rewritten(await process(work, fault), fault);
    default:
      return process(work, fault);
  }
}

/** Processes at once, so that a late or lost answer is one to work that was done. */
function process(work: Work, fault: Fault | undefined): Promise<Answer> {
  const { query, headers, body, participant, signal } = work;
  const { settings } = participant;
  const isAuthorized = () => {
    const token = bearerToken(headers.authorization);
    return settings.checkToken?.(token) ?? true;
  };
  const call = { participant, body, query, trace: traceOf(headers), fault, isAuthorized };
  return withTimeout(settings.requestTimeoutMs, signal, async (over) => {
    const answer = await dispatch(work, { ...call, signal: over });
    if (fault?.kind === 'delay' && fault.ms > 0) await sleep(fault.ms, undefined, { signal: over });
    return answer;
  });
}

/** Gives work a time after which its answer is the 503 of the request timeout. `over` fires when it need not go on. */
async function withTimeout(
  timeoutMs: number,
  signal: AbortSignal,
  work: (over: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const answered = new AbortController();
  const over = AbortSignal.any([signal, answered.signal]);
  try {
    return await Promise.race([work(over), sleep(timerMs(timeoutMs), timeoutAnswer(), { signal: over })]);
  } finally {
    answered.abort();
  }
}

/** Sends an answer, or does to the connection what the fault says instead. */
export function deliver(
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
    if (fault.kind === 'truncate') cut(response, fault.how);
  });
}

/** Bytes and a reset that arrive together are a plain end to many clients: libuv does not report the reset then. */
const readMs = 10;

function cut(response: ServerResponse, how: 'close' | 'reset' = 'close'): void {
  if (how === 'close') response.destroy();
  else setTimeout(() => response.socket?.resetAndDestroy(), readMs).unref();
}
