import { request as requestOverHttp, type Agent, type IncomingMessage } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import type { Socket } from 'node:net';
import { defer, Observable, throwError, timeout } from 'rxjs';
import type { Connection } from '../arguments/Connection.js';
import { headersOf } from './headersOf.js';
import type { Answer } from './Answer.js';
import { AskError } from './AskError.js';
import type { Question } from './Question.js';

/** How much of an answer is read, in bytes. */
const mostBytes = 4 * 2 ** 20;

/** How it is asked. */
export interface Asking {
  /** How long it may take, in milliseconds. */
  readonly timeoutMs: number;
  /** Keeps the connections; default: one for each request. */
  readonly agent?: Agent;
}

/**
 * Asks once and emits the answer, of whatever status; errors with an {@link AskError} where there is none. Not by way of
 * the library: its errors say what concerns a feed, not what concerns a connection.
 */
export const ask = (connection: Connection, question: Question, { timeoutMs, agent }: Asking): Observable<Answer> =>
  defer(() => {
    const state = { isConnected: false };
    return exchanged(connection, question, agent, state).pipe(
      timeout({ first: timeoutMs, with: () => throwError(() => new AskError('TIMEOUT', state.isConnected)) }),
    );
  });

const exchanged = (
  connection: Connection,
  { method, path, body, isAnonymous = false }: Question,
  agent: Agent | undefined,
  state: { isConnected: boolean },
): Observable<Answer> =>
  new Observable((subscriber) => {
    const url = new URL(`${connection.ledger.replace(/\/+$/, '')}${path}`);
    const begunAt = performance.now();
    let sentAt = Date.now();
    const text = body === undefined ? '' : JSON.stringify(body);
    const fail = (error: unknown): void => {
      subscriber.error(error instanceof AskError ? error : new AskError(codeOf(error), state.isConnected));
    };
    const request = (url.protocol === 'https:' ? requestOverHttps : requestOverHttp)(url, {
      method,
      agent: agent ?? false,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        ...headersOf(connection, isAnonymous),
      },
    });
    request.on('socket', (socket: Socket) => {
      const onConnect = (): void => {
        state.isConnected = true;
        sentAt = Date.now();
      };
      if (socket.connecting) socket.once('connect', onConnect);
      else onConnect();
    });
    request.on('response', (response: IncomingMessage) => {
      const cameAt = Date.now();
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes > mostBytes) fail(new AskError('TOO_LARGE', true));
      });
      response.on('error', fail);
      response.on('end', () => {
        const { statusCode: status = 0, headers } = response;
        const tookMs = performance.now() - begunAt;
        subscriber.next({ status, headers, text: Buffer.concat(chunks).toString(), sentAt, cameAt, tookMs });
        subscriber.complete();
      });
    });
    request.on('error', fail);
    request.end(text);
    return () => {
      request.destroy();
    };
  });

/** The system's code; where several addresses were tried, that of the first. */
function codeOf(error: unknown): string {
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,60}$/.test(code) ? code : 'FAILED';
}
