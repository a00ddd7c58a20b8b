import { inspect } from 'node:util';
import { describe, expect, it, jest } from '@jest/globals';
import {
  asyncScheduler,
  firstValueFrom,
  forkJoin,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  throwError,
  timer,
} from 'rxjs';
import {
  type ClientCredentials,
  clientCredentials,
  createLedger,
  type HttpPort,
  type HttpRequest,
  type HttpResponse,
} from '../../src/index.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { observe } from '../helpers/observe.js';
import { startOidcProvider } from '../helpers/oidcProvider.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';
import { jwt } from '../helpers/tokens.js';
import { brokenConnection, errorReply, ok } from '../helpers/wire.js';

const options: ClientCredentials = {
  tokenUrl: 'https://login.example/token',
  clientId: 'settlement',
  clientSecret: 'a secret: 100 % märk',
};

/** A service that answers each login as the test says, and the token function for it. */
function service(
  answer: (login: number) => HttpResponse | Observable<HttpResponse>,
  more: Partial<ClientCredentials> = {},
) {
  const requests: HttpRequest[] = [];
  const port: HttpPort = (request) => {
    requests.push(request);
    const reply = answer(requests.length);
    return 'subscribe' in reply ? reply : of(reply);
  };
  return { requests, token: clientCredentials({ ...options, ...more, port }) };
}

const granted = (login: number, fields: object = { expires_in: 300 }): HttpResponse =>
  ok({ access_token: `token-${login}`, token_type: 'Bearer', ...fields });

/** The token function's tokens at some times, in milliseconds. */
const tokensAt = (token: (refused?: string) => Observable<string>, ...times: readonly number[]) =>
  observe(merge(...times.map((ms) => timer(ms).pipe(mergeMap(() => token())))));

