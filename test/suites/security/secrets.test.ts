import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { from, NEVER, type Observable, of, throwError, timer as wait } from 'rxjs';
import { isLedgerError } from '../../../src/errors/LedgerError.js';
import type { HttpPort, HttpRequest } from '../../../src/http/HttpPort.js';
import type { Token } from '../../../src/client/TokenSource.js';
import type { LedgerOptions } from '../../../src/ledger/LedgerOptions.js';
import { undiciPort } from '../../../src/undici/index.js';
import { runCli } from '../../cli/runCli.js';
import { effort } from '../../helpers/effort.js';
import { httpServer, type HttpServer } from '../../helpers/localServers.js';
import { until } from '../../helpers/time.js';
import { errorBody } from '../../helpers/wire.js';
import { faults } from './failingService.js';
import { allSecrets, callLedger, type Emissions, payload, sent } from './secrets.js';
import { secretsIn } from './secretsIn.js';

const baseUrl = 'http://ledger.example';

let server: HttpServer;
/** The text of all requests that the service received. */
let received = '';
/** How many requests came from `canton-rx tail`. */
let fromTail = 0;
/** The text of all its answers. */
let answered = '';

/** `/all/3/...` fails in the third way; `/pages/3/...` does, too, but for the ledger end. */
beforeAll(async () => {
  server = await httpServer((request, response, body) => {
    received += `${request.headers.authorization ?? ''} ${String(request.headers['x-api-key'])} ${body}\n`;
    const [, where, index, client] = (request.url ?? '').split('/');
    if (client === 'tail') fromTail += 1;
    if (where === 'pages' && request.url?.endsWith('/v2/state/ledger-end') === true) {
      response.end('{"offset":100}');
      return;
    }
    const end = response.end.bind(response);
    response.end = (...args: readonly unknown[]) => {
      answered += String(args[0]);
      return Reflect.apply(end, response, args) as typeof response;
    };
    [...faults.values()][Number(index)]?.({ request, response, body });
  });
});
afterAll(() => server.close());

/** The paths of secrets that were leaked. An update that decodes contains its payload. */
const findLeaks = ({ errors, events, values }: Emissions): readonly string[] => [
  ...secretsIn({ errors, events }, allSecrets),
  ...secretsIn(values, Object.values(sent)),
  ...secretsIn(values.filter(isInvalid), [payload]),
];

const isInvalid = (u: unknown): boolean =>
  typeof u === 'object' && u !== null && '_tag' in u && u._tag === 'UndecodedUpdate';

const undici = undiciPort();

/** The sample has most statuses and most ways to quote a request, and one that breaks the connection. */
const step = effort(13, 1, 7);
const names = [...faults.keys()].map((name, index) => ({ name, index })).filter(({ index }) => index % step === 0);

async function check(index: number, options: Pick<LedgerOptions, 'port'> = {}): Promise<void> {
  const given = await callLedger({ baseUrl: `${server.url}/all/${index}`, ...options });
  const late = await callLedger({ baseUrl: `${server.url}/pages/${index}`, ...options }, 'updates');
  expect([...findLeaks(given), ...findLeaks(late)]).toEqual([]);
  expect(given.errors.length).toBeGreaterThan(1);
  expect([...given.errors, ...late.errors].filter((error) => !isLedgerError(error))).toEqual([]);
}

describe('a ledger leaks no secret from', () => {
  it.concurrent.each(names)('a service that fails: $name', ({ index }) => check(index));

  it.concurrent.each(names)('a service that fails, over undici: $name', ({ index }) => check(index, { port: undici }));

  it.each<[string, HttpPort]>([
    ['an error that holds the request', (request) => throwError(() => errorWith(request))],
    ['a text', (request) => throwValue(JSON.stringify(request))],
    [
      'many errors',
      (request) => throwError(() => new AggregateError([errorWith(request)], errorWith(request).message)),
    ],
    [
      'an exception',
      (request) => {
        throw errorWith(request);
      },
    ],
    ['an error that is its own cause', () => throwError(() => circular())],
    ['no answer', () => of()],
    ['silence', () => NEVER],
  ])('a port that returns %s', async (_, port) => {
    const given = await callLedger({ baseUrl, port, requestTimeoutMs: 20 });
    expect(findLeaks(given)).toEqual([]);
    expect(given.errors).toHaveLength(5);
    expect(given.errors.filter((error) => !isLedgerError(error))).toEqual([]);
  });

  it('a port whose error has the tag of a ledger error', async () => {
    const port: HttpPort = (request) =>
      throwError(() => Object.assign(errorWith(request), { _tag: 'ConnectionError', path: '/' }));
    expect(findLeaks(await callLedger({ baseUrl, port }))).toEqual([]);
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
    const given = await callLedger({ baseUrl, fetch });
    expect(findLeaks(given)).toEqual([]);
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
    ['errors', () => throwValue({ _tag: 'ApiError', token: sent.token })],
    ['returns a token that cannot be sent', () => `${sent.token}\n`],
    ['returns one with other text around it', () => from([`${sent.token} and ${sent.token}`])],
    ['returns none in time', () => wait(10_000, 1).pipe(() => NEVER)],
  ])('a token provider that %s', async (_, token) => {
    const given = await callLedger({ baseUrl: server.url, token, requestTimeoutMs: 20 });
    expect(findLeaks(given)).toEqual([]);
    const tags = given.errors.map((error) => isLedgerError(error) && error._tag);
    expect(tags.filter((tag) => tag === 'TokenError')).toHaveLength(4);
    expect(tags.filter((tag) => tag === 'NotSentError')).toHaveLength(1);
  });
});

