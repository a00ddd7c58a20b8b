import { describe, expect, it } from '@jest/globals';
import { cantonError, type Sandbox, type SandboxProfile, startSandbox } from '../../src/sandbox/index.js';
import { until } from '../helpers/time.js';
import {
  aborted,
  connectTo,
  endPath,
  failure,
  get,
  offsets,
  plain,
  post,
  requestReceived,
  sandboxWith,
  send,
  jsonType,
} from './client.js';
import {
  contractsPath,
  creation,
  execute,
  executePath,
  flatsPath,
  pagePath,
  prepareAndSign,
  preparePath,
  readUpdates,
  tail,
  updatesPath,
} from './requests.js';

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

describe('the log of requests', () => {
  it('has requests and responses, including those with faults, without tokens', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503 });
    const before = Date.now();
    await send(sandbox, `${endPath}?a=1`, bearer('secret'));
    await post(sandbox, updatesPath, { beginExclusive: 'x' });
    await post(sandbox, updatesPath, 'no JSON');
    const first = { method: 'GET', path: endPath, query: { a: '1' }, body: undefined, authorized: true };
    const second = { method: 'POST', path: updatesPath, query: {}, body: { beginExclusive: 'x' }, authorized: false };
    expect(sandbox.requests).toMatchObject([
      { ...first, status: 503, aborted: false },
      { ...second, status: 400 },
      { body: 'no JSON', status: 400 },
    ]);
    expect(sandbox.requests[0]?.at).toBeGreaterThanOrEqual(before);
    expect(JSON.stringify(sandbox.requests)).not.toContain('secret');
  });

  it('has a request whose client disconnects in the middle of its body', async () => {
    const sandbox = await sandboxWith();
    const socket = connectTo(sandbox);
    socket.write('POST /v2/updates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"begin');
    await until(() => sandbox.requests.length > 0);
    socket.destroy();
    await aborted(sandbox);
    expect((await get(sandbox)).status).toBe(200);
  });
});

describe('paths', () => {
  it('are a 404 if unknown, and a 405 with another method', async () => {
    const sandbox = await sandboxWith();
    const errors = [`HttpMethod(POST), uri: ${sandbox.url}/v2/nothing`];
    const notFound = { status: 404, json: { errors, status: 404, ledgerApiError: null } };
    expect(await post(sandbox, '/v2/nothing', {})).toMatchObject(notFound);
    expect(await get(sandbox, executePath)).toMatchObject({ status: 405, text: 'Method Not Allowed' });
  });

  it('are two with interfaceOnly', async () => {
    const sandbox = await sandboxWith({ interfaceOnly: true });
    expect((await get(sandbox)).status).toBe(404);
    const lookUps = ['/v2/updates/update-by-offset', '/v2/updates/update-by-id'];
    for (const path of [updatesPath, preparePath, contractsPath, pagePath, ...lookUps])
      expect((await post(sandbox, path, {})).status).toBe(404);
    expect((await post(sandbox, `${flatsPath}?limit=0`, tail)).status).toBe(200);
    expect((await post(sandbox, executePath, {})).status).toBe(400);
  });
});

