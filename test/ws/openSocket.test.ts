import { describe, expect, it } from '@jest/globals';
import {
  asyncScheduler,
  concat,
  EMPTY,
  finalize,
  NEVER,
  type Observable,
  of,
  takeUntil,
  throwError,
  timer,
} from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { Client, type ClientSettings } from '../../src/client/Client.js';
import { type Token, TokenSource } from '../../src/client/TokenSource.js';
import { openSocket, readList } from '../../src/ws/openSocket.js';
import type { SocketPort, SocketSign } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { scriptedSockets, socketEnd, socketOpen, type SocketRequest, socketText } from '../helpers/scripted.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorBody } from '../helpers/wire.js';
import { pong$, silentSocket } from './worlds.js';

const settings: ClientSettings = {
  port: () => EMPTY,
  address: 'https://ledger.example/prefix',
  headers: { 'x-tenant': 'blue' },
  requestTimeoutMs: 1_000,
};
const client = new Client(settings);

describe('openSocket', () => {
  const stream = { path: '/v2/updates', body: {}, field: 'update' } as const;
  /** The messages and the error of a socket that shows these signs. */
  const opened = (...signs: readonly SocketSign[]) => observe(openSocket(client, () => of(...signs), stream, 'abc'));

  it('sends the request with token, headers and subprotocol', () => {
    const requests: unknown[] = [];
    const port: SocketPort = (request) => EMPTY.pipe(finalize(() => requests.push(request)));
    observe(openSocket(client, port, { ...stream, body: { beginExclusive: 7 } }, 'abc'));
    expect(requests).toEqual([
      {
        url: 'wss://ledger.example/prefix/v2/updates',
        protocols: ['daml.ws.auth'],
        headers: { authorization: 'Bearer abc', 'x-tenant': 'blue' },
        message: '{"beginExclusive":7}',
      },
    ]);
  });

  it('emits that the socket is open, then its elements, and completes after a close with 1000', () => {
    const updates = [{ update: 1 }, { update: 2 }];
    const seen = opened(socketOpen, { _tag: 'Alive' }, ...updates.map(socketText), socketEnd(1000));
    expect(seen.values).toEqual([{ _tag: 'Open' }, ...updates.map((json) => ({ _tag: 'Element', json }))]);
    expect(seen).toMatchObject({ completed: true, error: undefined });
  });

  it('accepts the elements of its own stream only', () => {
    const port: SocketPort = () => of(socketText({ contractEntry: {} }), socketText({ update: 1 }));
    const seen = observe(openSocket(client, port, { ...stream, field: 'contractEntry' }, undefined));
    expect(seen.values).toEqual([{ _tag: 'Element', json: { contractEntry: {} } }]);
    expect(seen.error).toMatchObject({ reason: 'the message is not an element' });
  });

  it('reports an error message with the HTTP status that the participant would have answered', () => {
    const statusOf = (grpcCodeValue: unknown): unknown =>
      Reflect.get(Object(opened(socketText({ ...errorBody('NEW', -1), grpcCodeValue })).error), 'status');
    const codes = Array.from({ length: 17 }, (_, code) => code);
    const statuses = [500, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401];
    expect(codes.map(statusOf)).toEqual(statuses);
    expect(statusOf(undefined)).toBe(500);
  });

  it.each<[string, SocketSign[], string]>([
    ['the end of the socket', [{ _tag: 'End', code: 1006 }], 'the socket was closed with 1006'],
    ['an end that is no regular close', [{ _tag: 'End', code: 1001 }], 'the socket was closed with 1001'],
    ['a port that completes', [], 'the socket ended'],
    ['a message that is not JSON', [{ _tag: 'Text', text: '{"update":' }], 'the message is not valid JSON'],
    ['a message that is neither element nor error', [socketText({ error: 'secret' })], 'the message is not an element'],
  ])('reports %s (G21)', (_, signs, reason) => {
    const seen = opened({ _tag: 'Open' }, ...signs);
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError', path: '/v2/updates', reason, host: 'ledger.example' });
    expect(String(seen.error)).not.toContain('secret');
  });

  it('hides the token in an error message that echoes it', () => {
    const token = 't0ken-of-mine';
    const port: SocketPort = () => of(socketText({ ...errorBody('ECHO', 8), cause: `Bearer ${token}` }));
    const seen = observe(openSocket(client, port, stream, token));
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'ECHO' });
    expect(`${String(seen.error)}${JSON.stringify(seen.error)}`).not.toContain(token);
  });
});

