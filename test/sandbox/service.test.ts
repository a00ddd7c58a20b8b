import { describe, expect, it } from '@jest/globals';
import { cantonError, type SandboxProfile, startSandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import { executePath, tail } from './requests.js';
import { connectTo, get, post, sandboxWith, send } from './client.js';

const end = '/v2/state/ledger-end';
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('the log of requests', () => {
  it('has requests and responses, including those with faults, without tokens', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503 });
    const before = Date.now();
    await send(sandbox, `${end}?a=1`, bearer('secret'));
    await post(sandbox, '/v2/updates', { beginExclusive: 'x' });
    await post(sandbox, '/v2/updates', 'no JSON');
    expect(sandbox.requests).toMatchObject([
      { method: 'GET', path: end, query: { a: '1' }, body: undefined, authorized: true, status: 503, aborted: false },
      { method: 'POST', path: '/v2/updates', query: {}, body: { beginExclusive: 'x' }, authorized: false, status: 400 },
      { body: 'no JSON', status: 400 },
    ]);
    expect(sandbox.requests[0]?.at).toBeGreaterThanOrEqual(before);
    expect(JSON.stringify(sandbox.requests)).not.toContain('secret');
  });

  it('has a request whose client disconnects in the middle of its body', async () => {
    const sandbox = await sandboxWith();
    const socket = connectTo(sandbox);
    socket.write('POST /v2/updates HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"begin');
    await until(() => sandbox.requests.length > 0);
    socket.destroy();
    await until(() => sandbox.requests[0]?.aborted === true);
    expect((await get(sandbox, end)).status).toBe(200);
  });
});

describe('paths', () => {
  it('are a 404 if unknown, and a 405 with another method', async () => {
    const sandbox = await sandboxWith();
    expect(await post(sandbox, '/v2/nothing', {})).toMatchObject({
      status: 404,
      json: { errors: [`HttpMethod(POST), uri: ${sandbox.url}/v2/nothing`], status: 404, ledgerApiError: null },
    });
    expect(await get(sandbox, executePath)).toMatchObject({ status: 405, text: 'Method Not Allowed' });
  });

  it('are two with interfaceOnly', async () => {
    const sandbox = await sandboxWith({ interfaceOnly: true });
    expect((await get(sandbox, end)).status).toBe(404);
    const others = ['/v2/updates', '/v2/interactive-submission/prepare', '/v2/updates/update-by-offset'];
    for (const path of [...others, '/v2/updates/update-by-id'])
      expect((await post(sandbox, path, {})).status).toBe(404);
    expect((await post(sandbox, '/v2/updates/flats?limit=0', tail)).status).toBe(200);
    expect((await post(sandbox, '/v2/interactive-submission/executeAndWaitForTransaction', {})).status).toBe(400);
  });
});

describe('the header Request-Timeout', () => {
  const slow = async (profile: SandboxProfile, value: string) => {
    const sandbox = await sandboxWith({ profile, requestTimeoutMs: 1_200 });
    sandbox.fault({ kind: 'delay', ms: 4_000 }, { path: end });
    return send(sandbox, end, { headers: { 'request-timeout': value } });
  };

  it('limits the time of a request to the given milliseconds, and a 408 has no body', async () => {
    expect(await slow('3.6', '1000')).toEqual({ status: 408, type: null, text: '', json: undefined });
  });

  it('may extend the time of a request', async () => {
    const sandbox = await sandboxWith({ profile: '3.6', requestTimeoutMs: 50 });
    sandbox.fault({ kind: 'delay', ms: 200 }, { path: end });
    expect(await send(sandbox, end, { headers: { 'request-timeout': '1000' } })).toMatchObject({ status: 200 });
  });

  it.each([
    ['999', "Request-Timeout '999' ms is below the minimum of 1000 ms."],
    ['60001', "Request-Timeout '60001' ms is above the maximum of 60000 ms."],
    ['1.5', "Invalid Request-Timeout header value '1.5': expected a positive integer number of milliseconds."],
    ['soon', "Invalid Request-Timeout header value 'soon': expected a positive integer number of milliseconds."],
    ['-1', "Invalid Request-Timeout header value '-1': expected a positive integer number of milliseconds."],
  ])('is refused outside its window: %s', async (value, text) => {
    const sandbox = await sandboxWith({ profile: '3.6' });
    const reply = await send(sandbox, end, { headers: { 'request-timeout': value } });
    expect(reply).toMatchObject({ status: 400, type: 'text/plain; charset=UTF-8', text });
  });

  it.each<SandboxProfile>(['3.4', '3.5'])('is ignored by %s', async (profile) => {
    expect(await slow(profile, '1000')).toMatchObject({ status: 503 });
    expect((await send(await sandboxWith({ profile }), end, { headers: { 'request-timeout': 'x' } })).status).toBe(200);
  });
});

