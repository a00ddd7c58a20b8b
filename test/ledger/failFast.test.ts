import { once } from 'node:events';
import { createSecureServer as createHttp2OverTls, createServer as createHttp2 } from 'node:http2';
import { createServer as createTls } from 'node:https';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { AddressInfo, Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import {
  EMPTY,
  filter,
  firstValueFrom,
  ignoreElements,
  lastValueFrom,
  merge,
  of,
  take,
  throwError,
  toArray,
} from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import {
  acsDelta,
  createLedger,
  type HttpPort,
  isLedgerError,
  isTransient,
  StoreError,
  type LedgerError,
} from '../../src/index.js';
import { processFeed, updatesFeed } from '../../src/process/index.js';
import { cantonError } from '../../src/sandbox/index.js';
import { sandboxes } from '../helpers/localServers.js';
import { errorBody } from '../helpers/wire.js';
import { httpServers } from '../http/portContract.js';

const serve = httpServers();
const startSandbox = sandboxes();
const updateFormat = acsDelta({ parties: 'any' });
const servers: { close: () => unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function portOf(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** A server with a certificate that nobody trusts. */
function selfSigned(create: (options: { key: Buffer; cert: Buffer }) => Server = createTls): Server {
  const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-days', '1', '-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], { stdio: 'ignore' });
  const options = { key: readFileSync(key), cert: readFileSync(cert) };
  rmSync(folder, { recursive: true });
  return create(options);
}

/** The error of a feed with the default policy, which would retry for five minutes. */
const errorOfFeed = async (baseUrl: string, begin = 0): Promise<LedgerError> => {
  const feed$ = createLedger({ baseUrl }).updates({ beginExclusive: begin, updateFormat });
  const error: unknown = await lastValueFrom(feed$).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!isLedgerError(error)) throw new Error('not an error of the ledger', { cause: error });
  return error;
};

describe('a ledger at a wrong address fails at once, with the next step', () => {
  it.each([
    ['https to a plain port', async () => (await serve(() => undefined)).url.replace('http', 'https'), /try http:\/\//],
    ['the gRPC port', async () => `http://127.0.0.1:${await portOf(createHttp2())}`, /may be the gRPC port/],
    [
      'the gRPC port with TLS',
      async () => `https://127.0.0.1:${await portOf(selfSigned(createHttp2OverTls))}`,
      /may be the gRPC port/,
    ],
    ['an unknown certificate', async () => `https://127.0.0.1:${await portOf(selfSigned())}`, /NODE_EXTRA_CA_CERTS/],
    [
      'a web page',
      async () => (await serve((_, response) => response.end('\n<!doctype html><title>Log in</title>'))).url,
      /login page/,
    ],
  ])('%s', async (_, address, hint) => {
    const error = await errorOfFeed(await address());
    expect(error).toMatchObject({ _tag: 'ConnectionError', isPermanent: true });
    expect(isTransient(error)).toBe(false);
    expect(error.message).toMatch(hint);
    expect(error).not.toHaveProperty('retried');
  });

  it('a redirect, whose target it names without the query', async () => {
    const { url } = await serve((_, response) => {
      response.writeHead(301, { location: 'https://me:hush@ledger.example/api/v2/x?code=hush' }).end();
    });
    const error = await errorOfFeed(url);
    expect(error).toMatchObject({ _tag: 'ApiError', status: 301 });
    expect(error.message).toContain('a redirect to https://ledger.example/api/v2/x, which is not followed');
    expect(error.message).not.toContain('hush');
  });

  it.each([
    ['a ledger end', 200, { offset: 7 }],
    ['an error of its own', 503, cantonError('SERVER_IS_NOT_SERVING')],
  ])('but not for a web page after the ledger has answered with %s, which is an outage', async (_, status, body) => {
    let requests = 0;
    const { url } = await serve((_, response) => {
      requests += 1;
      if (requests === 2) response.end('<html>maintenance</html>');
      else response.writeHead(status).end(JSON.stringify(body));
    });
    const ledger = createLedger({ baseUrl: url });
    await firstValueFrom(ledger.ledgerEnd()).catch(() => undefined);
    const error: unknown = await firstValueFrom(ledger.ledgerEnd()).catch((reason: unknown) => reason);
    expect(isLedgerError(error, 'ConnectionError') && isTransient(error)).toBe(true);
    expect(requests).toBe(2);
  });

  it('but not for a connection that is closed without a response, as while a container starts', () => {
    const closed = Object.assign(new Error(), { code: 'UND_ERR_SOCKET' });
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: () => throwError(() => closed) });
    return expect(firstValueFrom(ledger.ledgerEnd())).rejects.toMatchObject({
      isPermanent: false,
      hint: expect.stringContaining('gRPC port'),
    });
  });
});