/** A port whose service quotes a text in its error, encoded by its JSON library. */
const quoting =
  (text: string, encode: (json: string) => string = (json) => json): HttpPort =>
  () =>
    of({
      status: 400,
      headers: {},
      text: encode(JSON.stringify({ ...errorBody('INVALID_ARGUMENT', 8, { quoted: text }), cause: text })),
    });

const escaped = (json: string): string => json.replaceAll('S', '\\u0053').replaceAll('/', '\\/');

describe('a secret that the service encodes in another way', () => {
  it('is removed where JSON escapes it', async () => {
    const { errors } = await callLedger({ baseUrl, port: quoting(sent.token, escaped) });
    expect(secretsIn(errors, [sent.token])).toEqual([]);
  });

  it('is removed where it contains characters that JSON escapes', async () => {
    const token = 'a"token\\with-quotes';
    const { errors } = await callLedger({ baseUrl, token, port: quoting(`not ${token}`) });
    expect(errors.filter((error) => String(error).includes(token))).toEqual([]);
  });

  it('is removed where it occurs without the name of its scheme', async () => {
    const password = 'dXNlcjpwYXNzd29yZA';
    const headers = { authorization: `Basic ${password}` };
    const { errors } = await callLedger({ baseUrl, headers, port: quoting(`unknown user ${password}`) });
    expect(secretsIn(errors, [password])).toEqual([]);
  });

  it('leaves the error its code and category, though it equals a key', async () => {
    const headers = { 'x-accept': 'errorCategory' };
    const { errors } = await callLedger({ baseUrl, headers, port: quoting('x') });
    expect(errors[0]).toMatchObject({ code: 'INVALID_ARGUMENT', errorCategory: 8 });
  });
});

describe('canton-rx tail', () => {
  it.each(names.filter(({ name }) => !/(408|429|500|502|503)/.test(name)))(
    'writes no secret to stderr: $name',
    async ({ index }) => {
      for (const where of ['all', 'pages']) {
        const before = fromTail;
        const run = runCli(['tail', '--ledger', `${server.url}/${where}/${index}/tail`, '--to', '100'], {
          env: { CANTON_RX_LEDGER_TOKEN: sent.token },
        });
        let isOver = false;
        const code = run.code.finally(() => (isOver = true));
        // with a request after the one that fails, it has dealt with the failure
        await until(() => isOver || fromTail > before + (where === 'pages' ? 2 : 1));
        run.signals.emit('SIGINT');
        await code;
        expect(secretsIn(run.err.text(), allSecrets)).toEqual([]);
        expect(secretsIn(run.out.text(), Object.values(sent))).toEqual([]);
      }
    },
  );
});

describe('every secret', () => {
  it('was sent to the service, and sent back', () => {
    for (const secret of Object.values(sent))
      expect([received.includes(secret), answered.includes(secret)]).toEqual([true, true]);
    expect(answered).toContain(payload);
  });
});

const errorWith = (request: HttpRequest): Error =>
  Object.assign(new Error(JSON.stringify(request), { cause: { request } }), {
    request,
    code: sent.token,
    options: { headers: request.headers },
  });

/** Fails with a value that is not an `Error`. */
const throwValue = (value: unknown): Observable<never> => throwError(() => value);

function circular(): Error {
  const error = Object.assign(new Error(sent.token), { code: sent.token });
  error.cause = error;
  return error;
}
