import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { connectionOf, offsets, stream, variants } from './webSockets.js';
import { at, sandboxWith } from './client.js';
import { creation, everything, sandboxWithThree } from './requests.js';
import { stopClock, until } from '../helpers/time.js';

const tail = { beginExclusive: 0, updateFormat: everything };
const upTo = (endInclusive: number) => ({ ...tail, endInclusive });

describe('the checkpoints of a stream', () => {
  it('are sent early since 3.5, and may have the begin offset', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 20 });
    sandbox.append({
      Transaction: { value: { recordTime: '2026-07-24T10:00:00.123456Z', events: [{ CreatedEvent: {} }] } },
    });
    sandbox.advance(4);
    const client = await stream(sandbox, tail);
    await client.received(2);
    expect(variants(client)).toEqual(['Transaction', 'OffsetCheckpoint']);
    expect(at(client.messages, 1, 'update', 'OffsetCheckpoint', 'value')).toEqual({
      offset: 5,
      synchronizerTimes: [{ synchronizerId: sandbox.synchronizers[0], recordTime: '2026-07-24T10:00:00.123456Z' }],
    });
    const late = await stream(sandbox, { ...tail, beginExclusive: 5 });
    await late.received(1);
    expect(offsets(late)).toEqual([5]);
  });

  it('are not sent earlier than configured, and not in 3.4 by default', async () => {
    const begun = Date.now();
    const [recent, older] = await Promise.all([sandboxWith(), sandboxWith({ profile: '3.4' })]);
    const [client, none] = await Promise.all([stream(recent, tail), stream(older, tail)]);
    await client.received(1);
    expect(Date.now() - begun).toBeGreaterThanOrEqual(495);
    await after(30);
    expect(none.texts).toEqual([]);
  });

  it('are sent on an idle stream, once for each offset', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ profile: '3.4', idleCheckpointMs: 20 });
    sandbox.append(creation());
    const client = await stream(sandbox, tail);
    await clock.hasTimer();
    await clock.advance(300);
    await client.received(2);
    sandbox.advance(2);
    await clock.advance(300);
    await client.received(3);
    await clock.advance(300);
    sandbox.append(creation());
    await client.received(4);
    expect(variants(client)).toEqual(['Transaction', 'OffsetCheckpoint', 'OffsetCheckpoint', 'Transaction']);
    expect(offsets(client)).toEqual([1, 1, 3, 4]);
  });

  it('are sent early also after one of an idle stream', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ idleCheckpointMs: 2_000, earlyCheckpointMs: 2_500 });
    const client = await stream(sandbox, tail);
    await clock.hasTimer();
    await clock.advance(2_000);
    await client.received(1);
    await clock.hasTimer();
    sandbox.advance(1);
    await clock.hasTimer();
    // the next one of an idle stream would come much later
    await clock.advance(500);
    await client.received(2);
    expect(offsets(client)).toEqual([0, 1]);
  });

  it('are postponed by each element', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith({ earlyCheckpointMs: false, idleCheckpointMs: 1_000 });
    const client = await stream(sandbox, tail);
    for (let sent = 1; sent <= 4; sent++) {
      await clock.hasTimer();
      await clock.advance(300);
      sandbox.append(creation());
      await client.received(sent);
    }
    await clock.hasTimer();
    await clock.advance(1_000);
    await client.received(5);
    expect(variants(client).indexOf('OffsetCheckpoint')).toBe(4);
  });

  it('are never sent on a bounded stream', async () => {
    const sandbox = await sandboxWith({ earlyCheckpointMs: 0, idleCheckpointMs: 1 });
    sandbox.append(creation());
    const client = await stream(sandbox, upTo(1));
    await client.closed;
    expect(variants(client)).toEqual(['Transaction']);
  });
});

describe('a restart, and a close', () => {
  it.each(['restart', 'close'] as const)('ends WebSockets at once and without a close frame: %s', async (end) => {
    const sandbox = await sandboxWith();
    const [active, silent] = await Promise.all([stream(sandbox, tail), stream(sandbox, undefined)]);
    while (sandbox.requests.every(({ body }) => body === undefined)) await after(1);
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
    await after(30);
    expect(client.socket.readyState).toBe(client.socket.CLOSING);
    sandbox.append(creation());
    await once(client.socket, 'message');
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
