import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, it, expect } from '@jest/globals';
import { claimsOf, durationText, tokenAdvice } from '../../src/cli/check/token.js';
import { reportOf, reportText } from '../../src/cli/check/report.js';
import { troubleOfError } from '../../src/cli/check/trouble.js';
import { AskError } from '../../src/cli/probe/ask.js';
import { cantonError, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { httpServer } from '../helpers/httpServer.js';
import { ownClock } from '../helpers/ownClock.js';
import { captured, play } from './support.js';

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const sandboxWith = async (options: SandboxOptions = {}, updates = 600): Promise<Sandbox> => {
  const sandbox = await startSandbox(options);
  closing.push(() => sandbox.close());
  sandbox.generate(updates);
  return sandbox;
};

interface Finding {
  readonly id: string;
  readonly state: string;
  readonly text: string;
  readonly next?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}
interface Checked {
  readonly code: number;
  readonly whole: string;
  readonly of: (id: string) => Finding | undefined;
  readonly ids: readonly string[];
}

const checked = async (url: string, ...options: readonly string[]): Promise<Checked> =>
  checkedWith(url, {}, ...options);

const checkedWith = async (
  url: string,
  env: Record<string, string>,
  ...options: readonly string[]
): Promise<Checked> => {
  const { code, out, err } = play(['check', '--ledger', url, '--json', ...options], { env });
  const exitCode = await code;
  const { findings, ...report } = JSON.parse(out.text()) as { exitCode: number; findings: readonly Finding[] };
  expect(report.exitCode).toBe(exitCode);
  return {
    code: exitCode,
    whole: out.text() + err.text(),
    of: (name) => findings.find(({ id }) => id === name),
    ids: findings.map(({ id }) => id),
  };
};

const token = (claims: object): string =>
  ['{"alg":"RS256"}', JSON.stringify(claims), 's3cret']
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.');
const nowSeconds = (): number => Math.floor(Date.now() / 1_000);

describe('a ledger that is well', () => {
  it('is told as such, with what there is to know', async () => {
    ownClock();
    const sandbox = await sandboxWith();
    const { code, of, ids } = await checked(sandbox.url);

    expect(code).toBe(0);
    expect(ids).toStrictEqual([
      'reachable',
      'version',
      'token',
      'clock',
      'roundTrip',
      'participant',
      'ledgerEnd',
      'pruned',
      'synchronizers',
      'updates',
      'pageLimit',
      'submission',
      'endpoints',
      'webSocket',
    ]);
    expect(of('version')).toMatchObject({ state: 'ok', text: '3.5.19' });
    expect(of('token')).toMatchObject({ state: 'ok', data: { isGiven: false, isNeeded: false } });
    expect(of('clock')).toMatchObject({ state: 'ok' });
    expect(of('roundTrip')?.text).toMatch(/^[\d.]+ ms, the median of 9 from [\d.]+ to [\d.]+ ms$/);
    expect(of('ledgerEnd')?.data).toStrictEqual({ offset: sandbox.ledgerEnd });
    expect(of('pruned')?.data).toStrictEqual({ upToInclusive: 0 });
    expect(new Set(of('synchronizers')?.data?.['ids'] as string[])).toStrictEqual(new Set(sandbox.synchronizers));
    expect(of('pageLimit')).toMatchObject({ state: 'ok', data: { limit: 200 } });
    expect(of('submission')).toMatchObject({ state: 'ok' });
    expect(of('endpoints')?.data).toMatchObject({
      '/v2/updates/update-by-id': true,
      '/v2/updates/update-by-hash': false,
    });
  });

  it('is not changed, and hardly troubled, by it', async () => {
    const sandbox = await sandboxWith();
    const before = sandbox.ledgerEnd;
    await checked(sandbox.url);

    expect(sandbox.ledgerEnd).toBe(before);
    expect(sandbox.requests.length).toBeLessThan(40);
    expect(sandbox.requests.filter(({ method, path }) => method === 'POST' && !path.startsWith('/v2/updates'))).toEqual(
      [],
    );
  });

  it('may be of 3.6, where the old path is switched off', async () => {
    const { code, of } = await checked((await sandboxWith({ profile: '3.6' })).url);

    expect(code).toBe(0);
    expect(of('updates')?.text).toBe('at /v2/updates; /v2/updates/flats is switched off');
    expect(of('pageLimit')?.data).toStrictEqual({ limit: 200 });
  });

  it('may serve nothing but the two operations', async () => {
    const { code, of } = await checked((await sandboxWith({ interfaceOnly: true })).url);

    expect(code).toBe(0);
    expect([of('version')?.state, of('ledgerEnd')?.state, of('token')?.state]).toStrictEqual(['open', 'open', 'open']);
    expect(of('updates')?.data).toStrictEqual({ '/v2/updates/flats': true, '/v2/updates': false });
  });

  it('may be empty', async () => {
    const { code, of } = await checked((await sandboxWith({}, 0)).url);

    expect(code).toBe(0);
    expect(of('pageLimit')?.text).toBe('not found out: the ledger is empty');
  });

  it('may be pruned', async () => {
    const sandbox = await sandboxWith();
    sandbox.prune(sandbox.ledgerEnd - 10);
    const { code, of } = await checked(sandbox.url);

    expect(code).toBe(0);
    expect(of('pruned')?.data).toStrictEqual({ upToInclusive: sandbox.ledgerEnd - 10 });
    expect(of('pageLimit')?.state).toBe('open');
  });

  it('may have another page limit', async () => {
    const { of } = await checked((await sandboxWith({ maxListElements: 50 })).url);

    expect(of('pageLimit')?.text).toBe('50 updates an answer: feeds find that out, and ask for less');
  });

  it('may have a page limit that the last offsets do not show', async () => {
    const { of } = await checked((await sandboxWith({ maxListElements: 5_000 })).url);

    expect(of('pageLimit')?.text).toMatch(
      /^2\d\d updates came in one answer$|^not found out: the last 400 offsets have only/,
    );
  });
});

describe('the token', () => {
  const strict = (good: string): SandboxOptions => ({ checkToken: (given) => given === good });

  it('that is accepted is told with its time, and nothing else of it', async () => {
    const good = token({ sub: 'somebody', exp: nowSeconds() + 299 });
    const sandbox = await sandboxWith(strict(good));
    const { code, of, whole } = await checkedWith(sandbox.url, { CANTON_RX_LEDGER_TOKEN: good });

    expect(code).toBe(0);
    expect(of('token')?.text).toMatch(/^accepted, expires in 4 min(?: \d+ s)?$/);
    expect(of('token')?.data).toMatchObject({ isAccepted: true, isNeeded: true });
    for (const part of good.split('.')) expect(whole).not.toContain(part);
    expect(whole).not.toContain('somebody');
  });

  it('that nobody asks for is told to be of no use', async () => {
    const { of } = await checkedWith((await sandboxWith()).url, { CANTON_RX_LEDGER_TOKEN: token({}) });

    expect(of('token')?.text).toBe(
      'none is needed: the participant lets in whoever asks, it does not say when it expires',
    );
  });

  it('that is refused is a failure with a code of its own', async () => {
    const sandbox = await sandboxWith(strict('another'));
    const { code, of, whole } = await checkedWith(sandbox.url, {
      CANTON_RX_LEDGER_TOKEN: token({ exp: nowSeconds() - 185 }),
    });

    expect(code).toBe(5);
    expect(of('version')?.state).toBe('ok');
    // which needs no token, so that it is told whatever the token is
    expect(sandbox.requests.find(({ path }) => path === '/v2/version')?.authorized).toBe(false);
    expect(of('updates')?.state).toBe('open');
    expect(of('token')).toMatchObject({ state: 'failed', text: 'token refused (401)' });
    expect(of('token')?.next).toMatch(/^it expired 3 min \d+ s ago: get a new one$/);
    expect(whole).not.toContain('czNjcmV0');
  });

  it('that is missing is asked for', async () => {
    const { code, of } = await checked((await sandboxWith(strict('good'))).url);

    expect(code).toBe(5);
    expect(of('token')).toMatchObject({
      text: 'a token is needed (401)',
      next: 'give one with --token-file FILE or CANTON_RX_LEDGER_TOKEN',
    });
  });

  it('is the token alone, without the name of the scheme', async () => {
    const { code, err } = play(['check', '--ledger', 'http://127.0.0.1:1'], {
      env: { CANTON_RX_LEDGER_TOKEN: 'Bearer s3cret' },
    });

    expect(await code).toBe(2);
    expect(err.text()).toContain('CANTON_RX_LEDGER_TOKEN is not a token alone: leave out "Bearer "');
    expect(err.text()).not.toContain('s3cret');
  });

  it('whose file goes away meanwhile is told to be gone', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
    closing.push(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const file = join(folder, 'token');
    writeFileSync(file, 'good');
    const sandbox = await sandboxWith();
    const { code, out } = play(['check', '--ledger', sandbox.url, '--token-file', file]);
    rmSync(file);

    expect(await code).toBe(5);
    expect(out.text()).toContain('there is no token any more');
  });

  it('that may not read as any party leads to --party', async () => {
    const sandbox = await sandboxWith();
    const denied = { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') } as const;
    sandbox.fault(denied, { path: /updates/, times: 2 });
    const { code, of } = await checked(sandbox.url);

    expect(code).toBe(5);
    expect(of('updates')).toMatchObject({ state: 'failed', next: 'say as whom: --party PARTY' });
  });

  it.each([
    [token({ exp: 1_000 }), 'it expired 1 min 40 s ago: get a new one'],
    [token({ nbf: 1_130 }), 'it is good only in 30 s: see to the clocks'],
    [token({ exp: 1_100 + 86_400 }), 'it is good for 1 d: participants from 3.4 on take 5 minutes at most, by default'],
    [
      token({ exp: 1_200 }),
      "see to its audience or scope, its signature and its user; the participant's log says which it is",
    ],
    ['opaque', 'it is no JWT: is this the right file?'],
    ['a.%%%.c', 'it is no JWT: is this the right file?'],
  ])('is explained by its times', (text, advice) => {
    expect(tokenAdvice(text, 1_100_000)).toBe(advice);
  });

  it('may have times that are none', () => {
    expect(claimsOf(token({ exp: 'tomorrow' }))).toBeUndefined();
    expect(claimsOf(token({}))).toStrictEqual({});
  });
});

describe('somebody else who answers', () => {
  const answering = async (status: number, type: string, body: string, headers = {}): Promise<Checked> => {
    const server = await httpServer((_, response) => {
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
    });
    closing.push(() => server.close());
    return checked(server.url);
  };

  it.each([
    [200, 'text/html', '<!doctype html><h1>Log in</h1>', {}, 'an HTML page answers, with status 200'],
    [404, 'text/plain', '<html>', {}, 'an HTML page answers, with status 404'],
    [302, 'text/plain', '', { location: 'https://login.example/s3cret' }, 'it redirects to elsewhere, with status 302'],
    [404, 'text/plain', 'nothing here', {}, 'something answers, and has no ledger there (404)'],
    [200, 'text/plain', 'OK', {}, 'what answers is not JSON'],
    [200, 'application/json', '{"status":"UP"}', {}, 'what answers is not a ledger'],
    [200, 'application/json', 'null', {}, 'what answers is not a ledger'],
  ])('with %d %s %j is told to be no ledger', async (status, type, body, headers, text) => {
    const { code, of, ids, whole } = await answering(status, type, body, headers);

    expect(of('reachable')).toMatchObject({ state: 'failed', text });
    expect(of('reachable')?.next).toMatch(/./);
    expect({ code, ids }).toStrictEqual({ code: 4, ids: ['reachable'] });
    expect(whole).not.toContain('s3cret');
  });

  it('may be a ledger whose path prefix is wrong', async () => {
    const { code, of } = await checked(`${(await sandboxWith()).url}/v2`);

    expect(code).toBe(4);
    expect(of('updates')).toMatchObject({
      state: 'failed',
      text: 'served neither at /v2/updates/flats nor at /v2/updates (404)',
      next: 'is the path prefix of the address right? it ends before /v2',
    });
  });

  it('may be a gateway whose participant is down', async () => {
    const { code, of } = await answering(502, 'text/plain', 'Bad Gateway');

    expect(code).toBe(3);
    expect(of('reachable')?.text).toBe('a gateway answers, and the participant does not (502)');
  });

  it('may speak something else, as the gRPC port does', async () => {
    const server = await listening((socket) => socket.end('\0\0\u0006\u0004\0\0\0\0\0\0\u0005\0\0@\0'));
    const { code, of } = await checked(server);

    expect(code).toBe(4);
    expect(of('reachable')?.text).toBe('what answers speaks no HTTP/1.1');
  });

  it('cannot steer the terminal, nor have the report look different', async () => {
    const server = await httpServer(({ url }, response) => {
      const evil = '\u001b[2J\u009b31m\u202e\nall well';
      const body = url === '/v2/version' ? { version: evil } : { participantId: `${evil}::1`, offset: 3 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    closing.push(() => server.close());
    const { code, out } = play(['check', '--ledger', server.url], {
      out: captured({ isTTY: true }),
      env: { NO_COLOR: '1' },
    });
    await code;

    expect(out.text()).toContain('\\u{1b}[2J\\u{9b}31m\\u{202e}\\u{a}all well');
    expect(out.text()).not.toMatch(/[^\P{C}\n]/u);
    expect(out.text()).not.toMatch(/^all well/m);
  });
});

/** A server of TCP alone. */
const listening = (answer: (socket: Socket) => unknown): Promise<string> =>
  opened(createTcpServer((socket) => answer(socket)));

/** Where a server listens until the test ends. */
const opened = async (server: Server): Promise<string> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket.on('error', () => undefined));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
};

describe('nobody who answers', () => {
  it('is told at once where nothing listens', async () => {
    const sandbox = await startSandbox();
    await sandbox.close();
    const { code, of, ids } = await checked(sandbox.url);

    expect({ code, ids }).toStrictEqual({ code: 3, ids: ['reachable'] });
    expect(of('reachable')?.text).toBe('connection refused: nothing listens there');
  });

  it('is told in time where the answer does not come', async () => {
    ownClock(4);
    const server = await listening(() => undefined);
    const begun = performance.now();
    const { code, of } = await checked(server);

    expect(code).toBe(3);
    expect(of('reachable')?.text).toBe('connected, but there was no answer in time');
    expect(performance.now() - begun).toBeLessThan(10_000);
  });

  it('is told in less than 15 seconds, where all but the first answers hang', async () => {
    ownClock(4);
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' }, { path: /./, after: 3, times: 200 });
    const begun = performance.now();
    const { of, code } = await checked(sandbox.url);

    expect(performance.now() - begun).toBeLessThan(15_000);
    expect(code).toBe(3);
    expect([of('version')?.state, of('ledgerEnd')?.state, of('updates')?.state]).toStrictEqual(['ok', 'ok', 'failed']);
  });

  it.each([
    ['ENOTFOUND', false, 'unreachable', 'the host has no address'],
    ['TIMEOUT', false, 'unreachable', 'no connection in time'],
    ['CERT_HAS_EXPIRED', true, 'unreachable', 'the certificate has expired'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', true, 'unreachable', 'no TLS is spoken there'],
    ['HPE_INVALID_CONSTANT', true, 'foreign', 'what answers speaks no HTTP/1.1'],
    ['ESOMETHING', true, 'unreachable', 'the connection failed (ESOMETHING)'],
  ])('is explained by %s', (code, isConnected, kind, text) => {
    expect(troubleOfError(new AskError(code, isConnected))).toMatchObject({ kind, text });
  });

  it('is not what a flaw of the check is', () => {
    expect(troubleOfError(new TypeError('x is not a function'))).toMatchObject({ kind: 'other' });
  });
});

describe('a ledger that is not well in one thing', () => {
  it('is told of the others all the same', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500, body: 'boom' }, { path: '/v2/version' });
    const { code, of } = await checked(sandbox.url);

    expect(code).toBe(1);
    expect(of('version')).toMatchObject({ state: 'failed', text: 'answered with 500' });
    expect(of('updates')?.state).toBe('ok');
  });

  it.each([
    ['ahead', 40_000],
    ['behind', -40_000],
  ])('may have a clock of its own, %s', async (side, ahead) => {
    const server = await httpServer((_, response) => {
      response.setHeader('date', new Date(Date.now() + ahead).toUTCString());
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":3}');
    });
    closing.push(() => server.close());
    const { of } = await checked(server.url);

    expect(of('clock')).toMatchObject({ state: 'failed' });
    expect(of('clock')?.text).toMatch(/^the service's is \d+\.\d s \w+, to within \d+\.\d s/);
    expect(of('clock')?.text).toContain(` s ${side}, `);
    const { aheadSeconds, withinSeconds } = of('clock')?.data ?? {};
    // both are rounded
    expect(Math.abs(Number(aheadSeconds) - ahead / 1_000)).toBeLessThan(Number(withinSeconds) + 0.2);
  });
});

describe('a ledger that is slow', () => {
  it('is measured by as many answers as there is time for', async () => {
    ownClock();
    const server = await httpServer((_, response) => {
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":3}');
      }, 400);
    });
    closing.push(() => server.close());
    const { of } = await checked(server.url);

    expect(of('roundTrip')).toMatchObject({ state: 'ok' });
    expect(of('roundTrip')?.text).toMatch(/^\d+(\.\d)? ms, the median of [1-4] from/);
    expect(Number(of('roundTrip')?.data?.['medianMs'])).toBeGreaterThan(395);
  });
});