const path = '/v2/state/active-contracts';
const element = (n: number) => ({
  workflowId: '',
  contractEntry: { JsActiveContract: { reassignmentCounter: n } },
  streamContinuationToken: `token-${n}`,
});
const sign = (n: number): SocketSign => socketText(element(n));

/** A service whose sockets show what the test writes, and its lists. */
function listWorld(
  stream: (request: SocketRequest, count: number) => Observable<SocketSign>,
  token?: Token,
  changes: Partial<ClientSettings> = {},
) {
  const sockets = scriptedSockets(stream);
  const its = new Client({ ...settings, tokens: new TokenSource(token, 1_000), ...changes });
  const events: Diagnostic[] = [];
  its.diagnostics$.subscribe((event) => events.push(event));
  return { sockets, events, list$: readList(its, sockets.port, path, { activeAtOffset: 9 }) };
}

/** The list of one socket that shows these signs. */
const listOf = (...signs: readonly SocketSign[]) => observe(listWorld(() => of(...signs)).list$);

/** An error of the ledger as a message. */
const errorText = (code: string, category: number, grpcCodeValue: number, context = {}): SocketSign =>
  socketText({ ...errorBody(code, category, context), grpcCodeValue });
/** The ledger withholds why it refuses a token. */
const refusal = errorText('NA', -1, 16);

