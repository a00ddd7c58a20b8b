import type * as t from 'io-ts';
import { asyncScheduler, concatMap, defer, map, type Observable, take, tap, throwIfEmpty, timer } from 'rxjs';
import { problemsOf } from '../codecs/Problem.js';
import type { AnsweredBefore } from '../errors/ApiError.js';
import { connectionTrouble } from '../errors/connectionTrouble.js';
import { DecodeError } from '../errors/feed.js';
import { isCode } from '../errors/textOf.js';
import { hasForm, missingRight, readAnswer } from '../errors/readAnswer.js';
import {
  ResponseTooLargeError,
  ConnectionError,
  connectionFailed,
  InvalidRequestError,
  RequestTimeoutError,
} from '../errors/request.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { monotonicNow } from '../http/clock.js';
import type { HttpRequest, HttpResponse } from '../http/HttpPort.js';
import { clampTimer, mapError, timeoutWith } from '../http/retry.js';
import type { Client } from './Client.js';
import { interceptRequest } from './intercept.js';
import type { AnswerSummary, RequestedRange } from './Interceptor.js';
import { sendWithToken } from './TokenSource.js';
import { toJson } from './toJson.js';

/** One request to the participant. */
export interface Call {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, number | string>>;
  readonly body?: unknown;
  /** Creates the body each time the request is sent. Only without `body`. */
  readonly makeBody?: () => unknown;
  /** Is called with the JSON of the body before it is sent, and may throw. */
  readonly checkBody?: (json: string) => void;
  /** Is called with each token before the request is sent with it, and may throw. */
  readonly checkToken?: (token: string | undefined) => void;
  /** How long the participant waits before it answers a poll, in milliseconds. */
  readonly idleMs?: number;
  /** Default: the client's `requestTimeoutMs`, and `idleMs` in addition. */
  readonly timeoutMs?: number;
  /** Whether the request changes the ledger, and is answered after the commit. Such a request is repeated only if it was certainly not carried out. */
  readonly isSubmission?: boolean;
  /** The range of a page, for interceptors. */
  readonly range?: RequestedRange;
}

/** What a result shows to interceptors, and the error of a page whose first elements are valid. */
export interface Summary extends AnswerSummary {
  readonly failure?: unknown;
}

/**
 * Sends one request and emits what `read` returns for its response. Every failure is a `LedgerError`. Does not retry, except
 * with another token.
 *
 * @param read - reads the JSON of the response, or throws
 * @param summarize - returns what interceptors see of the result. Default: nothing
 */
export const exchange = <A>(
  client: Client,
  call: Call,
  read: (json: unknown) => A,
  summarize: (result: A) => Summary = () => ({}),
): Observable<A> =>
  client.isLocated
    ? exchangeAt(client, call, read, summarize)
    : client.located(call.path).pipe(concatMap((located) => exchangeAt(located, call, read, summarize)));

const exchangeAt = <A>(
  client: Client,
  call: Call,
  read: (json: unknown) => A,
  summarize: (result: A) => Summary,
): Observable<A> =>
  defer(() => {
    const { idleMs = 0, timeoutMs = client.requestTimeoutMs + idleMs, isSubmission = false } = call;
    const delayedAfterMs = idleMs + (isSubmission ? commitDelayedMs : delayedMs);
    return sendWithToken(client, call, (token) => {
      const request = toRequest(client, call, token);
      const { method, url } = request;
      const address = new URL(url);
      const { host, pathname: path } = address;
      const sentAt = monotonicNow();
      const send = (outgoing: HttpRequest, onStatus?: (status: number) => void): Observable<A> =>
        defer(() => client.send(outgoing)).pipe(
          take(1),
          mapError((error) => toConnectionError(path, error, host, (at) => client.hasAnswered(at))),
          throwIfEmpty(() => new ConnectionError(path, 'there was no response', { host })),
          timeoutWith(
            timeoutMs,
            () => new RequestTimeoutError(path, timeoutMs, host),
            timeLimit(client, path, timeoutMs, delayedAfterMs),
          ),
          map((response) => {
            onStatus?.(response.status);
            client.tokens.answeredAt(response.headers['date']);
            return read(readResponse(outgoing, address, response, client, call));
          }),
        );
      const result$ =
        client.scopes.length === 0
          ? send(request)
          : interceptRequest(
              client,
              { method, path: call.path, url, range: call.range },
              (headers, onStatus) => send({ ...request, headers: { ...headers, ...request.headers } }, onStatus),
              summarize,
            );
      return result$.pipe(
        tap({
          next: () => {
            client.ended(sentAt + idleMs);
            client.succeeded(call.path);
          },
          error: (error: unknown) => {
            client.ended(sentAt + idleMs, error);
            if (isOfParticipant(error, call.path)) client.refused(call.path);
          },
        }),
      );
    });
  });

/** Whether an error shows that a participant has answered. Any server may refuse a method in the words of its HTTP layer. */
const isOfParticipant = (error: unknown, path: string): boolean =>
  isLedgerError(error, 'PrunedError') ||
  (isLedgerError(error, 'DecodeError') && hasForm(path)) ||
  (isLedgerError(error, 'ApiError') && error.answeredBy === 'ledger' && error.status !== 405);

/** How long a response may take before that is reported, in milliseconds, in addition to the idle timeout of a poll. */
const delayedMs = 1_500;

/** The same for a submission, which is answered after its commit. */
const commitDelayedMs = 10_000;

