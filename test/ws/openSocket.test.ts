import { describe, expect, it } from '@jest/globals';
import { EMPTY, of } from 'rxjs';
import type { Link } from '../../src/http/Link.js';
import { openSocket } from '../../src/ws/openSocket.js';
import type { SocketPort, SocketSign } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';
import { errorBody } from '../helpers/wire.js';

const link: Link = {
  port: () => EMPTY,
  baseUrl: 'https://ledger.example/prefix',
  headers: { 'x-tenant': 'blue' },
  token: undefined,
  requestTimeoutMs: 1_000,
  report: () => undefined,
};

const stream = { path: '/v2/updates', body: {}, field: 'update' } as const;

const text = (json: unknown): SocketSign => ({ _tag: 'Text', text: JSON.stringify(json) });

/** The messages and the error of a socket that shows these signs. */
const opened = (...signs: readonly SocketSign[]) => observe(openSocket(link, () => of(...signs), stream, 'abc'));

describe('openSocket', () => {
  it('sends the request with token, headers and subprotocol', () => {
    const requests: unknown[] = [];
    const port: SocketPort = (request) => {
      requests.push(request);
      return EMPTY;
    };
    observe(openSocket(link, port, { ...stream, body: { beginExclusive: 7 } }, 'abc'));
    expect(requests).toEqual([
      {
        url: 'wss://ledger.example/prefix/v2/updates',
        protocols: ['daml.ws.auth'],
        headers: { authorization: 'Bearer abc', 'x-tenant': 'blue' },
        message: '{"beginExclusive":7}',
      },
    ]);
  });

  it('emits that the socket is open, and then its elements', () => {
    const seen = opened({ _tag: 'Open' }, { _tag: 'Alive' }, text({ update: 1 }), text({ update: 2 }));
    expect(seen.values).toEqual([
      { _tag: 'Open' },
      { _tag: 'Element', json: { update: 1 } },
      { _tag: 'Element', json: { update: 2 } },
    ]);
  });

  it('completes if the service closes the socket with 1000', () => {
    const seen = opened({ _tag: 'Open' }, text({ update: 1 }), { _tag: 'End', code: 1000 });
    expect(seen).toMatchObject({ completed: true, error: undefined });
    expect(seen.values).toHaveLength(2);
  });

  it('accepts the elements of its own stream only', () => {
    const port: SocketPort = () => of(text({ contractEntry: {} }), text({ update: 1 }));
    const seen = observe(openSocket(link, port, { ...stream, field: 'contractEntry' }, undefined));
    expect(seen.values).toEqual([{ _tag: 'Element', json: { contractEntry: {} } }]);
    expect(seen.error).toMatchObject({ reason: 'the message is not an element' });
  });

  it('reports an error message with the HTTP status that the participant would have answered', () => {
    const statusOf = (grpcCodeValue: unknown): unknown =>
      Reflect.get(Object(opened(text({ ...errorBody('NEW', -1), grpcCodeValue })).error), 'status');
    const codes = Array.from({ length: 17 }, (_, code) => code);
    expect(codes.map(statusOf)).toEqual([
      500, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401,
    ]);
    expect(statusOf(undefined)).toBe(500);
  });

  it.each<[string, SocketSign[], string]>([
    ['the end of the socket', [{ _tag: 'End', code: 1006 }], 'the socket was closed with 1006'],
    ['an end that is no regular close', [{ _tag: 'End', code: 1001 }], 'the socket was closed with 1001'],
    ['a port that completes', [], 'the socket ended'],
    ['a message that is not JSON', [{ _tag: 'Text', text: '{"update":' }], 'the message is not valid JSON'],
    ['a message that is neither an element nor an error', [text({ error: 'secret' })], 'the message is not an element'],
  ])('reports %s (G21)', (_, signs, reason) => {
    const seen = opened({ _tag: 'Open' }, ...signs);
    expect(seen.error).toMatchObject({ _tag: 'ConnectionError', path: '/v2/updates', reason, host: 'ledger.example' });
    expect(String(seen.error)).not.toContain('secret');
  });

  it('hides the token in an error message that echoes it', () => {
    const token = 't0ken-of-mine';
    const port: SocketPort = () => of(text({ ...errorBody('ECHO', 8), cause: `Bearer ${token}` }));
    const seen = observe(openSocket(link, port, stream, token));
    expect(seen.error).toMatchObject({ _tag: 'ApiError', code: 'ECHO' });
    expect(`${String(seen.error)}${JSON.stringify(seen.error)}`).not.toContain(token);
  });
});
