import { inspect } from 'node:util';
import { afterEach, describe, expect, it } from '@jest/globals';
import { catchError, firstValueFrom, of } from 'rxjs';
import { ConnectionError } from '../../src/errors/request.js';
import { toConnectionError } from '../../src/http/exchange.js';
import { kyPort, type KyPortOptions } from '../../src/http/kyPort.js';
import type { HttpRequest } from '../../src/http/HttpPort.js';
import { httpServer, type HttpServer } from '../helpers/httpServer.js';

const servers: HttpServer[] = [];
const serve = async (handle: Parameters<typeof httpServer>[0]): Promise<HttpServer> => {
  const server = await httpServer(handle);
  servers.push(server);
  return server;
};
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
});

const secret = 'a-token-that-nobody-may-see';
const post = (url: string): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
  body: '{"signature":"payload"}',
});
/** What comes of a request that fails, as `exchange` names it. */
const failed = async (request: HttpRequest, options: KyPortOptions = {}): Promise<unknown> =>
  firstValueFrom(
    kyPort(options)(request).pipe(
      catchError((error: unknown) => of(toConnectionError(new URL(request.url).pathname, error))),
    ),
  );

describe('kyPort', () => {
  it('sends the request as it is and emits the answer, once', async () => {
    const seen: unknown[] = [];
    const { url } = await serve((request, response, body) => {
      seen.push(request.method, request.url, request.headers.authorization, request.headers['content-type'], body);
      response.writeHead(200, { 'x-some': 'thing' }).end('[1, 2]');
    });
    const answer = await firstValueFrom(kyPort()(post(`${url}/v2/updates?limit=1`)));
    expect(seen).toEqual([
      'POST',
      '/v2/updates?limit=1',
      `Bearer ${secret}`,
      'application/json',
      '{"signature":"payload"}',
    ]);
    expect(answer).toMatchObject({ status: 200, text: '[1, 2]', headers: { 'x-some': 'thing' } });
  });

  it('emits an answer of any status, and asks once', async () => {
    let count = 0;
    const { url } = await serve((_, response) => {
      count += 1;
      response.writeHead(503, { 'retry-after': '1' }).end('later');
    });
    expect(await firstValueFrom(kyPort()(post(url)))).toMatchObject({
      status: 503,
      text: 'later',
      headers: { 'retry-after': '1' },
    });
    expect(count).toBe(1);
  });

  it('sends nothing before it is subscribed', async () => {
    let count = 0;
    const { url } = await serve((_, response) => {
      count += 1;
      response.end('{}');
    });
    const answer$ = kyPort()(post(url));
    expect(count).toBe(0);
    await firstValueFrom(answer$);
    await firstValueFrom(answer$);
    expect(count).toBe(2);
  });

  it('aborts the request when it is unsubscribed', async () => {
    let received: () => void = () => undefined;
    const receipt = new Promise<void>((resolve) => {
      received = resolve;
    });
    const { url, aborted } = await serve(() => {
      received();
    });
    const subscription = kyPort()(post(url)).subscribe();
    await receipt;
    subscription.unsubscribe();
    await aborted;
  });

  it('aborts the request in the middle of the body', async () => {
    let begun: () => void = () => undefined;
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { url, aborted } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('[', () => {
        begun();
      });
    });
    const subscription = kyPort()(post(url)).subscribe();
    await beginning;
    subscription.unsubscribe();
    await aborted;
  });

  it('names a connection that is refused', async () => {
    const server = await httpServer(() => undefined);
    await server.close();
    const error = await failed(post(`${server.url}/v2/updates`));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED', path: '/v2/updates' });
  });

  it.each([
    ['before the answer', ''],
    ['within the body', '[{"up'],
  ])('names a connection that breaks %s', async (_, part) => {
    const { url } = await serve((request, response) => {
      if (part === '') {
        request.socket.destroy();
        return;
      }
      response.writeHead(200, { 'content-length': '1000' });
      response.write(part, () => {
        request.socket.destroy();
      });
    });
    expect(await failed(post(`${url}/v2/updates`))).toMatchObject({ _tag: 'ConnectionError', path: '/v2/updates' });
  });

  it('asks once, also where ky itself would ask again', async () => {
    let count = 0;
    const { url } = await serve((request) => {
      count += 1;
      request.socket.destroy();
    });
    expect(await failed({ method: 'GET', url, headers: {} })).toMatchObject({ _tag: 'ConnectionError' });
    expect(count).toBe(1);
  });

  it('lets neither token nor body into its error', async () => {
    const { url } = await serve((request) => {
      request.socket.destroy();
    });
    const shown = inspect(await failed(post(url)), { depth: 20, showHidden: true });
    expect(shown).toContain('ConnectionError');
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('payload');
  });

  it('follows no redirect: what is signed goes to nobody else', async () => {
    let elsewhere = 0;
    const other = await serve((_, response) => {
      elsewhere += 1;
      response.end('[]');
    });
    const { url } = await serve((_, response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    expect(await firstValueFrom(kyPort()(post(url)))).toMatchObject({ status: 307 });
    expect(elsewhere).toBe(0);
  });

  it('takes a body that is no UTF-8 for one that is not whole', async () => {
    const { url } = await serve((_, response) => {
      response.end(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
    });
    expect(await failed(post(url))).toMatchObject({ _tag: 'ConnectionError' });
  });

  it.each([
    ['announces it', { 'content-length': '200000000' }],
    ['does not', {}],
  ])('reads no answer beyond the limit, whether it %s, and hangs up', async (_, headers) => {
    let sent = 0;
    const { url, aborted } = await serve((__, response) => {
      response.writeHead(200, headers);
      const more = (): void => {
        while (!response.destroyed && sent < 200_000_000 && response.write('x'.repeat((sent += 10_000) && 10_000)));
        response.once('drain', more);
      };
      more();
    });
    expect(await failed(post(`${url}/v2/x`), { maxAnswerBytes: 1_500 })).toMatchObject({
      _tag: 'AnswerTooLargeError',
      path: '/v2/x',
      maxBytes: 1_500,
    });
    await aborted;
    expect(sent).toBeLessThan(200_000_000);
  });

  it('reads an answer that is just as large, in whatever pieces it comes', async () => {
    const { url } = await serve((_, response) => {
      const bytes = Buffer.from('"äöü€𝄞"');
      response.write(bytes.subarray(0, 2));
      setImmediate(() => response.end(bytes.subarray(2)));
    });
    const port = kyPort({ maxAnswerBytes: Buffer.byteLength('"äöü€𝄞"') });
    expect(await firstValueFrom(port(post(url)))).toMatchObject({ text: '"äöü€𝄞"' });
  });

  it('refuses an answer that is no UTF-8', async () => {
    const { url } = await serve((_, response) => {
      response.end(Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    });
    expect(await failed(post(url))).toMatchObject({ _tag: 'ConnectionError' });
  });

  it('keeps the status of an error page in another encoding', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(403).end(Buffer.from('zur\u00fcck', 'latin1'));
    });
    expect(await firstValueFrom(kyPort()(post(url)))).toMatchObject({ status: 403 });
  });

  it('reads what a fetch without streams answers', async () => {
    const response = new Response('[1]');
    Object.defineProperty(response, 'body', { value: undefined });
    const fetch = (): Promise<Response> => Promise.resolve(response);
    expect(await firstValueFrom(kyPort({ fetch })(post('http://ledger.example')))).toMatchObject({ text: '[1]' });
  });

  it('reads an answer without a body', async () => {
    const fetch = (): Promise<Response> => Promise.resolve(new Response(null, { status: 204 }));
    expect(await firstValueFrom(kyPort({ fetch })(post('http://ledger.example')))).toMatchObject({ text: '' });
  });

  it('takes only what looks like one for a code of the system', async () => {
    const fetch = (): Promise<Response> => Promise.reject(Object.assign(new Error('x'), { code: secret }));
    expect(await failed(post('http://ledger.example'), { fetch })).toMatchObject({
      _tag: 'ConnectionError',
      code: undefined,
    });
  });

  it('uses the fetch that it is given', async () => {
    const { url } = await serve((_, response) => {
      response.end('[]');
    });
    const seen: string[] = [];
    const fetch: typeof globalThis.fetch = (input, init) => {
      seen.push(input instanceof Request ? input.url : 'not a request');
      return globalThis.fetch(input, init);
    };
    await firstValueFrom(kyPort({ fetch })(post(`${url}/a`)));
    expect(seen).toEqual([`${url}/a`]);
  });
});