describe('a token that cannot be one is a TypeError at once', () => {
  it.each([
    ['', /empty/],
    ['abc\n', /trim it/],
    ['Bearer abc', /"Bearer "/],
    [42, /not a text/],
  ])('%j', (token, remedy) => {
    // @ts-expect-error -- from JavaScript
    const create = () => createLedger({ baseUrl: 'http://ledger.example', token });
    expect(create).toThrow(TypeError);
    expect(create).toThrow(remedy);
  });
});

describe('a header that fetch does not send', () => {
  it.each([
    ...['host', 'Host', 'HOST', 'connection', 'Content-Length', 'transfer-encoding', 'Upgrade', 'keep-alive', 'TE'],
    ...['Trailer', 'Expect', 'sec-fetch-mode'],
  ])('is a TypeError with the way out: %s', (name) => {
    const headers = { [name]: '1', 'x-tenant': 'blue' };
    const options = { baseUrl: 'http://ledger.example', headers };
    for (const more of [{}, { fetch: globalThis.fetch }]) {
      const create = () => createLedger({ ...options, ...more });
      expect(create).toThrow(TypeError);
      expect(create).toThrow(new RegExp(`does not send ${name.toLowerCase()}:.*undiciPort\\(\\)`));
    }
    expect(() => createLedger({ ...options, port: () => EMPTY })).not.toThrow();
  });

  it.each(['cookie', 'origin', 'user-agent', 'authorization', 'x-forwarded-host', 'traceparent', 'accept-encoding'])(
    'but not one that fetch sends in Node.js: %s',
    (name) => {
      expect(() => createLedger({ baseUrl: 'http://ledger.example', headers: { [name]: '1' } })).not.toThrow();
    },
  );

  it('is one that the Request of a browser leaves out', () => {
    const PlatformRequest = globalThis.Request;
    globalThis.Request = class extends PlatformRequest {
      constructor(input: string, init: RequestInit) {
        const headers = new Headers(init.headers);
        headers.delete('cookie');
        super(input, { ...init, headers });
      }
    } as typeof Request;
    const create = () => createLedger({ baseUrl: 'http://ledger.example', headers: { Cookie: 'a=b' } });
    expect(create).toThrow(/does not send cookie:/);
    globalThis.Request = PlatformRequest;
  });
});

describe('a processor', () => {
  const port = () => of({ status: 200, headers: {}, text: '{"offset":0}' });
  const ledger = createLedger({ baseUrl: 'http://ledger.example', port });
  const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat });

  it('whose folder does not exist ends at once, with the next step', async () => {
    const store = fileStore(join(tmpdir(), 'canton-rx-missing', 'folder'));
    const error: unknown = await lastValueFrom(processFeed(feed, () => EMPTY, { name: 'a', store })).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ _tag: 'StoreError', message: expect.stringContaining('create the folder') });
    expect(error).not.toHaveProperty('retried');
  });

  it.each([
    ['a folder that disappears later', new StoreError('save', 'a', '', { code: 'ENOENT', syscall: 'open' })],
    ['the socket of a database', new StoreError('load', 'a', '', { code: 'ENOENT', syscall: 'connect' })],
  ])('retries after %s', (_, error) => {
    expect(isTransient(error)).toBe(true);
  });
});

