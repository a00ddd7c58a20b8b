import { describe, expect, it, jest } from '@jest/globals';
import { EMPTY, identity, NEVER, Observable, of, takeUntil, throwError, timer } from 'rxjs';
import { Client, type ClientSettings } from '../../src/client/Client.js';
import { type Call, exchange, requestSecrets } from '../../src/client/exchange.js';
import type { HttpPort, HttpRequest } from '../../src/http/HttpPort.js';
import { TokenSource } from '../../src/client/TokenSource.js';
import type { Diagnostic } from '../../src/diagnostics/Diagnostic.js';
import { observe } from '../helpers/observe.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { errorReply, ok } from '../helpers/wire.js';

const clientWith = (port: HttpPort, more: Partial<ClientSettings> = {}): Client =>
  new Client({ port, address: 'https://ledger.example/prefix', headers: {}, requestTimeoutMs: 1_000, ...more });

/** The diagnostics of a client, with their times. */
const diagnosticsOf = (client: Client): Diagnostic[] => {
  const seen: Diagnostic[] = [];
  client.diagnostics$.subscribe((diagnostic) => seen.push(diagnostic));
  return seen;
};

const cycle: { self?: unknown } = {};
cycle.self = cycle;

describe('exchange', () => {
  it('builds a request from address, query, token and headers', () => {
    const sent: HttpRequest[] = [];
    const port: HttpPort = (request) => {
      sent.push(request);
      return of(ok([]));
    };
    const seen = observe(
      exchange(
        clientWith(port, { tokens: new TokenSource('abc', 1_000), headers: { 'x-tenant': 'blue' } }),
        {
          method: 'POST',
          path: '/v2/updates',
          query: { limit: 2, stream_idle_timeout_ms: 5 },
          body: { beginExclusive: 0 },
        },
        identity,
      ),
    );
    expect(seen.values).toEqual([[]]);
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

  it.each<[string, Partial<Call>, string | undefined]>([
    ['of a request', {}, '40000'],
    ['of a poll that is shorter', { idleMs: 12_000 }, '40000'],
    ['of a poll that would exceed it', { idleMs: 40_000 }, undefined],
  ])('sends the time limit for the participant: %s', (_, call, header) => {
    const sent: HttpRequest[] = [];
    const port: HttpPort = (request) => {
      sent.push(request);
      return of(ok([]));
    };
    observe(exchange(clientWith(port, { serverTimeoutMs: 40_000 }), { method: 'GET', path: '/x', ...call }, identity));
    observe(exchange(clientWith(port), { method: 'GET', path: '/x', ...call }, identity));
    expect(sent.map(({ headers }) => headers['request-timeout'])).toEqual([header, undefined]);
  });

  it('sends no authorization header without a token', () => {
    const sent: HttpRequest[] = [];
    observe(
      exchange(
        clientWith((request) => {
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

  itInVirtualTime('times out without a response, and unsubscribes from the port', ({ flush }) => {
    let open = 0;
    const port: HttpPort = () =>
      new Observable(() => {
        open += 1;
        return () => {
          open -= 1;
        };
      });
    const seen = observe(exchange(clientWith(port), { method: 'GET', path: '/x' }, identity));
    expect(open).toBe(1);
    flush();
    expect(seen.error).toMatchObject({ _tag: 'RequestTimeoutError', path: '/prefix/x', afterMs: 1_000 });
    expect(seen.endedAt).toBe(1_000);
    expect(open).toBe(0);
  });

  itInVirtualTime('reports a response that is delayed, and not the wait of a poll', ({ flush }) => {
    const slow = clientWith(() => NEVER, { requestTimeoutMs: 30_000 });
    const reports = diagnosticsOf(slow);
    const seen = observe(exchange(slow, { method: 'GET', path: '/x', idleMs: 5_000 }, identity));
    flush();
    const diagnostic = { _tag: 'ResponseDelayed', path: '/prefix/x', host: 'ledger.example', waitedMs: 6_500 };
    expect(reports).toEqual([{ ...diagnostic, at: 6_500 }]);
    expect(seen.endedAt).toBe(35_000);
  });

  it.each<[string, Partial<Call>, Partial<ClientSettings>, number]>([
    ['without a timeout', {}, { requestTimeoutMs: Infinity }, 1_500],
    ['of a poll without a timeout', { idleMs: 5_000 }, { requestTimeoutMs: Infinity }, 6_500],
    ['of a submission, which waits for its commit', { isSubmission: true }, { requestTimeoutMs: 30_000 }, 10_000],
  ])('reports a delayed response %s', (_, call, settings, waitedMs) => {
    marbles(({ flush }) => {
      const slow = clientWith(() => NEVER, settings);
      const reports = diagnosticsOf(slow);
      observe(exchange(slow, { method: 'POST', path: '/x', ...call }, identity).pipe(takeUntil(timer(20_000))));
      flush();
      expect(reports).toMatchObject([{ _tag: 'ResponseDelayed', waitedMs }]);
    });
  });

  it('names the host and the port', () => {
    const seen = observe(
      exchange(
        clientWith(() => EMPTY, { address: 'http://[::1]:7575/secret' }),
        { method: 'GET', path: '/x' },
        identity,
      ),
    );
    expect(seen.error).toMatchObject({ host: '[::1]:7575' });
  });

  it.each([
    ['a cycle', () => Object.assign([], { 0: cycle })],
    ['a bigint', () => 1n],
    ['a bigint in a cycle', () => Object.assign([], { 0: cycle, 1: 1n })],
  ])('sends nothing for a body that JSON cannot express: %s', (_, body) => {
    let sent = 0;
    const port: HttpPort = () => {
      sent += 1;
      return EMPTY;
    };
    const seen = observe(exchange(clientWith(port), { method: 'POST', path: '/x', body: body() }, identity));
    expect(seen.error).toMatchObject({ _tag: 'InvalidRequestError' });
    expect(sent).toBe(0);
  });

  it.each<[string, unknown, string]>([
    ['a number that is not one', { price: Number.NaN }, 'price'],
    ['an infinite number', { prices: [1, -Infinity] }, 'prices.1'],
    ['an invalid date', { until: new Date(Number.NaN) }, 'until'],
    ['an absent element', { ids: ['a', undefined] }, 'ids.1'],
    ['a hole', { ids: new Array<string>(1) }, 'ids.0'],
    ['a map', { 'of alice': { limits: new Map([['a', '1.0']]) } }, '*.limits'],
    ['a set', new Set(['a']), ''],
    ['a signal that is not called', { note: () => 'paid' }, 'note'],
    ['a function among others', { amount: '1.0', lines: [{ text: '' }, { text: String }] }, 'lines.1.text'],
    ['a symbol', { note: Symbol('paid') }, 'note'],
    ['a promise that is not awaited', { meta: Promise.resolve({ reason: 'rent' }) }, 'meta'],
    ['an error', { reason: new Error('closed') }, 'reason'],
    ['bytes', { blob: new ArrayBuffer(8) }, 'blob'],
    ['a bigint', { commands: [{ amount: 1n }] }, 'commands.0.amount'],
  ])('sends nothing for a body of which JSON has another value: %s', (_, body, path) => {
    let sent = 0;
    const port: HttpPort = () => {
      sent += 1;
      return EMPTY;
    };
    const seen = observe(exchange(clientWith(port), { method: 'POST', path: '/x', body }, identity));
    expect(seen.error).toMatchObject({
      _tag: 'InvalidRequestError',
      problems: [{ path, expected: 'a value that JSON has, too' }],
    });
    expect(sent).toBe(0);
  });

  it('sends values that decide what JSON has of them, and omits absent fields', () => {
    const sent: (string | undefined)[] = [];
    const port: HttpPort = ({ body }) => {
      sent.push(body);
      return EMPTY;
    };
    const decimal = { toJSON: () => '1.5', internal: Number.NaN, plus: () => '2.5' };
    const unit = Object.create(null) as object;
    const body = { decimal, at: new Date(0), note: undefined, none: null, unit, list: [], count: new Number(1) };
    observe(exchange(clientWith(port), { method: 'POST', path: '/x', body }, identity));
    const json = '{"decimal":"1.5","at":"1970-01-01T00:00:00.000Z","none":null,"unit":{},"list":[],"count":1}';
    expect(sent).toEqual([json]);
  });

  it.each<[string, HttpPort, object]>([
    [
      'an error of the port',
      () => throwError(() => new Error('hush')),
      { _tag: 'ConnectionError', reason: 'the connection failed' },
    ],
    [
      'an exception of the port',
      () => {
        throw new Error('hush');
      },
      { _tag: 'ConnectionError', reason: 'the connection failed' },
    ],
    [
      'an error of a port that looks like a LedgerError',
      () =>
        throwError(() => Object.assign(new Error('hush'), { _tag: 'ConnectionError', reason: 'hush', code: 'EPIPE' })),
      { _tag: 'ConnectionError', reason: 'the connection failed', code: 'EPIPE' },
    ],
    ['a port without a response', () => EMPTY, { _tag: 'ConnectionError', reason: 'there was no response' }],
    [
      'a response that is not JSON',
      () => of({ ...ok(0), text: '[1,' }),
      { _tag: 'ConnectionError', reason: 'the response is not valid JSON', isPermanent: false },
    ],
    [
      'an error of a proxy',
      () => of(errorReply(502, '<html>\n  <b>Bad</b>')),
      { _tag: 'ApiError', status: 502, reason: '<html> <b>Bad</b>', code: undefined },
    ],
    [
      'a Retry-After header',
      () => of(errorReply(503, '', { 'retry-after': '3' })),
      { _tag: 'ApiError', retryAfterMs: 3_000 },
    ],
  ])('reports %s', (_, port, error) => {
    const seen = observe(exchange(clientWith(port), { method: 'GET', path: '/x' }, identity));
    expect(seen.error).toMatchObject(error);
    expect(String(seen.error)).not.toContain('hush');
  });
});

describe('the Retry-After header of an error', () => {
  const retryAfterMs = (header?: string, date?: string): unknown => {
    const headers = { ...(header !== undefined && { 'retry-after': header }), ...(date !== undefined && { date }) };
    const port: HttpPort = () => of(errorReply(503, '', headers));
    const { error } = observe(exchange(clientWith(port), { method: 'GET', path: '/x' }, identity));
    return Reflect.get(Object(error), 'retryAfterMs');
  };

  it('is a number of seconds or a date', () => {
    expect(retryAfterMs('120')).toBe(120_000);
    expect(retryAfterMs('0')).toBe(0);
    jest.useFakeTimers({ now: Date.UTC(2026, 6, 24, 10, 0, 0, 400) });
    const fromDate = retryAfterMs('Fri, 24 Jul 2026 10:01:00 GMT');
    jest.useRealTimers();
    expect(fromDate).toBe(59_600);
    expect(retryAfterMs('Wed, 21 Oct 2015 07:28:00 GMT')).toBe(0);
  });

  it.each([
    ['years slow', 'Wed, 21 Oct 2015 07:28:00 GMT', 'Wed, 21 Oct 2015 07:28:30 GMT', 30_000],
    ['years fast', 'Wed, 21 Oct 2099 07:28:00 GMT', 'Wed, 21 Oct 2099 07:28:30 GMT', 30_000],
    ['fast, of a moment that has passed', 'Wed, 21 Oct 2099 07:28:00 GMT', 'Wed, 21 Oct 2099 07:27:00 GMT', 0],
  ])('is a date by the clock of the server, which is %s', (_, date, header, expected) => {
    expect(retryAfterMs(header, date)).toBe(expected);
  });

  it('is a date by the clock of this machine if that of the server is not known', () => {
    jest.useFakeTimers({ now: Date.UTC(2026, 6, 24, 10, 0, 0) });
    const withNonsense = retryAfterMs('Fri, 24 Jul 2026 10:01:00 GMT', 'today');
    jest.useRealTimers();
    expect(withNonsense).toBe(60_000);
  });

  it('is ignored if it is neither', () => {
    expect(retryAfterMs()).toBeUndefined();
    expect(retryAfterMs('soon')).toBeUndefined();
    expect(retryAfterMs('Infinity')).toBeUndefined();
  });
});

const post = { method: 'POST', url: 'http://ledger.example/x' } as const;

describe('the secrets of a request', () => {
  it('are the token, the headers of the caller, the signatures and the signed bytes, and nothing else', () => {
    const headers = {
      'content-type': 'application/json',
      authorization: 'Bearer t0ken',
      'x-api-key': 'key-of-the-gateway',
      'x-version': '1',
    };
    const body = JSON.stringify({
      preparedTransaction: 'cHJlcGFyZWQ=',
      partySignatures: {
        signatures: [{ party: 'alice::1220ab', signatures: [{ signature: 'c2lnbmVk', format: 'F' }] }],
      },
    });
    expect(requestSecrets({ ...post, headers, body })).toEqual([
      't0ken',
      'key-of-the-gateway',
      'cHJlcGFyZWQ=',
      'c2lnbmVk',
    ]);
  });

  it.each([
    ['Basic dXNlcg', 'dXNlcg'],
    ['a-key', 'a-key'],
  ])('do not include the authorization scheme: %s', (authorization, secret) => {
    expect(requestSecrets({ ...post, headers: { authorization } })).toEqual([secret]);
  });

  it('are empty without a token', () => {
    expect(requestSecrets({ ...post, headers: {} })).toEqual([]);
  });
});
