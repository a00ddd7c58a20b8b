import { describe, expect, it } from '@jest/globals';
import { stopClock, until } from '../helpers/time.js';
import { offsets, stream } from './webSockets.js';
import { offsetOf, post, sandboxWith } from './client.js';
import { creation, sandboxWithThree, tail, upTo } from './requests.js';

describe('a stream of updates', () => {
  it('has no limit, unlike lists', async () => {
    const sandbox = await sandboxWith({ maxListElements: 2 });
    sandbox.append(...Array.from({ length: 300 }, () => creation()));
    const client = await stream(sandbox, upTo(300));
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(300);
  });

  it('without an end has appended updates at once', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.received(3);
    sandbox.append(creation(), creation());
    await client.received(5);
    sandbox.append(creation());
    await client.received(6);
    expect(offsets(client)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('follows the first message and ignores further ones', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    client.socket.send(JSON.stringify({ ...tail, beginExclusive: 99 }));
    client.socket.send('nonsense');
    await client.received(3);
    sandbox.append(creation());
    await client.received(4);
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.body).toEqual(tail);
  });

  it('waits for its client, and buffers nothing beyond the connection', async () => {
    let received = 0;
    let checked = 0;
    let lead = 0;
    const checkToken = () => {
      checked += 1;
      lead = Math.max(lead, checked - received);
      return true;
    };
    const sandbox = await sandboxWith({ checkToken });
    // much more than the kernel's buffers of a connection hold
    const createArgument = { note: 'x'.repeat(1_000_000) };
    sandbox.append(...Array.from({ length: 80 }, () => creation({ createArgument })));
    const client = await stream(sandbox, undefined);
    client.socket.on('message', () => (received += 1));
    client.socket.send(JSON.stringify(upTo(80)));
    expect(await client.closed).toBe(1000);
    expect(offsets(client)).toEqual(Array.from({ length: 80 }, (_, index) => index + 1));
    expect(checked).toBeGreaterThanOrEqual(80);
    expect(lead).toBeLessThan(40);
  });

  it.each([
    ['with an end', upTo(3)],
    ['without an end', tail],
  ])('%s is cut off when the ledger is restored', async (_, request) => {
    const sandbox = await sandboxWithThree();
    const body = (element: unknown) => {
      if (offsetOf(element) === 2) {
        sandbox.restore(1);
        sandbox.append(creation());
      }
      return element;
    };
    sandbox.fault({ kind: 'rewrite', body }, { path: '/v2/updates' });
    const client = await stream(sandbox, request);
    if (request === tail) await client.received(2);
    sandbox.append(creation(), creation());
    expect(await client.closed).toBe(1011);
    expect(offsets(client)).toEqual([1, 2]);
  });

  it('ends with an error when updates that it has not sent are pruned', async () => {
    const sandbox = await sandboxWith();
    const body = (element: unknown) => {
      if (offsetOf(element) === 2) sandbox.prune(4);
      return element;
    };
    sandbox.append(creation(), creation(), creation(), creation());
    sandbox.fault({ kind: 'rewrite', body });
    const client = await stream(sandbox, upTo(4));
    expect(await client.closed).toBe(1000);
    expect(client.messages.slice(0, 2).map(offsetOf)).toEqual([1, 2]);
    expect(client.messages.slice(2)).toMatchObject([
      {
        code: 'PARTICIPANT_PRUNED_DATA_ACCESSED',
        cause: 'Updates request from 3 to 4 precedes pruned offset 4',
        context: { earliest_offset: '4' },
      },
    ]);
  });

  it('without an end is released when the client disconnects', async () => {
    const clock = stopClock();
    let checked = 0;
    const sandbox = await sandboxWith({ checkToken: () => (checked += 1) > 0, idleCheckpointMs: 10 });
    const client = await stream(sandbox, tail);
    await clock.hasTimer();
    await clock.advance(10);
    await client.received(1);
    client.socket.terminate();
    await until(() => sandbox.requests[0]?.aborted === true);
    const before = checked;
    sandbox.append(creation());
    await clock.advance(30);
    expect(checked).toBe(before);
  });
});

describe('the error of a stream', () => {
  it.each([
    ['a begin after the ledger end', { beginExclusive: 9 }, 'OFFSET_AFTER_LEDGER_END'],
    ['an end after the ledger end', { endInclusive: 9 }, 'OFFSET_AFTER_LEDGER_END'],
    ['a negative begin', { beginExclusive: -1 }, 'NEGATIVE_OFFSET'],
    ['no end that could be first', { descendingOrder: true }, 'DESCENDING_ORDER_MISSING_END'],
    ['no format', { updateFormat: null }, 'INVALID_ARGUMENT'],
  ])('for %s is the body of the HTTP error as the only message, and then the close', async (_, wrong, code) => {
    const sandbox = await sandboxWithThree();
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const body = { ...tail, ...wrong };
    const client = await stream(sandbox, body, { headers });
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([{ code, traceId: 'ab'.repeat(16) }]);
    expect(client.messages).toEqual([(await post(sandbox, '/v2/updates', body, { headers })).json]);
  });

  it.each([
    ['no JSON', 'nonsense'],
    ['of another type', { ...tail, beginExclusive: 'first' }],
    ['bytes', new TextEncoder().encode(JSON.stringify(tail))],
  ])('for a request that is %s is an internal error', async (_, body) => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, undefined);
    client.socket.send(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body));
    expect(await client.closed).toBe(1000);
    expect(client.messages).toEqual([
      {
        code: 'LEDGER_API_INTERNAL_ERROR',
        cause: expect.stringMatching(/^Invalid value for: body \(/),
        correlationId: null,
        traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        context: {},
        resources: [],
        errorCategory: 4,
        grpcCodeValue: 13,
        retryInfo: null,
        definiteAnswer: false,
      },
    ]);
  });

  it('does not have the trace of the client in 3.4', async () => {
    const sandbox = await sandboxWith({ profile: '3.4' });
    const headers = { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` };
    const client = await stream(sandbox, { ...tail, beginExclusive: 9 }, { headers });
    await client.closed;
    expect(client.messages).toMatchObject([{ traceId: expect.not.stringContaining('abab') }]);
  });

  it('reports in 3.6 that the older path is disabled, for any request, unless it is enabled', async () => {
    const sandbox = await sandboxWith({ profile: '3.6' });
    sandbox.append(creation());
    const path = '/v2/updates/flats';
    const client = await stream(sandbox, 'nonsense', { path });
    expect(await client.closed).toBe(1000);
    expect(client.messages).toMatchObject([{ code: 'DEPRECATED_API_DISABLED', errorCategory: 9, grpcCodeValue: 9 }]);
    sandbox.configure({ deprecatedApis: true });
    const enabled = await stream(sandbox, upTo(1), { path });
    expect(await enabled.closed).toBe(1000);
    expect(offsets(enabled)).toEqual([1]);
  });
});
