import { request } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import type { Sandbox, SandboxOptions } from '../../src/sandbox/index.js';
import { endPath, jsonType, offsets, rejectedUpgrade, streamToEnd } from './client.js';
import { sandboxWith } from './client.js';
import { commandsOf, createAsset, submitPath, withParties } from './commands.js';
import { creation, upTo } from './requests.js';

/** Sends a request with exactly these headers. Returns its status and the allowed origin of the response. */
function ask(sandbox: Sandbox, headers: Record<string, string>, method = 'GET', path = endPath, body = '') {
  const { port } = new URL(sandbox.url);
  return new Promise<readonly [number | undefined, string | undefined]>((resolve, reject) => {
    const asking = request({ host: '127.0.0.1', port, path, method, headers, setHost: !('host' in headers) });
    asking.on('error', reject).on('response', (response) => {
      response.resume();
      resolve([response.statusCode, response.headers['access-control-allow-origin']]);
    });
    asking.end(body);
  });
}

describe('the host of a request', () => {
  it.each(['localhost', 'LocalHost:80', '127.0.0.1', '127.0.0.1:1', '[::1]', '[::1]:7575'])(
    'may be %s',
    async (host) => {
      expect(await ask(await sandboxWith(), { host })).toEqual([200, undefined]);
    },
  );

  it.each([
    'attacker.example',
    'localhost.evil.example',
    'localhost.evil.example:7575',
    '127.0.0.1.nip.io',
    'evil.localhost',
    '0.0.0.0',
    '0.0.0.0:7575',
    '[::]',
    '[::1',
    '::1',
    'localhost:',
    'localhost@evil.example',
    'localhost:80@evil.example',
  ])('may not be %j, for requests and for WebSockets', async (host) => {
    const sandbox = await sandboxWith({ cors: true });
    sandbox.fault({ kind: 'status', status: 503 });
    expect(await ask(sandbox, { host })).toEqual([403, undefined]);
    expect((await rejectedUpgrade(sandbox, { headers: { host } })).status).toBe(403);
    expect(sandbox.requests.map(({ status }) => status)).toEqual([403, 403]);
    // a refused request takes no fault
    expect(await ask(sandbox, {})).toEqual([503, undefined]);
  });
});

describe('a web page', () => {
  const expectAccess = async (options: SandboxOptions, origin: string, isAllowed: boolean) => {
    const { sandbox, alice } = await withParties(options);
    const body = JSON.stringify(commandsOf(alice, createAsset(alice)));
    const commanding = await ask(sandbox, { origin, ...jsonType }, 'POST', submitPath, body);
    const reading = await ask(sandbox, { origin });
    const asking = await ask(sandbox, { origin, 'access-control-request-headers': 'x-a' }, 'OPTIONS');
    const statuses = isAllowed ? [200, 200, 204] : [403, 403, 403];
    const shown = isAllowed ? origin : undefined;
    expect([commanding, reading, asking]).toEqual(statuses.map((status) => [status, shown]));
    expect(sandbox.updates).toHaveLength(isAllowed ? 1 : 0);
    sandbox.append(creation());
    const headers = { origin };
    if (!isAllowed) expect((await rejectedUpgrade(sandbox, { headers })).status).toBe(403);
    else expect(offsets(await streamToEnd(sandbox, upTo(2), { headers }))).toEqual([1, 2]);
  };

  it.each(['https://evil.example', 'http://localhost:5173', 'http://127.0.0.1:5173', 'null'])(
    'of %s may do nothing by default',
    (origin) => expectAccess({}, origin, false),
  );

  it.each(['http://localhost:5173', 'https://localhost', 'http://127.0.0.1:4200', 'http://[::1]:3000'])(
    'of %s is one of this machine, which may do all if it is allowed',
    (origin) => expectAccess({ cors: true }, origin, true),
  );

  it.each([
    'https://evil.example',
    'http://localhost.evil.example',
    'http://127.0.0.1.nip.io:5173',
    'http://0.0.0.0:5173',
    'http://localhost:5173@evil.example',
    'http://localhost:5173/',
    'file://',
    'chrome-extension://localhost',
    'null',
    '',
  ])('of %j is not one of this machine', (origin) => expectAccess({ cors: true }, origin, false));

  it('of a given origin may do all, and no other page may', async () => {
    const cors = ['https://app.example', 'http://localhost:5173'];
    for (const origin of cors) await expectAccess({ cors }, origin, true);
    for (const origin of ['http://localhost:5174', 'http://app.example', 'https://app.example:444', 'null'])
      await expectAccess({ cors }, origin, false);
  });

  it('that came through a proxy with its host has the same origin', async () => {
    const sandbox = await sandboxWith();
    const host = 'localhost:5173';
    expect(await ask(sandbox, { host, origin: 'http://localhost:5173' })).toEqual([200, 'http://localhost:5173']);
    expect(await ask(sandbox, { host, origin: 'http://localhost:5174' })).toEqual([403, undefined]);
    const name = 'attacker.example';
    expect(await ask(sandbox, { host: name, origin: `http://${name}` })).toEqual([403, undefined]);
  });

  it.each(['null', '*', 'localhost:5173', 'http://localhost:5173/', 'HTTP://localhost:5173', 'ftp://localhost'])(
    'cannot be allowed as %j',
    async (origin) => {
      await expect(sandboxWith({ cors: [origin] })).rejects.toThrow(TypeError);
    },
  );

  it('may send the headers that it asks for, and its preflight takes no fault', async () => {
    const sandbox = await sandboxWith({ cors: true });
    sandbox.fault({ kind: 'status', status: 503 });
    const headers = { origin: 'http://localhost:5173', 'access-control-request-headers': 'authorization' };
    const preflight = await fetch(sandbox.url + endPath, { method: 'OPTIONS', headers });
    expect([preflight.status, preflight.headers.get('access-control-allow-headers')]).toEqual([204, 'authorization']);
    expect(await ask(sandbox, headers)).toEqual([503, headers.origin]);
  });
});

