import { describe, expect, it } from '@jest/globals';
import { asyncScheduler, concat, EMPTY, NEVER, type Observable, of, takeUntil, throwError, timer } from 'rxjs';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { Service } from '../../src/feed/Service.js';
import type { Link } from '../../src/http/Link.js';
import { readList } from '../../src/ws/openSocket.js';
import type { SocketSign } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { scriptedSockets, socketEnd, socketOpen, type SocketRequest, socketText } from '../helpers/scripted.js';
import { marbles } from '../helpers/time.js';
import { errorBody } from '../helpers/wire.js';
import { pong$, silentSocket } from './worlds.js';

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
  link: Partial<Link> = {},
) {
  const sockets = scriptedSockets(stream);
  const service = new Service({
    port: () => EMPTY,
    baseUrl: 'https://ledger.example/prefix',
    headers: { 'x-tenant': 'blue' },
    token: undefined,
    requestTimeoutMs: 1_000,
    ...link,
  });
  const events: Diagnostic[] = [];
  service.diagnostics$.subscribe((event) => events.push(event));
  return { sockets, events, list$: readList(service, sockets.port, path, { activeAtOffset: 9 }) };
}

/** The list of one socket that shows these signs. */
const listOf = (...signs: readonly SocketSign[]) => observe(listWorld(() => of(...signs)).list$);

/** An error of the ledger as a message. */
const errorText = (code: string, category: number, grpcCodeValue = 9): SocketSign =>
  socketText({ ...errorBody(code, category), grpcCodeValue });
/** The ledger withholds why it refuses a token. */
const refusal = errorText('NA', -1, 16);

