import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { from, NEVER, of, throwError, timer, type Observable } from 'rxjs';
import type { HttpPort, HttpRequest } from '../../../src/http/HttpPort.js';
import type { Token } from '../../../src/http/Link.js';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import { httpServer, type HttpServer } from '../../helpers/httpServer.js';
import { play } from '../../cli/support.js';
import { asked, type Given } from './asked.js';
import { all, payload, sent } from './secrets.js';
import { secretsIn } from './secretsIn.js';
import { faults } from './talkative.js';

let server: HttpServer;
/** All that the service was told. */
let seen = '';
/** All that it has answered as a text. */
let said = '';

/** `/pages/3/...` fails the third way, but tells the ledger end; `/all/3/...` fails in any case. */
beforeAll(async () => {
  server = await httpServer((request, response, body) => {
    seen += `${request.headers.authorization ?? ''} ${String(request.headers['x-api-key'])} ${body}\n`;
    const [, where, index] = (request.url ?? '').split('/');
    if (where === 'pages' && request.url?.endsWith('/v2/state/ledger-end') === true) {
      response.end('{"offset":100}');
      return;
    }
    const end = response.end.bind(response);
    response.end = (...args: readonly unknown[]) => {
      said += String(args[0]);
      return Reflect.apply(end, response, args) as typeof response;
    };
    [...faults.values()][Number(index)]?.({ request, response, body });
  });
});
afterAll(() => server.close());

/** Where a secret occurs; an update that decodes may hold its payload. */
const leaks = ({ errors, events, values }: Given): readonly string[] => [
  ...secretsIn({ errors, events }, all),
  ...secretsIn(values, Object.values(sent)),
  ...secretsIn(values.filter(isInvalid), [payload]),
];

const isInvalid = (u: unknown): boolean =>
  typeof u === 'object' && u !== null && '_tag' in u && u._tag === 'InvalidUpdate';

const names = [...faults.keys()].map((name, index) => ({ name, index }));

async function check(index: number): Promise<void> {
  const given = await asked({ baseUrl: `${server.url}/all/${index}` });
  const late = await asked({ baseUrl: `${server.url}/pages/${index}` }, 'updates');
  expect([...leaks(given), ...leaks(late)]).toEqual([]);
  expect(given.errors.length).toBeGreaterThan(1);
  expect([...given.errors, ...late.errors].filter((error) => !isLedgerError(error))).toEqual([]);
}

describe('nothing secret comes out of', () => {
  it.concurrent.each(names)('a service that fails: $name', ({ index }) => check(index));

  it.each<[string, HttpPort]>([
    ['an error that holds the request', (request) => throwError(() => told(request))],
    ['a text', (request) => thrown(JSON.stringify(request))],
    ['many errors', (request) => throwError(() => new AggregateError([told(request)], told(request).message))],
    [
      'an exception',
      (request) => {
        throw told(request);
      },
    ],
    ['an error that is its own cause', () => throwError(() => circular())],
    ['no answer', () => of()],
    ['silence', () => NEVER],
  ])('a port that gives %s', async (_, port) => {
    const given = await asked({ baseUrl: 'http://ledger.example', port, requestTimeoutMs: 20 });
    expect(leaks(given)).toEqual([]);
    expect(given.errors).toHaveLength(5);
    expect(given.errors.filter((error) => !isLedgerError(error))).toEqual([]);
  });

  it('a port whose error has a tag that is one of ours', async () => {
    const port: HttpPort = (request) =>
      throwError(() => Object.assign(told(request), { _tag: 'ConnectionError', path: '/' }));
    expect(leaks(await asked({ baseUrl: 'http://ledger.example', port }))).toEqual([]);
  });

  it.each<[string, (request: Request) => Error]>([
    ['an error that holds the request', (request) => Object.assign(new Error('x'), { request, code: sent.token })],
    [
      'an error whose cause holds its headers',
      ({ headers }) => new Error('x', { cause: { headers, code: sent.token } }),
    ],
    ['many errors', ({ headers }) => new AggregateError([Object.assign(new Error('x'), { headers })], sent.token)],
    ['an error that is its own cause', () => circular()],
  ])('a fetch that rejects with %s', async (_, error) => {
    const fetch: typeof globalThis.fetch = (input, init) => Promise.reject(error(new Request(input, init)));
    const given = await asked({ baseUrl: 'http://ledger.example', fetch });
    expect(leaks(given)).toEqual([]);
    expect(given.errors.filter((found) => !isLedgerError(found))).toEqual([]);
    expect(given.errors).toHaveLength(5);
  });

  it.each<[string, Token]>([
    [
      'throws',
      () => {
        throw new Error(`expired: ${sent.token}`);
      },
    ],
    ['rejects', () => Promise.reject(Object.assign(new Error(sent.token), { token: sent.token }))],
    ['errors', () => thrown({ _tag: 'ApiError', token: sent.token })],
    ['gives a token that cannot be sent', `${sent.token}\n`],
    ['gives one with more around it', () => from([`${sent.token} and ${sent.token}`])],
    ['gives none in time', () => timer(10_000, 1).pipe(() => NEVER)],
  ])('a token provider that %s', async (_, token) => {
    const given = await asked({ baseUrl: server.url, token, requestTimeoutMs: 20 });
    expect(leaks(given)).toEqual([]);
    const tags = given.errors.map((error) => isLedgerError(error) && error._tag);
    expect(tags.filter((tag) => tag === 'TokenError')).toHaveLength(4);
    expect(tags.filter((tag) => tag === 'NotSentError')).toHaveLength(1);
  });
});

describe('canton-rx tail', () => {
  it.concurrent.each(names.filter(({ name }) => !/(408|429|500|502|503)/.test(name)))(
    'tells nothing secret on stderr of: $name',
    async ({ index }) => {
      for (const where of ['all', 'pages']) {
        const played = play(['tail', '--ledger', `${server.url}/${where}/${index}`, '--to', '100'], {
          env: { CANTON_RX_LEDGER_TOKEN: sent.token },
        });
        const giveUp = setTimeout(() => played.signals.emit('SIGINT'), 100);
        await played.code;
        clearTimeout(giveUp);
        expect(secretsIn(played.err.text(), all)).toEqual([]);
        expect(secretsIn(played.out.text(), Object.values(sent))).toEqual([]);
      }
    },
  );
});

describe('what could have come out', () => {
  it('was sent, and was sent back', () => {
    for (const secret of Object.values(sent))
      expect([seen.includes(secret), said.includes(secret)]).toEqual([true, true]);
    expect(said).toContain(payload);
  });
});

const told = (request: HttpRequest): Error =>
  Object.assign(new Error(JSON.stringify(request), { cause: { request } }), {
    request,
    code: sent.token,
    options: { headers: request.headers },
  });

/** What is no error is thrown all the same. */
const thrown = (what: unknown): Observable<never> => throwError(() => what);

function circular(): Error {
  const error = Object.assign(new Error(sent.token), { code: sent.token });
  error.cause = error;
  return error;
}
