import { inspect } from 'node:util';
import { afterEach, expect, it } from '@jest/globals';
import { catchError, firstValueFrom, type Observable, of } from 'rxjs';
import { ConnectionError } from '../../src/errors/request.js';
import { toConnectionError } from '../../src/client/exchange.js';
import type { HttpPort, HttpRequest } from '../../src/http/HttpPort.js';
import { httpServer, type HttpServer } from '../helpers/localServers.js';

export const secret = 'a-token-that-nobody-may-see';

/** A request with secrets. */
export const post = (url: string): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json', authorization: `Bearer ${secret}` },
  body: '{"signature":"payload"}',
});

/** The error of a request that fails, as `exchange` reports it. */
export const failureOf = (answer$: Observable<unknown>, path = '/'): Promise<unknown> =>
  firstValueFrom(answer$.pipe(catchError((error: unknown) => of(toConnectionError(path, error)))));

/** Returns a function that starts servers which are closed after each test. Call it once for each `describe`. */
export function httpServers(): typeof httpServer {
  const servers: HttpServer[] = [];
  afterEach(async () => {
    await Promise.all(servers.splice(0).map((server) => server.close()));
  });
  return async (handle) => {
    const server = await httpServer(handle);
    servers.push(server);
    return server;
  };
}

/** Tests what every port over a network does. Call it within `describe`. */
export function portContract(makePort: (options?: { readonly maxResponseBytes?: number }) => HttpPort): void {
  const send = makePort();
  const serve = httpServers();

  it('sends the request unchanged and emits one response', async () => {
    const seen: unknown[] = [];
    const { url } = await serve((request, response, body) => {
      seen.push(request.method, request.url, request.headers.authorization, request.headers['content-type'], body);
      response.writeHead(200, { 'x-some': 'thing' }).end('[1, 2]');
    });
    const answer = await firstValueFrom(send(post(`${url}/v2/updates?limit=1`)));
    expect(seen).toEqual([
      'POST',
      '/v2/updates?limit=1',
      `Bearer ${secret}`,
      'application/json',
      '{"signature":"payload"}',
    ]);
    expect(answer).toMatchObject({ status: 200, text: '[1, 2]', headers: { 'x-some': 'thing' } });
  });

  it('emits a response with any status, without a retry', async () => {
    let count = 0;
    const { url } = await serve((_, response) => {
      count += 1;
      response.writeHead(503, { 'retry-after': '1' }).end('later');
    });
    expect(await firstValueFrom(send(post(url)))).toMatchObject({
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
    const answer$ = send(post(url));
    expect(count).toBe(0);
    await firstValueFrom(answer$);
    await firstValueFrom(answer$);
    expect(count).toBe(2);
  });

  it('aborts the request when it is unsubscribed', async () => {
    let onRequest: () => void = () => undefined;
    const requested = new Promise<void>((resolve) => {
      onRequest = resolve;
    });
    const { url, aborted } = await serve(() => {
      onRequest();
    });
    const subscription = send(post(url)).subscribe();
    await requested;
    subscription.unsubscribe();
    await aborted;
  });

  it('aborts the request in the middle of the body', async () => {
    let onBody: () => void = () => undefined;
    const bodyStarted = new Promise<void>((resolve) => {
      onBody = resolve;
    });
    const { url, aborted } = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('[', () => {
        onBody();
      });
    });
    const subscription = send(post(url)).subscribe();
    await bodyStarted;
    subscription.unsubscribe();
    await aborted;
  });

  it('reports the code of a refused connection', async () => {
    const server = await httpServer(() => undefined);
    await server.close();
    const error = await failureOf(send(post(`${server.url}/v2/updates`)));
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  it.each([
    ['before the response', ''],
    ['within the body', '[{"up'],
  ])('reports a connection that breaks %s', async (_, part) => {
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
    expect(await failureOf(send(post(`${url}/v2/updates`)))).toMatchObject({ _tag: 'ConnectionError' });
  });

  it('does not retry, not even a GET', async () => {
    let count = 0;
    const { url } = await serve((request) => {
      count += 1;
      request.socket.destroy();
    });
    expect(await failureOf(send({ method: 'GET', url, headers: {} }))).toMatchObject({ _tag: 'ConnectionError' });
    expect(count).toBe(1);
  });

  it('keeps token and body out of its error', async () => {
    const { url } = await serve((request) => {
      request.socket.destroy();
    });
    const shown = inspect(await failureOf(send(post(url))), { depth: 20, showHidden: true });
    expect(shown).toContain('ConnectionError');
    expect(shown).not.toContain(secret);
    expect(shown).not.toContain('payload');
  });

  it('does not follow a redirect, which would send signed bytes to another host', async () => {
    let elsewhere = 0;
    const other = await serve((_, response) => {
      elsewhere += 1;
      response.end('[]');
    });
    const { url } = await serve((_, response) => {
      response.writeHead(307, { location: other.url }).end();
    });
    expect(await firstValueFrom(send(post(url)))).toMatchObject({ status: 307 });
    expect(elsewhere).toBe(0);
  });

  it('reads characters of several bytes, however the chunks divide them', async () => {
    const text = JSON.stringify(Array(40).fill('ä€𝄞 \ufeff'));
    const { url } = await serve((_, response) => {
      const bytes = Buffer.from(text);
      const writeFrom = (start: number): void => {
        if (start >= bytes.length) response.end();
        else response.write(bytes.subarray(start, start + 7), () => setImmediate(writeFrom, start + 7));
      };
      writeFrom(0);
    });
    expect(await firstValueFrom(send(post(url)))).toMatchObject({ text });
  });

  it('keeps a zero-width space at the start of a chunk, which is no byte order mark there', async () => {
    const { url } = await serve((_, response) => {
      response.write('\ufeff["a');
      setTimeout(() => response.end('\ufeffb"]'), 20);
    });
    expect(await firstValueFrom(send(post(url)))).toMatchObject({ text: '["a\ufeffb"]' });
  });

  it('errors for a truncated UTF-8 sequence in a body', async () => {
    const { url } = await serve((_, response) => {
      response.end(Buffer.from([0x22, 0xc3, 0x28, 0x22]));
    });
    expect(await failureOf(send(post(url)))).toMatchObject({ _tag: 'ConnectionError' });
  });

  it.each([
    ['has a content-length', { 'content-length': '200000000' }],
    ['has none', {}],
  ])('stops reading a response at the limit and closes the connection: it %s', async (_, headers) => {
    let sent = 0;
    const { url, aborted } = await serve((__, response) => {
      response.writeHead(200, headers);
      const writeMore = (): void => {
        while (!response.destroyed && sent < 200_000_000 && response.write('x'.repeat((sent += 10_000) && 10_000)));
        response.once('drain', writeMore);
      };
      writeMore();
    });
    expect(await failureOf(makePort({ maxResponseBytes: 1_500 })(post(`${url}/v2/x`)), '/v2/x')).toMatchObject({
      _tag: 'ResponseTooLargeError',
      path: '/v2/x',
      maxBytes: 1_500,
    });
    await aborted;
    expect(sent).toBeLessThan(200_000_000);
  });

  it('reads a response of exactly the limit, in any chunks', async () => {
    const { url } = await serve((_, response) => {
      const bytes = Buffer.from('"äöü€𝄞"');
      response.write(bytes.subarray(0, 2));
      setImmediate(() => response.end(bytes.subarray(2)));
    });
    const port = makePort({ maxResponseBytes: Buffer.byteLength('"äöü€𝄞"') });
    expect(await firstValueFrom(port(post(url)))).toMatchObject({ text: '"äöü€𝄞"' });
  });

  it('errors for a body that is not UTF-8', async () => {
    const { url } = await serve((_, response) => {
      response.end(Buffer.from([0x22, 0xff, 0xfe, 0x22]));
    });
    expect(await failureOf(send(post(url)))).toMatchObject({ _tag: 'ConnectionError' });
  });

  it('keeps the status of an error page in another encoding', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(403).end(Buffer.from('zur\u00fcck', 'latin1'));
    });
    expect(await firstValueFrom(send(post(url)))).toMatchObject({ status: 403 });
  });
}