/** Emits when the time of a request is over. Before that, reports a response that is delayed. */
function timeLimit(client: Client, path: string, timeoutMs: number, waitedMs: number): Observable<unknown> {
  const limitMs = clampTimer(timeoutMs);
  if (!(waitedMs < limitMs)) return timer(limitMs);
  return timer(waitedMs).pipe(
    tap(() => {
      client.report(() => ({ _tag: 'ResponseDelayed', path, host: client.host, waitedMs }));
    }),
    concatMap(() => timer(limitMs - waitedMs)),
  );
}

function toRequest(
  client: Client,
  { method, path, query, idleMs = 0, makeBody, body = makeBody?.(), checkBody }: Call,
  token: string | undefined,
): HttpRequest {
  const { serverTimeoutMs = 0 } = client;
  const json = body === undefined ? undefined : toJson(body);
  if (json !== undefined) checkBody?.(json);
  const pairs = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return {
    method,
    url: `${client.address}${path}${pairs.length === 0 ? '' : '?'}${pairs.join('&')}`,
    headers: {
      ...(json !== undefined && { 'content-type': 'application/json' }),
      // not if the participant would end the wait of a poll
      ...(serverTimeoutMs > idleMs && { 'request-timeout': String(serverTimeoutMs) }),
      ...client.headersWith(token),
    },
    ...(json !== undefined && { body: json }),
  };
}

/** Where the participant has answered before. */
function answeredBefore(client: Client, { path }: Call): AnsweredBefore | undefined {
  if (client.hasAnswered(path)) return 'here';
  return client.hasAnswered() ? 'elsewhere' : undefined;
}

/** Returns the JSON of a response of the ledger. Throws the error of any other response. */
function readResponse(
  request: HttpRequest,
  { host, origin, pathname: path }: URL,
  { status, headers, text }: HttpResponse,
  client: Client,
  call: Call,
): unknown {
  const retryAfterMs = parseRetryAfter(headers);
  const answer = {
    path,
    url: origin + path,
    status,
    host,
    headers,
    text,
    // only an error needs them
    get secrets() {
      return requestSecrets(request);
    },
    answeredBefore: answeredBefore(client, call),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(status === 403 && { missingRight: missingRight(path, request.body) }),
  };
  return readAnswer(answer, call.path);
}

/** The typed error of a request without a response. Always a new error, because the port's error may hold the request. */
export function toConnectionError(
  path: string,
  error: unknown,
  host?: string,
  hasAnswered?: Client['hasAnswered'],
): ConnectionError | ResponseTooLargeError {
  if (isLedgerError(error, 'ResponseTooLargeError')) return new ResponseTooLargeError(path, error.maxBytes);
  const code = systemCode(error);
  const trouble = code === undefined ? undefined : connectionTrouble(code);
  const hint = trouble && `${trouble.text}; ${trouble.next}`;
  const isWrongAddress = trouble?.isPermanent === true && hasAnswered?.() !== true;
  const isPermanent = isWrongAddress || trouble?.isOfClient === true;
  return new ConnectionError(path, connectionFailed, { code, host, hint, isPermanent });
}

/** The system's error code, from the innermost error that has one: fetch wraps these errors, and ky wraps those of fetch. */
function systemCode(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 8) return undefined;
  const inner = 'cause' in error ? systemCode(error.cause, depth + 1) : undefined;
  return inner ?? ('code' in error && isCode(error.code) ? error.code : undefined);
}

/**
 * A `Retry-After` header, which is a number of seconds or a date, in milliseconds from now. The date is by the clock of the
 * server, which its header `Date` shows.
 */
export function parseRetryAfter({ 'retry-after': header, date }: HttpResponse['headers']): number | undefined {
  if (header === undefined) return undefined;
  const seconds = Number(header);
  const ms = Number.isNaN(seconds) ? Date.parse(header) - timeIn(date) : seconds * 1000;
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

/** The time in a header, in milliseconds; that of this machine if there is none. */
function timeIn(date = ''): number {
  const ms = Date.parse(date);
  return Number.isNaN(ms) ? asyncScheduler.now() : ms;
}

/** Fields of a request body whose values must not appear in errors. */
const secretFields = /"(?:signature|preparedTransaction)":"([^"]+)"/g;

/** The parts of a request that must not appear in an error: its token, the caller's headers, the signed bytes and the signatures. */
export function requestSecrets({ headers, body = '' }: Pick<HttpRequest, 'headers' | 'body'>): readonly string[] {
  const { authorization = '', ...others } = headers;
  return [
    // without the scheme
    authorization.split(' ').at(-1) ?? '',
    ...Object.entries(others).flatMap(([name, value]) => (isSecret(name, value) ? [value] : [])),
    ...Array.from(body.matchAll(secretFields), ([, secret = '']) => secret),
  ].filter(Boolean);
}

/** A short value is not a secret, and may occur in the response as a word. */
const isSecret = (header: string, value: string): boolean => header !== 'content-type' && value.length >= 8;

/**
 * Validates a request by its codec and fills in its defaults. Throws an {@link InvalidRequestError}, also for what could not be
 * sent. Returns it as JSON, because its caller may change the objects of it before it is sent.
 */
export function validateRequest<A>(codec: t.Type<A, unknown>, request: unknown): A {
  const result = codec.decode(request);
  if (result._tag === 'Left') throw new InvalidRequestError(problemsOf(result.left));
  return JSON.parse(toJson(result.right)) as A;
}

/** Decodes a response by its codec. Throws a {@link DecodeError}. For `map`. */
export const decodeWith =
  <A>(path: string, codec: t.Type<A, unknown>) =>
  (json: unknown): A => {
    const result = codec.decode(json);
    if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left));
    return result.right;
  };
