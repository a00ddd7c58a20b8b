import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer as createHttp2 } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { promisify } from 'node:util';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { firstValueFrom, lastValueFrom } from 'rxjs';
import { Agent, interceptors, MockAgent } from 'undici';
import { acsDelta, createLedger } from '../../src/index.js';
import { undiciPort } from '../../src/undici/index.js';
import { failureOf, httpServers, portContract, post } from '../http/portContract.js';

describe('undiciPort', () => {
  portContract(undiciPort);

  const serve = httpServers();

  it.each([
    ['the gRPC port', () => Promise.resolve(), /may be the gRPC port/],
    ['a dispatcher that is closed', (agent: Agent) => agent.close(), /close it after the last request/],
  ])('fails at once at %s', async (_, prepare, hint) => {
    const server = createHttp2().on('sessionError', () => undefined);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const dispatcher = new Agent();
    await prepare(dispatcher);
    const { port } = server.address() as AddressInfo;
    const ledger = createLedger({ baseUrl: `http://127.0.0.1:${port}`, port: undiciPort({ dispatcher }) });
    const feed$ = ledger.updates({ beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
    const error: unknown = await lastValueFrom(feed$).catch((reason: unknown) => reason);
    server.close();
    expect(error).toMatchObject({ isPermanent: true, hint: expect.stringMatching(hint) });
    expect(error).not.toHaveProperty('retried');
  });

  it('throws for a limit out of range', () => {
    expect(() => undiciPort({ maxResponseBytes: 0 })).toThrow('maxResponseBytes is out of range');
  });

  it('says what to do in Bun, where it does not connect', () => {
    Object.assign(globalThis, { Bun: {} });
    try {
      expect(() => undiciPort()).toThrow('leave out the option port, so that the ledger uses fetch');
    } finally {
      Reflect.deleteProperty(globalThis, 'Bun');
    }
  });

  it('sends requests through the dispatcher of its options', async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();
    dispatcher
      .get('http://ledger.example')
      .intercept({ method: 'POST', path: '/v2/updates?limit=1', body: '{"signature":"payload"}' })
      .reply(200, '[1]', { headers: { 'x-some': 'thing' } });
    const port = undiciPort({ dispatcher });
    expect(await firstValueFrom(port(post('http://ledger.example/v2/updates?limit=1')))).toMatchObject({
      status: 200,
      headers: { 'x-some': 'thing' },
      text: '[1]',
    });
    await dispatcher.close();
  });

  it('reports a dispatcher that is closed', async () => {
    const dispatcher = new Agent();
    await dispatcher.close();
    expect(await failureOf(undiciPort({ dispatcher })(post('http://ledger.example')))).toMatchObject({
      _tag: 'ConnectionError',
      code: expect.stringMatching(/^UND_ERR_(CLOSED|DESTROYED)$/),
    });
  });

  it('does not wait for the timeouts of its dispatcher, which would end a long poll', async () => {
    const { url } = await serve((_, response) => {
      setTimeout(() => response.writeHead(200, { 'content-length': '2' }).write('['), 1_500);
      setTimeout(() => response.end(']'), 3_000);
    });
    // undici's timers have a resolution of a second
    const port = undiciPort({ dispatcher: new Agent({ headersTimeout: 100, bodyTimeout: 100 }) });
    expect(await firstValueFrom(port(post(url)))).toMatchObject({ text: '[]' });
  });

  it('joins the values of a header that occurs several times', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end('[]');
    });
    expect(await firstValueFrom(undiciPort()(post(url)))).toMatchObject({ headers: { 'set-cookie': 'a=1,b=2' } });
  });

  it('ignores an informational response', async () => {
    const { url } = await serve((_, response) => {
      response.writeEarlyHints({ link: '</a.css>; rel=preload' });
      response.writeHead(201).end('[]');
    });
    expect(await firstValueFrom(undiciPort()(post(url)))).toMatchObject({ status: 201, text: '[]' });
  });

  it('does not send a request that was unsubscribed from while it waited for a connection', async () => {
    const urls: unknown[] = [];
    const { url } = await serve((request, response) => {
      urls.push(request.url);
      setTimeout(() => response.end('[]'), 20);
    });
    const port = undiciPort({ dispatcher: new Agent({ connections: 1 }) });
    const first = firstValueFrom(port(post(`${url}/1`)));
    port(post(`${url}/2`))
      .subscribe()
      .unsubscribe();
    await first;
    await firstValueFrom(port(post(`${url}/3`)));
    expect(urls).toEqual(['/1', '/3']);
  });

  it('opens no more connections for many requests, one after the other, than it needs in turn', async () => {
    const ports = new Set<unknown>();
    const { url } = await serve((request, response) => {
      ports.add(request.socket.remotePort);
      response.end('[]');
    });
    const port = undiciPort();
    for (let i = 0; i < 20; i += 1) await firstValueFrom(port(post(url)));
    // undici uses a connection again only in the next turn of the event loop
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  it('does not keep a process alive with idle connections', async () => {
    const { url } = await serve((_, response) => response.end('[]'));
    const folder = mkdtempSync(join(tmpdir(), 'canton-rx-undici-'));
    const outfile = join(folder, 'readOnce.cjs');
    await build({
      entryPoints: [join(import.meta.dirname, 'readOnce.ts')],
      outfile,
      bundle: true,
      platform: 'node',
      logLevel: 'silent',
    });
    const { stdout } = await promisify(execFile)(process.execPath, [outfile, url]);
    expect(stdout).not.toBe('');
    // undici keeps idle connections for four seconds
    expect(Number(stdout)).toBeLessThan(3_000);
    rmSync(folder, { recursive: true });
  });

  it('reports the code of an idle connection that the server closes as the request arrives', async () => {
    let count = 0;
    const { url } = await serve((request, response) => {
      count += 1;
      if (count === 1) response.end('[]');
      else request.socket.destroy();
    });
    const port = undiciPort();
    await firstValueFrom(port(post(url)));
    expect(await failureOf(port(post(url)))).toMatchObject({ _tag: 'ConnectionError', code: 'UND_ERR_SOCKET' });
    expect(count).toBe(2);
  });

  it('opens another connection after the server has closed an idle one', async () => {
    const closed: Promise<void>[] = [];
    const { url } = await serve((request, response) => {
      closed.push(
        new Promise((resolve) => {
          request.socket.once('close', resolve);
        }),
      );
      response.end('[]', () => request.socket.end());
    });
    const port = undiciPort();
    for (let i = 0; i < 3; i += 1) {
      await firstValueFrom(port(post(url)));
      await closed[i];
    }
    expect(closed).toHaveLength(3);
  });

  it.each([
    ['gzip', gzipSync('[1]')],
    ['br', brotliCompressSync('[1]')],
  ])('does not ask for compression, and errors for an answer in %s', async (encoding, bytes) => {
    let accepted: unknown;
    const { url } = await serve((request, response) => {
      accepted = request.headers['accept-encoding'];
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes);
    });
    expect(await failureOf(undiciPort()(post(url)))).toMatchObject({
      _tag: 'ConnectionError',
      code: 'CONTENT_ENCODING',
    });
    expect(accepted).toBeUndefined();
  });

  it('keeps the status of an error response that is compressed', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(503, { 'content-encoding': 'gzip' }).end(gzipSync('later'));
    });
    expect(await firstValueFrom(undiciPort()(post(url)))).toMatchObject({ status: 503, text: '' });
  });

  it('reads compressed answers through a dispatcher that decompresses them', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('[1]'));
    });
    const dispatcher = new Agent().compose(interceptors.decompress());
    expect(await firstValueFrom(undiciPort({ dispatcher })(post(url)))).toMatchObject({ text: '[1]' });
  });
});