describe('the content type of commands', () => {
  const page = { origin: 'http://localhost:5173' };
  const submitAs = async (
    type: string | undefined,
    options?: SandboxOptions,
    sender: Record<string, string> = page,
  ) => {
    const { sandbox, alice } = await withParties({ cors: true, ...options });
    const body = JSON.stringify(commandsOf(alice, createAsset(alice)));
    const headers = { ...sender, ...(type !== undefined && { 'content-type': type }) };
    const [status] = await ask(sandbox, headers, 'POST', submitPath, body);
    expect(sandbox.updates).toHaveLength(status === 200 ? 1 : 0);
    return status;
  };

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=UTF-8',
    'application/json;charset=utf-8',
    'application/vnd.api+json',
    'application/problem+json; charset=utf-8',
  ])('of a web page may be %s', async (type) => {
    expect(await submitAs(type)).toBe(200);
  });

  it.each([
    undefined,
    '',
    'text/plain',
    'text/plain;charset=UTF-8',
    'text/plain; application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=json',
    'application/jsonp',
    'application/json, text/plain',
    'text/plain, application/json',
  ])('of a web page may be %j only if the sandbox is as lenient as a participant', async (type) => {
    expect(await submitAs(type)).toBe(415);
    expect(await submitAs(type, { anyContentType: true })).toBe(200);
    // a program
    expect(await submitAs(type, {}, {})).toBe(200);
  });

  it('does not matter without a body', async () => {
    const { sandbox } = await withParties();
    expect((await ask(sandbox, {}, 'POST', submitPath))[0]).toBe(400);
  });
});

describe('a body', () => {
  it('is too large above 8 MiB, and 10 MiB since 3.6', async () => {
    const { sandbox, alice } = await withParties();
    const body = JSON.stringify(commandsOf(alice, createAsset(alice, { tag: 'x'.repeat(9 * 2 ** 20) })));
    const init = { method: 'POST', headers: jsonType, body };
    const refused = await fetch(sandbox.url + submitPath, init);
    expect([refused.status, await refused.text()]).toEqual([
      413,
      `EntityStreamSizeException: incoming entity size (${body.length}) exceeded size limit (8388608 bytes)!`,
    ]);
    expect(sandbox.updates).toHaveLength(0);
    sandbox.configure({ profile: '3.6' });
    expect((await fetch(sandbox.url + submitPath, init)).status).toBe(200);
  });
});
