import * as t from 'io-ts';
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request as requestOverHttp } from 'node:http';
import { request as requestOverHttps } from 'node:https';
import type { Socket } from 'node:net';
import { catchError, defer, map, Observable, of, throwError, timeout } from 'rxjs';
import type { Connection } from '../arguments.js';

/** What came back, of whatever status. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, as far as it was read. */
  readonly text: string;
  /** When it was sent, and when the head of the answer came, in milliseconds since 1970. */
  readonly sentAt: number;
  readonly cameAt: number;
  /** How long the whole answer took, in milliseconds. */
  readonly tookMs: number;
}

/** One request of a command that looks at a ledger more closely than its users do. */
export interface Question {
  readonly method: 'GET' | 'POST';
  /** With its query, if it has one. */
  readonly path: string;
  /** JSON, for POST. */
  readonly body?: unknown;
  /** Whether the token is left out. */
  readonly isAnonymous?: boolean;
}

/** How it is asked. */
interface Asking {
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

/** How much of an answer is read, in bytes. */
const mostBytes = 4 * 2 ** 20;

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

/** The headers of every request: the token, if there is one and it is not to be left out. */
function headersOf(connection: Connection, isAnonymous: boolean): Readonly<Record<string, string>> {
  const value = isAnonymous ? undefined : tokenNow(connection);
  return value === undefined ? {} : { authorization: `Bearer ${value}` };
}

/** A request had no answer. It holds nothing of the request. */
export class AskError extends Error {
  /** The class's name. */
  override readonly name = 'AskError' as const;

  constructor(
    /** The system's name for what happened, such as `ECONNREFUSED`; `'TIMEOUT'`, `'TOO_LARGE'` and `'NO_TOKEN'` are ours. */
    readonly code: string,
    /** Whether there was a connection. */
    readonly isConnected: boolean,
  ) {
    super(code);
  }
}

/** The token as it is now; its file may be gone since the arguments were read. */
export function tokenNow({ token }: Connection): string | undefined {
  try {
    return token?.();
  } catch {
    throw new AskError('NO_TOKEN', false);
  }
}

/** What a good answer says; `undefined` for any other, and for one that does not say it. */
export function jsonIn<A>({ status, text }: Answer, codec: t.Type<A, unknown>): A | undefined {
  if (status !== 200) return undefined;
  try {
    const decoded = codec.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}

/** The id of the participant; `undefined` from one that does not tell it. */
export const participantId = (ask: (question: Question) => Observable<Answer>): Observable<string | undefined> =>
  ask({ method: 'GET', path: '/v2/parties/participant-id' }).pipe(
    map((answer) => jsonIn(answer, ParticipantId)?.participantId),
    catchError(() => of(undefined)),
  );

const ParticipantId = t.type({ participantId: t.string });