describe('tokens', () => {
  it('are checked if configured, and the error is redacted', async () => {
    const sandbox = await sandboxWith({ checkToken: (token) => token === 'good' });
    expect((await send(sandbox, end, bearer('good'))).status).toBe(200);
    for (const reply of [await get(sandbox, end), await send(sandbox, end, bearer('bad'))]) {
      expect(reply).toMatchObject({
        status: 401,
        json: {
          code: 'NA',
          cause: 'A security-sensitive error has been received',
          errorCategory: -1,
          grpcCodeValue: 16,
          context: {},
          retryInfo: null,
        },
      });
    }
    expect((await get(sandbox, '/v2/version')).status).toBe(200);
    sandbox.configure({ checkToken: () => true });
    expect((await send(sandbox, end, bearer('bad'))).status).toBe(200);
  });

  it('must not be empty', async () => {
    const sandbox = await sandboxWith();
    expect(await send(sandbox, end, { headers: { authorization: 'Bearer ' } })).toMatchObject({
      status: 400,
      type: 'text/plain; charset=UTF-8',
    });
    expect(sandbox.requests[0]?.authorized).toBe(false);
  });
});

describe('pages of other origins', () => {
  const preflight = {
    method: 'OPTIONS',
    headers: { origin: 'http://page', 'access-control-request-headers': 'authorization' },
  };

  it('may send requests with cors, and preflights take no fault', async () => {
    const sandbox = await sandboxWith({ cors: true });
    sandbox.fault({ kind: 'status', status: 503 });
    const response = await fetch(sandbox.url + end, preflight);
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization');
    const answered = await fetch(sandbox.url + end, { headers: { origin: 'http://page' } });
    expect(answered.status).toBe(503);
    expect(answered.headers.get('access-control-allow-origin')).toBe('http://page');
  });

  it('may not send requests by default', async () => {
    const sandbox = await sandboxWith();
    const response = await fetch(sandbox.url + end, preflight);
    expect(response.status).toBe(405);
    expect(response.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('closing', () => {
  it('ends open requests, which do not count as aborted by the client, and may be repeated', async () => {
    const sandbox = await startSandbox();
    const failed = expect(post(sandbox, '/v2/updates?stream_idle_timeout_ms=60000', tail)).rejects.toThrow();
    await until(() => sandbox.requests[0]?.body !== undefined);
    await Promise.all([sandbox.close(), sandbox.close()]);
    await sandbox.close();
    await failed;
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('frees the port', async () => {
    const first = await startSandbox();
    const port = Number(new URL(first.url).port);
    await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE');
    await first.close();
    await (await startSandbox({ port })).close();
  });
});

describe('an error body', () => {
  it('has all ten keys, and the category of its code', () => {
    expect(cantonError('SUBMISSION_ALREADY_IN_FLIGHT', { cause: 'wait', context: { extra: '1' } })).toEqual({
      code: 'SUBMISSION_ALREADY_IN_FLIGHT',
      cause: 'wait',
      correlationId: null,
      traceId: null,
      context: { participant: 'sandbox', category: '2', definite_answer: 'false', extra: '1' },
      resources: [],
      errorCategory: 2,
      grpcCodeValue: 10,
      retryInfo: '1 second',
      definiteAnswer: null,
    });
  });

  it('is redacted for the categories that participants redact', () => {
    expect(cantonError('PERMISSION_DENIED')).toMatchObject({
      code: 'NA',
      errorCategory: -1,
      grpcCodeValue: 7,
      context: {},
    });
    expect(cantonError('NA', { grpcCodeValue: 16 })).toMatchObject({ code: 'NA', grpcCodeValue: 16 });
  });
});
