import { describe, expect, it } from '@jest/globals';
import { cantonError, type Sandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { createCommand, creation, executePath, prepareAndSign, readUpdates } from './requests.js';
import { connectTo, get, offsets, post, sandboxWith } from './client.js';

const end = '/v2/state/ledger-end';

/** Sends a request over a TCP connection, and returns all that is received and how the connection ended. */
async function raw(sandbox: Sandbox, path: string): Promise<{ readonly text: string; readonly error: unknown }> {
  const socket = connectTo(sandbox);
  let text = '';
  let error: unknown;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', (cause: NodeJS.ErrnoException) => (error = cause.code));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text, error };
}

/** The statuses of consecutive requests. */
async function statuses(sandbox: Sandbox, count: number): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await get(sandbox, end)).status);
  return seen;
}

describe('a fault', () => {
  it('responds with a status, a JSON body and headers', async () => {
    const sandbox = await sandboxWith();
    const body = cantonError('PARTICIPANT_BACKPRESSURE');
    sandbox.fault({ kind: 'status', status: 409, body, headers: { 'retry-after': '3' } });
    const response = await fetch(sandbox.url + end);
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '3']);
    expect(await response.json()).toEqual(body);
    expect((await get(sandbox, end)).status).toBe(200);
  });

  it('responds with a status and text, any content type, or no body', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503, body: 'later' });
    sandbox.fault({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    sandbox.fault({ kind: 'status', status: 401 });
    expect(await get(sandbox, end)).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8', text: 'later' });
    expect(await get(sandbox, end)).toMatchObject({ status: 502, type: 'text/html', text: '<html>' });
    expect(await get(sandbox, end)).toMatchObject({ status: 401, type: null, text: '' });
  });

  it('applies to matching paths and to the given number of requests, in the order of the queue', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500 }, { path: '/v2/version' });
    sandbox.fault({ kind: 'status', status: 503 }, { path: /ledger-end$/g, times: 2 });
    sandbox.fault({ kind: 'status', status: 504 });
    expect(await statuses(sandbox, 4)).toEqual([503, 503, 504, 200]);
    expect((await get(sandbox, '/v2/version')).status).toBe(500);
  });

  it('lets the given number of requests pass first', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503 }, { path: end, after: 2, times: 2 });
    expect((await get(sandbox, '/v2/version')).status).toBe(200);
    expect(await statuses(sandbox, 5)).toEqual([200, 200, 503, 503, 200]);
  });

  it('counts requests that another fault applies to, and waits for the next request if another fault is first', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500 }, { after: 1 });
    sandbox.fault({ kind: 'status', status: 502 }, { after: 3 });
    expect(await statuses(sandbox, 5)).toEqual([200, 500, 200, 502, 200]);
    sandbox.fault({ kind: 'status', status: 500 }, { after: 1 });
    sandbox.fault({ kind: 'status', status: 502 }, { after: 1 });
    sandbox.fault({ kind: 'status', status: 504 });
    expect(await statuses(sandbox, 4)).toEqual([504, 500, 502, 200]);
  });

  it('resets the connection', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'reset' });
    expect(await raw(sandbox, end)).toEqual({ text: '', error: 'ECONNRESET' });
    expect(sandbox.requests[0]).toMatchObject({ path: end, aborted: false });
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('cuts a response off before its announced length', async () => {
    const sandbox = await sandboxWith();
    for (const bytes of [0, 4]) {
      sandbox.fault({ kind: 'truncate', bytes });
      const { text } = await raw(sandbox, end);
      expect(text).toMatch(/content-length: 12\r\n/i);
      expect(text.slice(text.indexOf('\r\n\r\n') + 4)).toBe('{"offset":0}'.slice(0, bytes));
    }
    expect(sandbox.requests.map(({ status, aborted }) => [status, aborted])).toEqual([
      [200, false],
      [200, false],
    ]);
  });

  it('cuts a response off with a reset', async () => {
    const sandbox = await sandboxWith();
    for (const [how, error] of [['reset', 'ECONNRESET'] as const, ['close', undefined] as const]) {
      sandbox.fault({ kind: 'truncate', bytes: 4, how });
      const cut = await raw(sandbox, end);
      expect(cut.error).toBe(error);
      expect(cut.text).toMatch(/content-length: 12\r\n[^]*\r\n\r\n{"of$/i);
    }
    expect(sandbox.requests).toMatchObject([{ status: 200, aborted: false }, { status: 200 }]);
  });

  it('stalls a response until the client disconnects', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'stall', bytes: 4 });
    const client = new AbortController();
    const response = await fetch(sandbox.url + end, { signal: client.signal });
    expect(response.headers.get('content-length')).toBe('12');
    const reader = response.body?.getReader();
    const chunk = await reader?.read();
    expect(Buffer.from(chunk?.value ?? []).toString()).toBe('{"of');
    const rest = expect(reader?.read()).rejects.toThrow('abort');
    expect(sandbox.requests[0]).toMatchObject({ status: 200, aborted: false });
    client.abort();
    await rest;
    await until(() => sandbox.requests[0]?.aborted === true);
  });

  it('stalls a response until the sandbox is closed', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'stall', bytes: 0 });
    const response = await fetch(sandbox.url + end);
    const text = expect(response.text()).rejects.toThrow();
    await sandbox.close();
    await text;
    expect(sandbox.requests[0]).toMatchObject({ status: 200, aborted: false });
  });

  it('does not stall a response with fewer bytes', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'stall', bytes: 12 });
    expect((await raw(sandbox, end)).text).toMatch(/{"offset":0}$/);
    expect(sandbox.requests[0]).toMatchObject({ status: 200, aborted: false });
  });

  it('delays a response', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'delay', ms: 60 });
    const before = Date.now();
    const reply = get(sandbox, end);
    expect((await reply).text).toBe('{"offset":0}');
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
  });

  it('that delays beyond the request timeout causes its 503', async () => {
    const sandbox = await sandboxWith({ requestTimeoutMs: 30 });
    sandbox.fault({ kind: 'delay', ms: 5000 });
    expect(await get(sandbox, end)).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8' });
  });

  it('responds with any bytes as JSON', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'body', body: '{"offset":' });
    const response = await fetch(sandbox.url + end);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.text()).toBe('{"offset":');
  });

  it('rewrites a response and does not change the ledger', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(creation(), creation());
    const body = (answer: unknown) => {
      const list = [answer].flat().reverse();
      return [...list, ...list];
    };
    sandbox.fault({ kind: 'rewrite', body });
    expect(offsets(await readUpdates(sandbox))).toEqual([2, 1, 2, 1]);
    expect(offsets(await readUpdates(sandbox))).toEqual([1, 2]);
  });

  it('rewrites a response or an error to any text, and the request is processed', async () => {
    const sandbox = await sandboxWith();
    const execution = await prepareAndSign(sandbox, sandbox.externalParty('eve'), createCommand);
    sandbox.fault({ kind: 'rewrite', body: () => '{"transaction":' });
    const reply = await fetch(sandbox.url + executePath, { method: 'POST', body: JSON.stringify(execution) });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await reply.text()).toBe('{"transaction":');
    expect(sandbox.updates).toHaveLength(1);
    sandbox.fault({ kind: 'rewrite', body: (answer) => ({ ...Object(answer), code: 'OTHER' }) as unknown });
    expect(await post(sandbox, executePath, execution)).toMatchObject({
      status: 409,
      json: { code: 'OTHER', errorCategory: 10 },
    });
  });

  it('rewrites only JSON', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'rewrite', body: () => 'rewritten' });
    expect(await get(sandbox, executePath)).toMatchObject({ status: 405, text: 'Method Not Allowed' });
  });

  it.each([
    ['that throws', () => JSON.parse('secret') as unknown],
    ['that returns nothing', () => undefined],
    ['that returns no JSON', () => 1n],
  ])('whose rewrite %s is a 500 without the reason', async (_, body) => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'rewrite', body });
    const reply = await get(sandbox, end);
    expect(reply).toMatchObject({ status: 500, type: 'text/plain; charset=UTF-8' });
    expect(reply.text).toBe('The sandbox could not rewrite its response.');
  });

  it('sends no response until the client disconnects', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' });
    const client = new AbortController();
    const rejected = expect(fetch(sandbox.url + end, { signal: client.signal })).rejects.toThrow('abort');
    await until(() => sandbox.requests.length > 0);
    // the next request overtakes it
    expect((await get(sandbox, end)).status).toBe(200);
    expect(sandbox.requests[0]).toMatchObject({ aborted: false });
    client.abort();
    await rejected;
    await until(() => sandbox.requests[0]?.aborted === true);
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('that loses the response does not stop the processing', async () => {
    const sandbox = await sandboxWith();
    const execution = await prepareAndSign(sandbox, sandbox.externalParty('eve'), createCommand);
    const path = executePath;
    sandbox.fault({ kind: 'reset', when: 'before' }, { path });
    await expect(post(sandbox, path, execution)).rejects.toThrow();
    expect(sandbox.updates).toHaveLength(0);
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    await expect(post(sandbox, path, execution)).rejects.toThrow();
    expect(sandbox.updates).toHaveLength(1);
    expect((await post(sandbox, path, execution)).status).toBe(409);
  });
});