describe('the header Request-Timeout', () => {
  const slow = async (profile: SandboxProfile, requestTimeoutMs: number, ms: number) => {
    const sandbox = await sandboxWith({ profile, requestTimeoutMs });
    sandbox.fault({ kind: 'delay', ms }, { path: endPath });
    return send(sandbox, endPath, { headers: { 'request-timeout': '1000' } });
  };

  it('limits the time of a request to the given milliseconds, or extends it; a 408 has no body', async () => {
    const [limited, extended] = [slow('3.6', 20_000, 4_000), slow('3.6', 50, 200)];
    expect(await limited).toEqual({ status: 408, type: null, text: '', json: undefined });
    expect((await extended).status).toBe(200);
  });

  const invalid = (value: string) =>
    `Invalid Request-Timeout header value '${value}': expected a positive integer number of milliseconds.`;

  it.each([
    ['999', "Request-Timeout '999' ms is below the minimum of 1000 ms."],
    ['60001', "Request-Timeout '60001' ms is above the maximum of 60000 ms."],
    ['1.5', invalid('1.5')],
    ['soon', invalid('soon')],
    ['-1', invalid('-1')],
  ])('is refused outside its window: %s', async (value, text) => {
    const reply = await send(await sandboxWith({ profile: '3.6' }), endPath, { headers: { 'request-timeout': value } });
    expect(reply).toMatchObject(plain(400, text));
  });

  it.each<SandboxProfile>(['3.4', '3.5'])('is ignored by %s', async (profile) => {
    expect((await slow(profile, 50, 1_000)).status).toBe(503);
    expect((await send(await sandboxWith({ profile }), endPath, { headers: { 'request-timeout': 'x' } })).status).toBe(
      200,
    );
  });
});

describe('tokens', () => {
  it('are checked if configured, and the error is redacted', async () => {
    const sandbox = await sandboxWith({ checkToken: (token) => token === 'good' });
    expect((await send(sandbox, endPath, bearer('good'))).status).toBe(200);
    const cause = 'A security-sensitive error has been received';
    const redacted = { cause, errorCategory: -1, grpcCodeValue: 16, context: {}, retryInfo: null };
    for (const reply of [await get(sandbox), await send(sandbox, endPath, bearer('bad'))])
      expect(reply).toMatchObject(failure(401, 'NA', redacted));
    expect((await get(sandbox, '/v2/version')).status).toBe(200);
    sandbox.configure({ checkToken: () => true });
    expect((await send(sandbox, endPath, bearer('bad'))).status).toBe(200);
    // an empty token is not even read
    expect(await send(sandbox, endPath, bearer(''))).toMatchObject(plain(400));
    expect(sandbox.requests.at(-1)?.authorized).toBe(false);
  });
});