describe('WebSocket', () => {
  it('is told to be possible where the upgrade is agreed to, and nothing is left open', async () => {
    const asked: string[] = [];
    let closed: Promise<unknown> | undefined;
    const server = createHttpServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
    });
    server.on('upgrade', ({ url = '', headers }, socket) => {
      asked.push(url, headers['sec-websocket-protocol'] ?? '', headers.authorization ?? '');
      closed = once(socket.resume(), 'end');
      socket.write('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n');
      socket.write('sec-websocket-protocol: daml.ws.auth\r\n\r\n');
    });
    const { of, whole } = await checkedWith(await opened(server), { CANTON_RX_LEDGER_TOKEN: 's3cret' });

    expect(of('webSocket')).toMatchObject({ state: 'ok', text: 'possible at /v2/updates' });
    expect(asked).toStrictEqual(['/v2/updates', 'daml.ws.auth', 'Bearer s3cret']);
    expect(whole).not.toContain('s3cret');
    expect(closed).toBeDefined();
    await closed;
  });

  it('is told to be refused, which is no failure', async () => {
    const server = createHttpServer(({ headers }, response) => {
      const status = headers.upgrade === undefined ? 200 : 405;
      response.writeHead(status, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
    });
    const { of } = await checked(await opened(server));

    expect(of('webSocket')).toMatchObject({ state: 'open', text: 'refused at /v2/updates (405); feeds do without' });
  });

  it.each(['', 'sec-websocket-protocol: other\r\n'])(
    'is told not to be had without its subprotocol: "%s"',
    async (chosen) => {
      const server = createHttpServer((_, response) => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('{"version":"3.5.1","offset":0}');
      });
      server.on('upgrade', (_request, socket) => {
        socket.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n${chosen}\r\n`);
      });
      const { of } = await checked(await opened(server));

      expect(of('webSocket')).toMatchObject({
        state: 'open',
        text: 'without the subprotocol daml.ws.auth at /v2/updates; feeds do without',
      });
    },
  );

  it.each([
    ['hangs up', (socket: Duplex) => socket.destroy()],
    ['says nothing', () => undefined],
  ])('is told not to be had where something on the way %s, which is no failure either', async (_, upgraded) => {
    const sandbox = await sandboxWith({}, 5);
    const server = createHttpServer((request, response) => {
      const { method, url: path, headers } = request;
      const onward = httpRequest(new URL(path ?? '/', sandbox.url), { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    server.on('upgrade', (_request, socket) => {
      upgraded(socket);
    });
    const { of, code } = await checked(await opened(server));

    expect(of('webSocket')).toMatchObject({ state: 'open', text: 'no answer at /v2/updates; feeds do without' });
    expect(code).toBe(0);
  });
});

describe('the report', () => {
  it('has a mark, a name and a text a line, and the next thing to do below', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault(
      { kind: 'status', status: 403, body: cantonError('PERMISSION_DENIED') },
      { path: /updates/, times: 2 },
    );
    const { code, out } = play(['check', '--ledger', sandbox.url]);

    expect(await code).toBe(5);
    expect(out.text()).toMatch(
      /^canton-rx \d+\.\d+\.\d+, Node\.js [\d.]+, \w+ \w+, [\dT:.-]+Z\nledger: http, port \d+, this machine\n\n/,
    );
    expect(out.text()).toMatch(/^✓ version {8}3\.5\.19$/m);
    expect(out.text()).toMatch(/^✗ updates {8}the token's user .*\n {17}→ say as whom: --party PARTY$/m);
    expect(out.text()).toMatch(/^[✓–] WebSocket {6}/m);
    expect(out.text()).toMatch(/\n1 of 14 not well \(exit code 5\)\n$/);
  });

  it('shows no host', async () => {
    const { code, out } = play(['check', '--ledger', 'http://corp-ledger.invalid/prefix']);

    expect(await code).toBe(3);
    expect(out.text()).toContain('ledger: http, port 80, another host, below a path prefix');
    expect(out.text()).not.toContain('corp');
  });
});

describe('a report that cannot be written', () => {
  const checkedTo = async (code: string): Promise<{ exitCode: number; said: string }> => {
    const sandbox = await sandboxWith({}, 5);
    const broken = Object.assign(new Error('nothing goes there'), { code });
    const out = captured({ take: (_, done) => setImmediate(done, broken) });
    const played = play(['check', '--ledger', sandbox.url], { out });
    return { exitCode: await played.code, said: played.err.text() };
  };

  it('is a failure on a full disk', async () => {
    expect(await checkedTo('ENOSPC')).toStrictEqual({
      exitCode: 1,
      said: 'stdout cannot be written to: nothing goes there\n',
    });
  });

  it('is none where the reader is gone, as behind `| head`', async () => {
    expect(await checkedTo('EPIPE')).toStrictEqual({ exitCode: 0, said: '' });
  });
});

describe('a token without encryption', () => {
  const env = { CANTON_RX_LEDGER_TOKEN: 's3cret' };

  it('is warned of where the ledger is on another host, also when nobody answers', async () => {
    const { of, ids, code, whole } = await checkedWith('http://corp-ledger.invalid', env);

    expect(of('encryption')).toMatchObject({
      state: 'warned',
      text: 'the token goes over plain http to another host: whoever is on the way can read it',
    });
    expect(of('encryption')?.next).toContain('https://');
    expect({ ids, code }).toStrictEqual({ ids: ['reachable', 'encryption'], code: 3 });
    expect(whole).not.toContain('s3cret');
  });

  it('is counted as a warning, which is no failure', () => {
    const finding = { id: 'encryption', label: 'encryption', state: 'warned', text: 'plain', next: 'do' } as const;
    const report = reportOf('http://corp-ledger.invalid', [finding]);

    expect(report.exitCode).toBe(0);
    expect(reportText(report, 80, (_, text) => text)).toMatch(
      /\n! encryption {2}plain\n {14}→ do\n\nall well, with 1 warning\n$/,
    );
  });

  it.each([
    ['http://127.0.0.1:9', env],
    ['http://127.1.2.3:9', env],
    ['http://LOCALHOST:9', env],
    ['http://ledger.localhost:9', env],
    ['http://[::1]:9', env],
    ['https://corp-ledger.invalid', env],
    ['http://corp-ledger.invalid', {}],
  ])('is not warned of at %s with %j', async (url, given) => {
    expect((await checkedWith(url, given)).ids).toStrictEqual(['reachable']);
  });

  it.each(['http://localhost.corp.invalid', 'http://127.0.0.1.corp.invalid', 'http://xlocalhost:9'])(
    'is warned of at %s, whose name only looks as if it were here',
    async (url) => {
      expect((await checkedWith(url, env)).ids).toStrictEqual(['reachable', 'encryption']);
    },
  );
});

describe('durationText', () => {
  it.each([
    [0, '0 s'],
    [59.4, '59 s'],
    [250, '4 min 10 s'],
    [3_600, '1 h'],
    [3_605, '1 h'],
    [93_900, '1 d 2 h'],
  ])('%d', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});