describe('a 403 names the missing right, as far as the request shows it', () => {
  const parties = ['alice::1220', 'bob::1220'] as const;
  const refuse: HttpPort = ({ url }) =>
    url.endsWith('ledger-end')
      ? of({ status: 200, headers: {}, text: '{"offset":9}' })
      : of({ status: 403, headers: {}, text: JSON.stringify(errorBody('NA', -1)) });
  const ledger = createLedger({ baseUrl: 'http://ledger.example/prefix', port: refuse });
  const command = { CreateCommand: { templateId: '#p:M:E', createArguments: { actAs: 'x' } } };
  it.each([
    [ledger.completions({ userId: 'u', parties, beginExclusive: 0 }), 'CanReadAs alice::1220, bob::1220'],
    [ledger.prepare({ commandId: 'c', commands: [command], actAs: parties }), 'CanReadAs alice::1220, bob::1220'],
    [ledger.parties(), 'ParticipantAdmin'],
  ])('%#', async (operation$, right) => {
    await expect(lastValueFrom<unknown>(operation$)).rejects.toMatchObject({
      status: 403,
      message: expect.stringContaining(`Missing right: ${right}`),
    });
  });

  it("reads only the request's own parties, and no field of a payload that has the same name", async () => {
    const createArguments = { actAs: ['mallory::1220'], parties: ['mallory::1220'], filtersForAnyParty: {} };
    const commands = [{ CreateCommand: { templateId: '#p:M:E', createArguments } }];
    const submitted$ = ledger.submitAndWaitForTransaction({ commands, actAs: parties }, { recover: false });
    for (const refused$ of [submitted$, ledger.prepare({ commandId: 'c', commands, actAs: parties })]) {
      await expect(lastValueFrom<unknown>(refused$)).rejects.toMatchObject({
        message: expect.stringMatching(/Missing right: Can(Act|Read)As alice::1220, bob::1220\n/),
      });
    }
  });

  it.each([
    [parties, 'CanReadAs alice::1220, bob::1220'],
    ['any', 'CanReadAsAnyParty'],
  ] as const)('updates of %j', async (of_, right) => {
    const request = { beginExclusive: 0, endInclusive: 5, updateFormat: acsDelta({ parties: of_ }) };
    await expect(lastValueFrom(ledger.updates(request))).rejects.toMatchObject({
      message: expect.stringContaining(`Missing right: ${right}`),
    });
  });
});

describe('parties', () => {
  it('are read page by page', async () => {
    const { url } = await serve(({ url: path = '' }, response) => {
      const isFirst = !path.includes('pageToken=a%2Bb');
      response.end(
        JSON.stringify(
          isFirst
            ? { partyDetails: [{ party: 'alice::1', isLocal: true, identityProviderId: '' }], nextPageToken: 'a+b' }
            : { partyDetails: [{ party: 'bob::1', isLocal: null, localMetadata: null }], nextPageToken: '' },
        ),
      );
    });
    const all = await lastValueFrom(createLedger({ baseUrl: url }).parties().pipe(toArray()));
    expect(all).toEqual([
      { party: 'alice::1', isLocal: true, identityProviderId: '' },
      { party: 'bob::1', isLocal: false, localMetadata: null },
    ]);
  });

  it('that the participant does not host are reported once for a feed, if someone listens', async () => {
    const sandbox = await startSandbox();
    sandbox.generate(5);
    const ledger = createLedger({ baseUrl: sandbox.url });
    const [known = ''] = sandbox.parties;
    const formatOf = acsDelta({ parties: [known, 'nobody::1220ab'] });
    const request = { beginExclusive: sandbox.ledgerEnd, updateFormat: formatOf };
    const feed$ = ledger.updates(request, { idleTimeoutMs: 50 }).pipe(ignoreElements());
    let reports: readonly object[] = [];
    const pollsAfterReport$ = ledger.diagnostics$.pipe(
      filter((diagnostic) => {
        if (diagnostic._tag === 'PartyUnknown') reports = [...reports, diagnostic];
        return diagnostic._tag === 'PollSent' && reports.length > 0;
      }),
    );
    await lastValueFrom(merge(pollsAfterReport$, feed$).pipe(take(3)));
    expect(reports).toMatchObject([{ party: 'nobody::1220ab', feed: 1 }]);
    expect(await firstValueFrom(ledger.parties().pipe(take(1)))).toMatchObject({ isLocal: true });
  });
});