describe('a login', () => {
  it('is the request of RFC 6749, with ID and secret encoded before Basic', () => {
    const scope = 'daml_ledger_api offline';
    const { requests, token } = service((n) => granted(n), { clientId: 'a:b c+é', scope, audience: 'https://p/1' });
    expect(observe(token()).values).toEqual(['token-1']);
    const credentials = 'a%3Ab+c%2B%C3%A9:a+secret%3A+100+%25+m%C3%A4rk';
    expect(requests).toEqual([
      {
        method: 'POST',
        url: options.tokenUrl,
        headers: {
          accept: 'application/json',
          authorization: `Basic ${btoa(credentials)}`,
          'content-type': 'application/x-www-form-urlencoded',
        },
        body: 'grant_type=client_credentials&scope=daml_ledger_api+offline&audience=https%3A%2F%2Fp%2F1',
      },
    ]);
  });

  itInVirtualTime('is one for all that wait', ({ flush }) => {
    const { requests, token } = service((n) => timer(100).pipe(map(() => granted(n))));
    const seen = Array.from({ length: 8 }, () => observe(token()));
    flush();
    expect(seen.map(({ values }) => values)).toEqual(Array.from({ length: 8 }, () => ['token-1']));
    expect(requests).toHaveLength(1);
  });

  itInVirtualTime('ends when nothing waits for it', ({ flush }) => {
    const { token } = service(() => NEVER);
    const { subscription } = observe(token());
    timer(50).subscribe(() => {
      subscription.unsubscribe();
    });
    flush();
    expect(asyncScheduler.now()).toBe(50);
  });

  const lifeOf = (seconds: number): string => jwt({ iat: 1_000_000, exp: 1_000_000 + seconds });
  it.each<[string, object, number]>([
    ['expires_in', { expires_in: 300 }, 300],
    ['expires_in as text', { expires_in: '300' }, 300],
    ['a short life', { expires_in: 2 }, 2],
    ['no life at all', {}, 60],
    ['a life of zero', { expires_in: 0 }, 60],
    ['a negative life', { expires_in: -1 }, 60],
    ['a life that is no number', { expires_in: 'soon' }, 60],
    ['a life that is an object', { expires_in: {} }, 60],
    ['the times of a JWT', { access_token: lifeOf(120) }, 120],
    ['a life that is longer than that of its JWT', { access_token: lifeOf(300), expires_in: 300_000 }, 300],
    ['a JWT whose life is not positive', { access_token: lifeOf(-5), expires_in: 300 }, 300],
  ])('is repeated at a random time after 80 to 90 %% of the life of the token: %s', (_, fields, seconds) => {
    for (const random of [0, 0.999_999]) {
      jest.spyOn(Math, 'random').mockReturnValue(random);
      const renewedMs = 1_000 * seconds * (random === 0 ? 0.9 : 0.8);
      marbles(({ flush }) => {
        const loginsAt: number[] = [];
        const { token } = service((n) => {
          loginsAt.push(asyncScheduler.now());
          return granted(n, fields);
        });
        const seen = tokensAt(token, 0, renewedMs - 1, renewedMs + 1);
        flush();
        expect(seen.values).toHaveLength(3);
        expect(loginsAt).toEqual([0, renewedMs + 1]);
      });
    }
    jest.restoreAllMocks();
  });

  itInVirtualTime('is at most a minute before the end of a token', ({ flush }) => {
    const { requests, token } = service((n) => granted(n, { expires_in: 86_400 }));
    tokensAt(token, 0, 86_400_000 - 60_001);
    flush();
    expect(requests).toHaveLength(1);
  });

  it('follows a refusal of the token, once', () => {
    const { requests, token } = service((n) => granted(n));
    expect(observe(token()).values).toEqual(['token-1']);
    expect(observe(token('token-0')).values).toEqual(['token-1']);
    expect(observe(token('token-1')).values).toEqual(['token-2']);
    // another request, which was sent with the first
    expect(observe(token('token-1')).values).toEqual(['token-2']);
    expect(requests).toHaveLength(2);
  });

  it('follows a clock that was set back', () => {
    let now = 1_000_000;
    jest.spyOn(asyncScheduler, 'now').mockImplementation(() => now);
    const { token } = service((n) => granted(n));
    expect(observe(token()).values).toEqual(['token-1']);
    now -= 3_600_000;
    expect(observe(token()).values).toEqual(['token-2']);
    jest.restoreAllMocks();
  });

  itInVirtualTime('that fails leaves a token in use until its end, and is repeated every two seconds', ({ flush }) => {
    const { requests, token } = service((n) => (n === 1 ? granted(n) : errorReply(503, '')));
    const seen = tokensAt(token, 0, 270_000, 271_000, 271_999, 272_000, 299_999);
    const later = tokensAt(token, 300_000);
    flush();
    expect(seen).toMatchObject({ error: undefined, values: Array.from({ length: 6 }, () => 'token-1') });
    expect(requests).toHaveLength(5);
    expect(later.error).toMatchObject({ _tag: 'TokenError' });
  });

  itInVirtualTime('that fails is repeated by the next call, and each caller gets its own error', ({ flush }) => {
    const { requests, token } = service((n) => (n === 1 ? errorReply(503, '') : granted(n)));
    const failed = observe(token());
    flush();
    expect(failed.error).toMatchObject({ _tag: 'TokenError' });
    expect(observe(token()).values).toEqual(['token-2']);
    expect(requests).toHaveLength(2);
  });
});

