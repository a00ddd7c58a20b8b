import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { addressOf } from './addressOf.js';
import { answerOf } from './answerOf.js';
import { corsHeaders } from './corsHeaders.js';
import { deliver } from './deliver.js';
import { parsed } from './parsed.js';
import { RequestRecord } from './RequestRecord.js';
import type { Service } from './Service.js';

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