describe('a list by WebSocket', () => {
  it('sends the request once, and emits the JSON of each element', () => {
    const { sockets, list$ } = listWorld(() => of(socketOpen, sign(1), sign(2), socketEnd(1000)), { token: 'abc' });
    const seen = observe(list$);
    expect(seen).toMatchObject({ values: [element(1), element(2)], completed: true });
    expect(sockets.requests).toEqual([
      {
        path: `/prefix${path}`,
        headers: { authorization: 'Bearer abc', 'x-tenant': 'blue' },
        body: { activeAtOffset: 9 },
      },
    ]);
  });

  it('is complete without an element if the service closes it with 1000 (pitfall 3)', () => {
    const { sockets, list$ } = listWorld(() => of(socketOpen, socketEnd(1000)));
    expect(observe(list$)).toMatchObject({ values: [], completed: true, error: undefined });
    expect(sockets.requests).toHaveLength(1);
  });

  it.each([1001, 1005, 1006, 1011, 4000])('is not complete after a close with %i (pitfall 1)', (code) => {
    const seen = listOf(socketOpen, sign(1), sign(2), socketEnd(code));
    expect(seen).toMatchObject({ values: [element(1), element(2)], completed: false });
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError', path, reason: `the socket was closed with ${code}` });
  });

  it('is not complete if an error message precedes the close with 1000 (pitfall 2)', () => {
    const pruned = {
      ...errorBody('PARTICIPANT_PRUNED_DATA_ACCESSED', 9),
      context: { earliest_offset: '12' },
      grpcCodeValue: 9,
    };
    const refused = listOf(socketOpen, errorText('INVALID_CONTINUATION_TOKEN', 8, 3), socketEnd(1000));
    expect(refused).toMatchObject({
      completed: false,
      error: { _tag: 'ApiError', code: 'INVALID_CONTINUATION_TOKEN', status: 400, path },
    });
    const cut = listOf(socketOpen, sign(1), socketText(pruned), socketEnd(1000));
    expect(cut).toMatchObject({
      values: [element(1)],
      completed: false,
      error: { _tag: 'PrunedError', earliestOffset: 12 },
    });
  });

  it('is not complete if the socket ends before it opened (pitfall 1)', () => {
    const { completed, error } = listOf(socketEnd(1000));
    expect(completed).toBe(false);
    expect(error).toMatchObject({ _tag: 'ConnectionError', reason: 'the socket did not open' });
  });

  it('fails if the upgrade is refused, with a typed error', () => {
    const refused = listWorld(() => throwError(() => new Error('Unexpected server response: 403')));
    expect(observe(refused.list$).error).toMatchObject({ _tag: 'ConnectionError', path });
  });

  it('waits ten seconds for the socket to open, and thirty for a sign of life (pitfall 1)', () => {
    const endOf = (stream: Observable<SocketSign>): unknown => {
      let end: unknown;
      marbles(({ flush }) => {
        const seen = observe(listWorld(() => stream).list$);
        flush();
        end = [seen.endedAt, Object(seen.error)];
      });
      return end;
    };
    const silence = { _tag: 'ConnectionError', reason: 'the socket sent nothing in time' };
    expect(endOf(NEVER)).toMatchObject([10_000, silence]);
    expect(endOf(silentSocket(false))).toMatchObject([30_000, silence]);
    expect(endOf(concat(of(socketOpen, sign(1)), NEVER))).toMatchObject([30_000, silence]);
  });

  it('waits for a slow first element as long as the service answers pings (pitfall 12)', () => {
    marbles(({ flush }) => {
      const pongs$ = pong$.pipe(takeUntil(timer(600_000)));
      const slow$ = concat(of(socketOpen), pongs$, of(sign(1), socketEnd(1000)));
      const seen = observe(listWorld(() => slow$).list$);
      flush();
      expect(seen).toMatchObject({ values: [element(1)], completed: true });
      expect(seen.times).toEqual([600_000]);
    });
  });

  it('closes the socket when it is unsubscribed from, and leaves no timer (pitfall 45)', () => {
    marbles(({ flush }) => {
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
  });

  it('opens the socket by the interceptor of the link', () => {
    const { sockets, list$ } = listWorld(() => of(socketOpen, sign(1), socketEnd(1000)), {
      socketInterceptor: ({ url, headers }, open) => open({ ...headers, traceparent: url }),
    });
    expect(observe(list$).completed).toBe(true);
    expect(sockets.requests[0]?.headers).toEqual({
      'x-tenant': 'blue',
      traceparent: `wss://ledger.example/prefix${path}`,
    });
  });
});

describe('the token of a list by WebSocket', () => {
  /** A provider whose tokens are numbered. */
  const provider = (): Link['token'] => {
    let count = 0;
    return () => `token-${(count += 1)}`;
  };

  it('is replaced once if the service refuses it before the first element (pitfall 34)', () => {
    const { sockets, list$, events } = listWorld(
      (_, count) => (count === 1 ? of(socketOpen, refusal, socketEnd(1000)) : of(socketOpen, sign(1), socketEnd(1000))),
      { token: provider() },
    );
    expect(observe(list$)).toMatchObject({ values: [element(1)], completed: true });
    expect(sockets.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ]);
    expect(events).toMatchObject([{ _tag: 'TokenRefreshed', path }]);
  });

  it('ends the list with an error if its replacement is refused, too, or is the same (pitfall 34)', () => {
    const refusing = (token: Link['token']): unknown =>
      observe(listWorld(() => of(socketOpen, refusal, socketEnd(1000)), { token }).list$).error;
    expect(refusing(provider())).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: true });
    expect(refusing('token')).toMatchObject({ _tag: 'UnauthorizedError', tokenChanged: false });
  });

  it('ends the list with a transient error if it expires after an element, which nothing may repeat (pitfall 34)', () => {
    const expired = errorText('ACCESS_TOKEN_EXPIRED', 2, 10);
    const { sockets, list$ } = listWorld(() => of(socketOpen, sign(1), expired, socketEnd(1000)), {
      token: provider(),
    });
    const seen = observe(list$);
    expect(seen).toMatchObject({ values: [element(1)], completed: false });
    expect(seen.error).toMatchObject({
      _tag: 'ConnectionError',
      reason: 'the token expired before the end of the list',
    });
    expect(sockets.requests).toHaveLength(1);
  });
});
