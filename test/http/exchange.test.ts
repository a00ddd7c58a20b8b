import { describe, expect, it } from '@jest/globals';
import { EMPTY, identity, Observable, of, throwError } from 'rxjs';
import { exchange } from '../../src/http/exchange.js';
import type { HttpPort, HttpRequest } from '../../src/http/HttpPort.js';
import type { Link } from '../../src/http/Link.js';
import { marbles } from '../helpers/marbles.js';
import { observe } from '../helpers/observe.js';
import { failed, ok } from '../helpers/scripted.js';

const link = (port: HttpPort, more: Partial<Link> = {}): Link => ({
  port,
  socketPort: () => EMPTY,
  baseUrl: 'https://ledger.example/prefix',
  headers: {},
  token: undefined,
  requestTimeoutMs: 1_000,
  report: () => undefined,
  ...more,
});

const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe('exchange', () => {
  it('puts address, query, token and headers together', () => {
    const sent: HttpRequest[] = [];
    const port: HttpPort = (request) => {
      sent.push(request);
      return of(ok({ fine: true }));
    };
    const seen = observe(
      exchange(
        link(port, { token: 'abc', headers: { 'x-tenant': 'blue' } }),
        {
          method: 'POST',
          path: '/v2/updates',
          query: { limit: 2, stream_idle_timeout_ms: 5 },
          body: { beginExclusive: 0 },
        },
        identity,
      ),
    );
    expect(seen.values).toEqual([{ fine: true }]);
    expect(seen.completed).toBe(true);
    expect(sent).toEqual([
      {
        method: 'POST',
        url: 'https://ledger.example/prefix/v2/updates?limit=2&stream_idle_timeout_ms=5',
        headers: {
          'content-type': 'application/json',
          authorization: 'Bearer abc',
          'x-tenant': 'blue',
        },
        body: '{"beginExclusive":0}',
      },
    ]);
  });

  it('sends no token where there is none', () => {
    const sent: HttpRequest[] = [];
    observe(
      exchange(
        link((request) => {
          sent.push(request);
          return of(ok([]));
        }),
        { method: 'GET', path: '/x' },
        identity,
      ),
    );
    expect(sent[0]?.headers).toEqual({});
    expect(sent[0]).not.toHaveProperty('body');
  });

  it('gives up on an answer that does not come, and unsubscribes from it', () => {
    marbles(({ flush }) => {
      let open = 0;
      const port: HttpPort = () =>
        new Observable(() => {
          open += 1;
          return () => {
            open -= 1;
          };
        });
      const seen = observe(exchange(link(port), { method: 'GET', path: '/x' }, identity));
      expect(open).toBe(1);
      flush();
      expect(seen.error).toMatchObject({ _tag: 'RequestTimeoutError', path: '/prefix/x', afterMs: 1_000 });
      expect(seen.endedAt).toBe(1_000);
      expect(open).toBe(0);
    });
  });

  it.each([
    ['a cycle', () => Object.assign([], { 0: cycle })],
    ['a bigint', () => 1n],
  ])('sends nothing that cannot be written: %s', (_, body) => {
    let sent = 0;
    const port: HttpPort = () => {
      sent += 1;
      return EMPTY;
    };
    const seen = observe(exchange(link(port), { method: 'POST', path: '/x', body: body() }, identity));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(sent).toBe(0);
  });

  it.each<[string, HttpPort, object]>([
    [
      'an error of the port',
      () => throwError(() => new Error('hush')),
      { _tag: 'ConnectionError', reason: 'the connection failed' },
    ],
    [
      'what a port throws',
      () => {
        throw new Error('hush');
      },
      { _tag: 'ConnectionError', reason: 'the connection failed' },
    ],
    [
      'an error of a port that looks like one of ours',
      () =>
        throwError(() => Object.assign(new Error('hush'), { _tag: 'ConnectionError', reason: 'hush', code: 'EPIPE' })),
      { _tag: 'ConnectionError', reason: 'the connection failed', code: 'EPIPE' },
    ],
    ['a port without an answer', () => EMPTY, { _tag: 'ConnectionError', reason: 'there was no answer' }],
    [
      'an answer that is not JSON',
      () => of({ ...ok(0), text: '<html>' }),
      { _tag: 'ConnectionError', reason: 'the answer is not whole JSON' },
    ],
    [
      'an error of a proxy',
      () => of(failed(502, '<html>\n  <b>Bad</b>')),
      { _tag: 'ApiError', status: 502, reason: '<html> <b>Bad</b>', code: undefined },
    ],
    ['a wish to wait', () => of(failed(503, '', { 'retry-after': '3' })), { _tag: 'ApiError', retryAfterMs: 3_000 }],
  ])('names %s', (_, port, error) => {
    const seen = observe(exchange(link(port), { method: 'GET', path: '/x' }, identity));
    expect(seen.error).toMatchObject(error);
    expect(String(seen.error)).not.toContain('hush');
  });
});
