import { connect } from 'node:net';
import { describe, expect, it } from '@jest/globals';
import { cantonError, type Sandbox } from '../../src/sandbox/index.js';
import { get, sandboxWith } from './support.js';

const end = '/v2/state/ledger-end';

/** Everything that comes back over a bare connection, and how it ended. */
async function raw(sandbox: Sandbox, path: string): Promise<{ readonly text: string; readonly error: unknown }> {
  const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  let text = '';
  let error: unknown;
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
  socket.on('error', (cause: NodeJS.ErrnoException) => (error = cause.code));
  socket.write(`GET ${path} HTTP/1.1\r\nHost: sandbox\r\n\r\n`);
  await new Promise((resolve) => socket.once('close', resolve));
  return { text, error };
}

describe('a fault', () => {
  it('answers a status with a JSON body and headers', async () => {
    const sandbox = await sandboxWith();
    const body = cantonError('PARTICIPANT_BACKPRESSURE');
    sandbox.fault({ kind: 'status', status: 409, body, headers: { 'retry-after': '3' } });
    const response = await fetch(sandbox.url + end);
    expect([response.status, response.headers.get('retry-after')]).toEqual([409, '3']);
    expect(await response.json()).toEqual(body);
    expect((await get(sandbox, end)).status).toBe(200);
  });

  it('answers a status with text, with any content type, and with nothing', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 503, body: 'later' });
    sandbox.fault({ kind: 'status', status: 502, body: '<html>', contentType: 'text/html' });
    sandbox.fault({ kind: 'status', status: 401 });
    expect(await get(sandbox, end)).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8', text: 'later' });
    expect(await get(sandbox, end)).toMatchObject({ status: 502, type: 'text/html', text: '<html>' });
    expect(await get(sandbox, end)).toMatchObject({ status: 401, type: null, text: '' });
  });

  it('is for the paths and as many requests as it says, the first one that fits first', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'status', status: 500 }, { path: '/v2/version' });
    sandbox.fault({ kind: 'status', status: 503 }, { path: /ledger-end$/g, times: 2 });
    sandbox.fault({ kind: 'status', status: 504 });
    const statuses: number[] = [];
    for (let sent = 0; sent < 4; sent++) statuses.push((await get(sandbox, end)).status);
    expect(statuses).toEqual([503, 503, 504, 200]);
    expect((await get(sandbox, '/v2/version')).status).toBe(500);
  });

  it('resets the connection', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'reset' });
    expect(await raw(sandbox, end)).toEqual({ text: '', error: 'ECONNRESET' });
    expect(sandbox.requests[0]).toMatchObject({ path: end, aborted: false });
    expect(sandbox.requests[0]?.status).toBeUndefined();
  });

  it('cuts an answer off after its announced length', async () => {
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

  it('answers late', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'delay', ms: 60 });
    const before = Date.now();
    const reply = get(sandbox, end);
    expect((await reply).text).toBe('{"offset":0}');
    expect(Date.now() - before).toBeGreaterThanOrEqual(55);
  });

  it('that delays beyond the request timeout becomes its 503', async () => {
    const sandbox = await sandboxWith({ requestTimeoutMs: 30 });
    sandbox.fault({ kind: 'delay', ms: 5000 });
    expect(await get(sandbox, end)).toMatchObject({ status: 503, type: 'text/plain; charset=UTF-8' });
  });

  it('answers any bytes as JSON', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'body', body: '{"offset":' });
    const response = await fetch(sandbox.url + end);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.text()).toBe('{"offset":');
  });

  it('never answers, until the client gives up', async () => {
    const sandbox = await sandboxWith();
    sandbox.fault({ kind: 'hang' });
    await expect(fetch(sandbox.url + end, { signal: AbortSignal.timeout(40) })).rejects.toThrow();
    while (sandbox.requests[0]?.aborted !== true) await new Promise((resolve) => setImmediate(resolve));
    expect(sandbox.requests[0].status).toBeUndefined();
  });

  it('that loses an answer lets the work be done', async () => {
    const sandbox = await sandboxWith();
    const eve = sandbox.externalParty('eve');
    const command = { CreateCommand: { templateId: '#a:M:A', createArguments: {} } };
    const request = {
      commandId: 'c',
      commands: [command],
      actAs: [eve.party],
      synchronizerId: '',
      packageIdSelectionPreference: [],
    };
    const init = (body: unknown) => ({ method: 'POST', body: JSON.stringify(body) });
    const prepared: unknown = await (
      await fetch(`${sandbox.url}/v2/interactive-submission/prepare`, init(request))
    ).json();
    if (typeof prepared !== 'object' || prepared === null || !('preparedTransactionHash' in prepared))
      throw new Error('no hash');
    const signature = eve.sign(String(prepared.preparedTransactionHash));
    const partySignatures = { signatures: [{ party: eve.party, signatures: [signature] }] };
    const execution = { ...prepared, partySignatures, submissionId: 's', deduplicationPeriod: { Empty: {} } };
    const path = '/v2/interactive-submission/executeAndWaitForTransaction';
    sandbox.fault({ kind: 'reset', when: 'before' }, { path });
    await expect(fetch(sandbox.url + path, init(execution))).rejects.toThrow();
    expect(sandbox.updates).toHaveLength(0);
    sandbox.fault({ kind: 'reset', when: 'after' }, { path });
    await expect(fetch(sandbox.url + path, init(execution))).rejects.toThrow();
    expect(sandbox.updates).toHaveLength(1);
    expect((await fetch(sandbox.url + path, init(execution))).status).toBe(409);
  });
});