describe('closing', () => {
  it('ends open requests, which do not count as aborted by the client, and may be repeated', async () => {
    const sandbox = await startSandbox();
    const failed = expect(post(sandbox, `${updatesPath}?stream_idle_timeout_ms=60000`, tail)).rejects.toThrow();
    await requestReceived(sandbox);
    await Promise.all([sandbox.close(), sandbox.close()]);
    await sandbox[Symbol.asyncDispose]();
    await failed;
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('frees the port', async () => {
    const first = await startSandbox();
    const port = Number(new URL(first.url).port);
    await expect(startSandbox({ port })).rejects.toThrow('EADDRINUSE');
    await first[Symbol.asyncDispose]();
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
    const redacted = { code: 'NA', errorCategory: -1, grpcCodeValue: 7, context: {} };
    expect(cantonError('PERMISSION_DENIED')).toMatchObject(redacted);
    expect(cantonError('NA', { grpcCodeValue: 16 })).toMatchObject({ code: 'NA', grpcCodeValue: 16 });
  });
});

/** Sends a request over a TCP connection, and returns all that is received and how the connection ended. */
async function raw(sandbox: Sandbox): Promise<{ readonly text: string; readonly error: unknown }> {
  const socket = connectTo(sandbox);
  let text = '';
  let error: unknown;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', (cause: NodeJS.ErrnoException) => (error = cause.code));
  socket.write(`GET ${endPath} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text, error };
}

/** The statuses of consecutive requests. */
async function statuses(sandbox: Sandbox, count: number): Promise<readonly number[]> {
  const seen: number[] = [];
  for (let sent = 0; sent < count; sent++) seen.push((await get(sandbox)).status);
  return seen;
}

describe('a fault', () => {
  it.each([
    [1, 14, '1 second', 'NODE_IS_PASSIVE_REPLICA SYNC_SERVICE_PASSIVE_REPLICA INDEX_DB_SQL_TRANSIENT_ERROR'],
    [2, 10, '1 second', 'INTERPRETATION_TIME_EXCEEDED FAILED_TO_DETERMINE_LEDGER_TIME SUBMISSION_DURING_SHUTDOWN'],
    [2, 10, '1 second', 'CHOSEN_MEDIATOR_IS_INACTIVE NO_VIEW_WITH_VALID_RECIPIENTS SEQUENCER_OVERLOADED'],
    [8, 3, null, 'DAML_INTERPRETER_INVALID_ARGUMENT DISCLOSED_CONTRACT_AUTHENTICATION_FAILED MALFORMED_TEXT'],
    [10, 6, null, 'DUPLICATE_CONTRACT_KEY SEQUENCER_AGGREGATE_SUBMISSION_ALREADY_SENT'],
    [11, 5, null, 'PACKAGE_NOT_FOUND SYNCHRONIZER_NOT_FOUND SUBMISSION_SYNCHRONIZER_NOT_READY USER_NOT_FOUND'],
    [9, 9, null, 'A_CODE_OF_A_LATER_RELEASE'],
  ])('reports codes of category %i as a participant does', (errorCategory, grpcCodeValue, retryInfo, codes) => {
    for (const code of codes.split(' '))
      expect(cantonError(code)).toMatchObject({ code, errorCategory, grpcCodeValue, retryInfo });
  });

  it('redacts the errors of contracts that were tampered with', () => {
    expect(cantonError('CONTRACT_AUTHENTICATION_FAILED')).toMatchObject({
      code: 'NA',
      errorCategory: -1,
      grpcCodeValue: 3,
    });
  });

  it('responds with a status, and JSON with headers, text, any content type, or no body', async () => {
    const sandbox = await sandboxWith();
    const body = cantonError('PARTICIPANT_BACKPRESSURE');
    sandbox.fault({ kind: 'status', status: 409, body, headers: { 'retry-after': '3' } });
    sandbox.fault({ kind: 'status', status: 503, body: 'later' });
    sandbox.fault({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    sandbox.fault({ kind: 'status', status: 401 });
    sandbox.fault({ kind: 'body', body: '{"offset":' });
    const response = await fetch(sandbox.url + endPath);
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '3']);
    expect(await response.json()).toEqual(body);
    expect(await get(sandbox)).toMatchObject(plain(503, 'later'));
    expect(await get(sandbox)).toMatchObject({ status: 502, type: 'text/html', text: '<html>' });
    expect(await get(sandbox)).toMatchObject({ status: 401, type: null, text: '' });
    const torn = await fetch(sandbox.url + endPath);
    expect([torn.status, torn.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await torn.text()).toBe('{"offset":');
    expect((await get(sandbox)).status).toBe(200);
  });

  it('applies to matching paths and to the given number of requests, in the order of the queue', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500 }, { path: '/v2/version' });
    sandbox.fault({ kind: 'status', status: 503 }, { path: /ledger-end$/g, times: 2 });
    sandbox.fault({ kind: 'status', status: 504 });
    expect(await statuses(sandbox, 4)).toEqual([503, 503, 504, 200]);
    expect((await get(sandbox, '/v2/version')).status).toBe(500);
    sandbox.fault({ kind: 'status', status: 503 }, { path: endPath, after: 2, times: 2 });
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
    expect(await raw(sandbox)).toEqual({ text: '', error: 'ECONNRESET' });
    expect(sandbox.requests[0]).toMatchObject({ path: endPath, aborted: false });
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it.each([
    [{ bytes: 0 }, undefined],
    [{ bytes: 4 }, undefined],
    [{ bytes: 4, how: 'close' }, undefined],
    [{ bytes: 4, how: 'reset' }, 'ECONNRESET'],
  ] as const)('cuts a response off before its announced length: %j', async (how, error) => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'truncate', ...how });
    const cut = await raw(sandbox);
    expect(cut.error).toBe(error);
    expect(cut.text).toMatch(/content-length: 12\r\n/i);
    expect(cut.text.slice(cut.text.indexOf('\r\n\r\n') + 4)).toBe('{"offset":0}'.slice(0, how.bytes));
    expect(sandbox.requests).toMatchObject([{ status: 200, aborted: false }]);
  });

  it.each(['the client disconnects', 'the sandbox is closed'])('stalls a response until %s', async (end) => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'stall', bytes: 4 });
    const client = new AbortController();
    const response = await fetch(sandbox.url + endPath, { signal: client.signal });
    expect(response.headers.get('content-length')).toBe('12');
    const reader = response.body?.getReader();
    const chunk = await reader?.read();
    expect(Buffer.from(chunk?.value ?? []).toString()).toBe('{"of');
    const rest = expect(reader?.read()).rejects.toThrow();
    expect(sandbox.requests[0]).toMatchObject({ status: 200, aborted: false });
    const isClosed = end === 'the sandbox is closed';
    if (isClosed) await sandbox.close();
    else client.abort();
    await rest;
    await until(() => sandbox.requests[0]?.aborted === !isClosed);
  });

  it('does not stall a response with fewer bytes', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'stall', bytes: 12 });
    expect((await raw(sandbox)).text).toMatch(/{"offset":0}$/);
    expect(sandbox.requests[0]).toMatchObject({ status: 200, aborted: false });
  });

  it('delays a response, at most until the request timeout', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'delay', ms: 60 });
    const before = Date.now();
    expect((await get(sandbox)).text).toBe('{"offset":0}');
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
    sandbox.configure({ requestTimeoutMs: 30 });
    sandbox.fault({ kind: 'delay', ms: 5000 });
    expect(await get(sandbox)).toMatchObject(plain(503));
  });

  it('rewrites a response or an error to any JSON or text, and the request is processed', async () => {
    const sandbox = await sandboxWith();
    const execution = await prepareAndSign(sandbox, sandbox.externalParty('eve'));
    sandbox.fault({ kind: 'rewrite', body: () => '{"transaction":' });
    const reply = await fetch(sandbox.url + executePath, {
      method: 'POST',
      headers: jsonType,
      body: JSON.stringify(execution),
    });
    expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await reply.text()).toBe('{"transaction":');
    expect(sandbox.updates).toHaveLength(1);
    sandbox.fault({ kind: 'rewrite', body: (answer) => ({ ...Object(answer), code: 'OTHER' }) as unknown });
    expect(await execute(sandbox, execution)).toMatchObject(failure(409, 'OTHER', { errorCategory: 10 }));
    sandbox.append(creation());
    sandbox.fault({ kind: 'rewrite', body: (answer) => [answer, answer].flat().reverse() });
    expect(offsets(await readUpdates(sandbox))).toEqual([3, 1, 3, 1]);
    expect(offsets(await readUpdates(sandbox))).toEqual([1, 3]);
    // only JSON
    sandbox.fault({ kind: 'rewrite', body: () => 'rewritten' });
    expect(await get(sandbox, executePath)).toMatchObject({ status: 405, text: 'Method Not Allowed' });
  });

  it.each([
    ['throws', () => JSON.parse('secret') as unknown],
    ['returns nothing', () => undefined],
    ['returns no JSON', () => 1n],
  ])('whose rewrite %s is a 500 without the reason', async (_, body) => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'rewrite', body });
    const text = 'The sandbox could not rewrite its response.';
    expect(await get(sandbox)).toMatchObject({ status: 500, type: 'text/plain; charset=UTF-8', text });
  });

  it('sends no response until the client disconnects', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' });
    const client = new AbortController();
    const rejected = expect(fetch(sandbox.url + endPath, { signal: client.signal })).rejects.toThrow('abort');
    await until(() => sandbox.requests.length > 0);
    // the next request overtakes it
    expect((await get(sandbox)).status).toBe(200);
    expect(sandbox.requests[0]).toMatchObject({ aborted: false });
    client.abort();
    await rejected;
    await aborted(sandbox);
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });
});