describe('a login that fails', () => {
  const secret = options.clientSecret;
  const oauth = (status: number, error: unknown): HttpResponse =>
    errorReply(status, { error, error_description: `${secret} is wrong` });
  it.each<[string, HttpResponse | Observable<HttpResponse>, string]>([
    ['an error of OAuth', oauth(401, 'invalid_client'), 'the response is 401: invalid_client'],
    ['an error with status 200', oauth(200, 'access_denied'), 'the response has no valid access_token: access_denied'],
    ['an error that quotes the request', oauth(400, secret), 'the response is 400'],
    ['a part of the secret', oauth(400, 'secret'), 'the response is 400'],
    ['an error that is no text', oauth(400, { secret }), 'the response is 400'],
    ['a page', errorReply(502, `<html>${secret}`), 'the response is 502'],
    ['a redirect', errorReply(302, '', { location: `https://x/?${secret}` }), 'the response is 302'],
    ['text', errorReply(200, secret), 'the response has no valid access_token'],
    ['null', ok(null), 'the response has no valid access_token'],
    ['no token', ok({ token_type: 'Bearer' }), 'the response has no valid access_token'],
    ['no possible token', ok({ access_token: 'a\nb' }), 'the response has no valid access_token'],
    ['another type', granted(1, { token_type: 'DPoP' }), 'the response has a token that is not a bearer token'],
    ['a lost connection', throwError(() => brokenConnection), 'there was no response (ECONNRESET)'],
    ['an error without a code', throwError(() => new Error(secret)), 'there was no response'],
    ['silence', NEVER, 'there was no response in time'],
  ])('gives its reason, and no secret: %s', (_, answer, reason) => {
    marbles(({ flush }) => {
      const seen = observe(service(() => answer).token());
      flush();
      expect(seen.error).toMatchObject({
        _tag: 'TokenError',
        reason: `the login at login.example failed: ${reason}`,
      });
      expect(inspect(seen.error, { depth: 9 })).not.toContain(secret);
    });
  });

  it('is the reason of the error of a request, which a feed retries', () => {
    const { token } = service(() => oauth(401, 'invalid_client'));
    const ledger = createLedger({ baseUrl: 'http://ledger.example', token, port: () => NEVER });
    const seen = [observe(ledger.ledgerEnd()), observe(ledger.ledgerEnd())];
    const message = 'No token is available: the login at login.example failed: the response is 401: invalid_client.';
    expect(seen.map(({ error }) => error)).toEqual([
      expect.objectContaining({ message }),
      expect.objectContaining({ message }),
    ]);
  });
});

describe('options that cannot work are a TypeError without their values', () => {
  it.each<[string, Partial<Record<keyof ClientCredentials, unknown>>]>([
    ['tokenUrl', { tokenUrl: 'login.example/token' }],
    ['tokenUrl', { tokenUrl: 'https://me:hush@login.example/token' }],
    ['clientId', { clientId: '' }],
    ['clientSecret', { clientSecret: undefined }],
    ['scope', { scope: '' }],
    ['audience', { audience: 7 }],
  ])('%s', (name, changes) => {
    const create = () => clientCredentials({ ...options, ...changes } as ClientCredentials);
    expect(create).toThrow(TypeError);
    expect(create).toThrow(name);
    expect(create).not.toThrow('hush');
  });
});

describe('with a real OAuth 2 service', () => {
  const client = { clientId: 'a:b', clientSecret: 's e+c:% &/' };

  /** Starts oidc-provider for a client. Records the tokens that it has issued. */
  async function startOauth() {
    const { url, provider, close } = await startOidcProvider({
      clients: [
        {
          client_id: client.clientId,
          client_secret: client.clientSecret,
          grant_types: ['client_credentials'],
          redirect_uris: [],
          response_types: [],
        },
      ],
      features: { clientCredentials: { enabled: true }, devInteractions: { enabled: false } },
      scopes: ['daml_ledger_api'],
      ttl: { ClientCredentials: 300 },
    });
    const issued: string[] = [];
    provider.on('client_credentials.saved', ({ jti }) => issued.push(jti));
    return { tokenUrl: `${url}/token`, issued, close };
  }

  it('logs in once for many requests, and again after a refusal', async () => {
    const oauth = await startOauth();
    let revoked: string | undefined;
    const sandbox = await startSandbox({
      checkToken: (token) => oauth.issued.includes(token ?? '') && token !== revoked,
    });
    try {
      const token = clientCredentials({ ...client, tokenUrl: oauth.tokenUrl, scope: 'daml_ledger_api' });
      const ledger = createLedger({ baseUrl: sandbox.url, token });
      const read = () => firstValueFrom(forkJoin(Array.from({ length: 8 }, () => ledger.ledgerEnd())));
      await read();
      await read();
      expect(oauth.issued).toHaveLength(1);
      [revoked] = oauth.issued;
      await read();
      expect(oauth.issued).toHaveLength(2);
    } finally {
      await sandbox.close();
      oauth.close();
    }
  });

  it('says that the service refuses a client', async () => {
    const oauth = await startOauth();
    try {
      const token = clientCredentials({ ...client, clientSecret: 'wrong', tokenUrl: oauth.tokenUrl });
      await expect(firstValueFrom(token())).rejects.toMatchObject({
        _tag: 'TokenError',
        reason: expect.stringMatching(/^the login at 127\.0\.0\.1:\d+ failed: the response is 401: invalid_client$/),
      });
    } finally {
      oauth.close();
    }
  });
});
