import { once } from 'node:events';
import { describe, expect, it } from '@jest/globals';
import { connectionOf, offsets, stream } from './webSockets.js';
import { sandboxWith } from './client.js';
import { creation, sandboxWithThree, tail, upTo } from './requests.js';
import { until } from '../helpers/time.js';

describe('a restart, and a close', () => {
  it.each(['restart', 'close'] as const)('ends WebSockets at once and without a close frame: %s', async (end) => {
    const sandbox = await sandboxWith();
    const [active, silent] = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    await until(() => sandbox.requests.some(({ body }) => body !== undefined));
    const closed = Promise.all([active.closed, silent.closed]);
    const begun = Date.now();
    await sandbox[end]();
    expect(await closed).toEqual([1006, 1006]);
    expect(Date.now() - begun).toBeLessThan(10_000);
    expect(sandbox.requests.map(({ status, aborted }) => [status, aborted])).toEqual([
      [101, false],
      [101, false],
    ]);
  });

  it('lets WebSockets reconnect to the same port', async () => {
    const sandbox = await sandboxWithThree();
    const lost = await stream(sandbox, tail);
    await lost.received(3);
    await sandbox.restart();
    const client = await stream(sandbox, { ...tail, beginExclusive: 2 });
    await client.received(1);
    expect(offsets(client)).toEqual([3]);
  });
});

describe('the end of a WebSocket', () => {
  it('that the client requests before its first message follows at once', async () => {
    const sandbox = await sandboxWith();
    const client = await stream(sandbox, undefined);
    client.socket.close(1001);
    expect(await client.closed).toBe(1001);
    await until(() => sandbox.requests[0]?.aborted === true);
  });

  it('that the client requests during an endless stream does not follow, and elements still do', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.received(3);
    client.socket.close();
    sandbox.append(creation());
    await once(client.socket, 'message');
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    expect(offsets(client)).toEqual([1, 2, 3, 4]);
    expect(sandbox.requests[0]?.aborted).toBe(false);
    client.socket.terminate();
    await until(() => sandbox.requests[0]?.aborted === true);
  });

  it('that the client requests during a bounded stream follows the end of the stream', async () => {
    const sandbox = await sandboxWith();
    sandbox.append(...Array.from({ length: 500 }, () => creation()));
    const client = await stream(sandbox, upTo(500));
    client.socket.close();
    expect(await client.closed).toBe(1000);
    expect(client.messages).toHaveLength(500);
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('follows a protocol error at once', async () => {
    const sandbox = await sandboxWithThree();
    const client = await stream(sandbox, tail);
    await client.received(3);
    const closes = once(client.socket, 'close');
    // a text that is not UTF-8, in a masked frame
    connectionOf(client).write(Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff]));
    expect((await closes)[0]).toBe(1007);
  });
});