describe('a list by WebSocket', () => {
  it.each([
    ['with its elements', [sign(1), sign(2)], [element(1), element(2)]],
    ['without one (pitfall 3)', [], []],
  ])('sends one request, and is complete %s if the service closes the socket with 1000', (_, signs, values) => {
    const { sockets, list$ } = listWorld(() => of(socketOpen, ...signs, socketEnd(1000)), 'abc');
    expect(observe(list$)).toMatchObject({ values, completed: true, error: undefined });
    const headers = { authorization: 'Bearer abc', 'x-tenant': 'blue' };
    expect(sockets.requests).toEqual([{ path: `/prefix${path}`, headers, body: { activeAtOffset: 9 } }]);
  });

  it.each([1001, 1005, 1006, 1011, 4000])('is not complete after a close with %i (pitfall 1)', (code) => {
    const seen = listOf(socketOpen, sign(1), sign(2), socketEnd(code));
    expect(seen).toMatchObject({ values: [element(1), element(2)], completed: false });
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError', path, reason: `the socket was closed with ${code}` });
  });

  it('is not complete if an error message precedes the close with 1000 (pitfall 2)', () => {
    const code = 'INVALID_CONTINUATION_TOKEN';
    const refused = listOf(socketOpen, errorText(code, 8, 3), socketEnd(1000));
    expect(refused).toMatchObject({ completed: false, error: { _tag: 'ApiError', code, status: 400, path } });
    const pruned = errorText('PARTICIPANT_PRUNED_DATA_ACCESSED', 9, 9, { earliest_offset: '12' });
    const cut = listOf(socketOpen, sign(1), pruned, socketEnd(1000));
    const error = { _tag: 'PrunedError', earliestOffset: 12 };
    expect(cut).toMatchObject({ values: [element(1)], completed: false, error });
  });

  it.each([
    ['the socket ends before it opened (pitfall 1)', of(socketEnd(1000)), 'the socket did not open'],
    ['the upgrade is refused', throwError(() => new Error('Unexpected server response: 403')), undefined],
  ])('is not complete if %s', (_, signs$, reason) => {
    const { completed, error } = observe(listWorld(() => signs$).list$);
    expect(completed).toBe(false);
    expect(error).toMatchObject({ _tag: 'ConnectionError', path, ...(reason !== undefined && { reason }) });
  });

  it.each([
    ['ten seconds for the socket to open', NEVER, 10_000],
    ['thirty for a sign of life', silentSocket(false), 30_000],
    ['thirty for a sign of life after an element', concat(of(socketOpen, sign(1)), NEVER), 30_000],
  ])('waits %s (pitfall 1)', (_, signs$, endedAt) => {
    marbles(({ flush }) => {
      const seen = observe(listWorld(() => signs$).list$);
      flush();
      const reason = 'the socket sent nothing in time';
      expect(seen).toMatchObject({ endedAt, error: { _tag: 'ConnectionError', reason } });
    });
  });

  itInVirtualTime('waits for a slow first element as long as the service answers pings (pitfall 12)', ({ flush }) => {
    const pongs$ = pong$.pipe(takeUntil(timer(600_000)));
    const slow$ = concat(of(socketOpen), pongs$, of(sign(1), socketEnd(1000)));
    const seen = observe(listWorld(() => slow$).list$);
    flush();
    expect(seen).toMatchObject({ values: [element(1)], completed: true });
    expect(seen.times).toEqual([600_000]);
  });

  itInVirtualTime('closes the socket when it is unsubscribed from, and leaves no timer (pitfall 45)', ({ flush }) => {
    const { sockets, list$ } = listWorld(() => concat(of(socketOpen, sign(1)), NEVER));
    const { subscription, values } = observe(list$);
    timer(700).subscribe(() => {
      expect(sockets.open).toBe(1);
      subscription.unsubscribe();
    });
    flush();
    expect(values).toHaveLength(1);
    expect(sockets.open).toBe(0);
    expect(asyncScheduler.now()).toBe(700);
  });

  it('opens the socket with the headers of interceptors', () => {
    const { sockets, list$ } = listWorld(() => of(socketOpen, sign(1), socketEnd(1000)), undefined, {
      interceptors: [{ socket: ({ url }) => ({ headers: { traceparent: url } }) }],
    });
    expect(observe(list$).completed).toBe(true);
    const traceparent = `wss://ledger.example/prefix${path}`;
    expect(sockets.requests[0]?.headers).toEqual({ 'x-tenant': 'blue', traceparent });
  });
});

describe('the token of a list by WebSocket', () => {
  /** A provider whose tokens are numbered. */
  const provider = (): Token => {
    let count = 0;
    return () => `token-${(count += 1)}`;
  };

  it('is replaced once if the service refuses it before the first element (pitfall 34)', () => {
    const stream = (_: unknown, count: number) => of(socketOpen, count === 1 ? refusal : sign(1), socketEnd(1000));
    const { sockets, list$, events } = listWorld(stream, provider());
    expect(observe(list$)).toMatchObject({ values: [element(1)], completed: true });
    const tokens = sockets.requests.map(({ headers }) => headers['authorization']);
    expect(tokens).toEqual(['Bearer token-1', 'Bearer token-2']);
    expect(events).toMatchObject([{ _tag: 'TokenRefreshed', path }]);
  });

  it('ends the list with an error if its replacement is refused, too, or is the same (pitfall 34)', () => {
    const refusing = (token: Token): unknown =>
      observe(listWorld(() => of(socketOpen, refusal, socketEnd(1000)), token).list$).error;
    expect(refusing(provider())).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: true });
    expect(refusing('token')).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: false });
  });

  it('ends the list with a transient error if it expires after an element, which nothing may repeat (pitfall 34)', () => {
    const expired = errorText('ACCESS_TOKEN_EXPIRED', 2, 10);
    const stream = () => of(socketOpen, sign(1), expired, socketEnd(1000));
    const { sockets, list$ } = listWorld(stream, provider());
    const error = { _tag: 'ConnectionError', reason: 'the token expired before the end of the list' };
    expect(observe(list$)).toMatchObject({ values: [element(1)], completed: false, error });
    expect(sockets.requests).toHaveLength(1);
  });
});
