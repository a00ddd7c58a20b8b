import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { NatsConnection } from '@nats-io/nats-core';
import type { Cursor } from '../../src/process/index.js';
import { natsStore } from '../../src/nats/natsStore.js';
import { observe, type Observed } from '../helpers/observe.js';
import { until } from '../helpers/time.js';
import { lastValue } from '../process/storeContract.js';
import { cursorAt } from './support.js';

type CursorBucket = Parameters<typeof natsStore>[1];

interface StoredCursor {
  readonly holder?: string;
  readonly cursor?: Cursor;
}

/** A bucket in memory whose calls may wait for a gate, and the records that were written. */
function gatedBucket() {
  const written: StoredCursor[] = [];
  const gates: { get: Promise<unknown>; put: Promise<unknown> } = { get: Promise.resolve(), put: Promise.resolve() };
  const begun = { get: 0, put: 0 };
  let losesResponse = false;
  const bucket: CursorBucket = {
    get: async () => {
      begun.get += 1;
      await gates.get;
      return written.length === 0 ? undefined : { record: written.at(-1), revision: written.length };
    },
    put: async (_, record, revision) => {
      begun.put += 1;
      await gates.put;
      if (revision !== written.length) return undefined;
      written.push(record as StoredCursor);
      if (losesResponse) throw new Error('timeout');
      return written.length;
    },
    send: (_, record, revision) => {
      if (revision === written.length) written.push(record as StoredCursor);
    },
  };
  /** Makes the calls of a method wait, until the function that it returns is called. */
  const close = (method: 'get' | 'put'): (() => void) => {
    let open: () => void = () => undefined;
    gates[method] = new Promise<void>((resolve) => (open = resolve));
    return open;
  };
  const loseResponses = (isLost: boolean): void => {
    losesResponse = isLost;
  };
  return { bucket, written, begun, close, loseResponses };
}

const connection = { isClosed: () => false, getServer: () => 'server' } as unknown as NatsConnection;
const server = { connection, stream: 'ledger' };

const open = (bucket: CursorBucket, ackWaitMs: number) => natsStore(server, bucket, ackWaitMs);

const isHeld = ({ values }: Observed<unknown>): boolean => values.length === 1;

describe('the store of a NATS server', () => {
  const observed: Observed<unknown>[] = [];
  const hold = (store: ReturnType<typeof open>, name = 'reader'): Observed<unknown> => {
    const held = observe(store.hold(name));
    observed.push(held);
    return held;
  };
  afterEach(() => {
    jest.restoreAllMocks();
    for (const { subscription } of observed.splice(0)) subscription.unsubscribe();
  });

  it('has the last cursor, for the next one that holds the name', async () => {
    const { bucket } = gatedBucket();
    const first = open(bucket, 30_000);
    const held = hold(first);
    await until(() => isHeld(held));
    expect(await lastValue(first.load('reader'))).toBeUndefined();
    for (const offset of [1, 2]) await lastValue(first.save('reader', cursorAt(offset), undefined));
    expect(await lastValue(first.load('reader'))).toEqual(cursorAt(2));
    const second = open(bucket, 30_000);
    const waiting = hold(second);
    held.subscription.unsubscribe();
    await until(() => isHeld(waiting));
    expect(await lastValue(second.load('reader'))).toEqual(cursorAt(2));
    const late = lastValue(first.save('reader', cursorAt(3), undefined));
    await expect(late).rejects.toMatchObject({ _tag: 'StoreError', operation: 'hold' });
    expect(await lastValue(second.load('reader'))).toEqual(cursorAt(2));
  });

  it('does not move back to the cursor before a save when it is renewed during the save', async () => {
    const { bucket, written, begun, close } = gatedBucket();
    const store = open(bucket, 30);
    const held = hold(store);
    await until(() => isHeld(held));
    const resume = close('put');
    const before = begun.put;
    const saving = lastValue(store.save('reader', cursorAt(7), undefined));
    await until(() => begun.put > before);
    // meanwhile a renewal becomes due
    const startedAt = performance.now();
    await until(() => performance.now() > startedAt + 30);
    resume();
    await saving;
    const count = written.length;
    await until(() => written.length > count + 1);
    expect(written.at(-1)?.cursor?.offset).toBe(7);
    held.subscription.unsubscribe();
    expect(written.at(-1)).toEqual({ cursor: cursorAt(7) });
  });

  it('releases the name after a save that is still running', async () => {
    const { bucket, written, begun, close } = gatedBucket();
    const store = open(bucket, 600_000);
    const held = hold(store);
    await until(() => isHeld(held));
    const resume = close('put');
    const saving = lastValue(store.save('reader', cursorAt(7), undefined));
    await until(() => begun.put === 2);
    held.subscription.unsubscribe();
    expect(written).toHaveLength(1);
    resume();
    await saving;
    await until(() => written.length === 3);
    expect(written.at(-1)).toEqual({ cursor: cursorAt(7) });
  });

  it('renews the record while it is held, also after a renewal that failed', async () => {
    const { bucket, written, begun, loseResponses } = gatedBucket();
    const held = hold(open(bucket, 30));
    await until(() => isHeld(held));
    await until(() => written.length > 3, 5_000);
    loseResponses(true);
    const before = begun.put;
    await until(() => begun.put > before + 2);
    loseResponses(false);
    const count = written.length;
    await until(() => written.length > count + 2);
    expect(held.error).toBeUndefined();
  });

  it('fails when another replica has taken the name', async () => {
    const { bucket, written } = gatedBucket();
    const held = hold(open(bucket, 30));
    await until(() => isHeld(held));
    written.push({ holder: 'another' });
    await until(() => held.error !== undefined);
    expect(held.error).toMatchObject({ _tag: 'StoreError', operation: 'hold' });
  });

  it('takes the name of a replica that is silent, but not right after the waiting one was suspended', async () => {
    const { bucket, written, begun, close } = gatedBucket();
    let now = 0;
    jest.spyOn(performance, 'now').mockImplementation(() => now);
    written.push({ holder: 'another', cursor: cursorAt(1) });
    const waiting = hold(open(bucket, 30));
    /** Lets the time pass until the next reading of the record. */
    const readAfter = async (ms: number): Promise<void> => {
      const resume = close('get');
      const before = begun.get;
      await until(() => begun.get > before);
      now += ms;
      resume();
    };
    await readAfter(0);
    // neither of them could write, however long it was
    for (const ms of [1_000, 31, 16]) await readAfter(ms);
    for (const ms of [14, 14]) await readAfter(ms);
    expect(begun.put).toBe(0);
    await readAfter(2);
    await until(() => isHeld(waiting));
    expect(written.at(-1)).toMatchObject({ cursor: cursorAt(1) });
    expect(written.at(-1)?.holder).not.toBe('another');
  });

  it('takes a name at once of which it did not get the response', async () => {
    const { bucket, written, loseResponses } = gatedBucket();
    const store = open(bucket, 600_000);
    loseResponses(true);
    const first = hold(store);
    await until(() => first.error !== undefined);
    expect(first.error).toMatchObject({ _tag: 'StoreError', operation: 'hold', reason: 'NATS at server: timeout' });
    loseResponses(false);
    const second = hold(store);
    await until(() => isHeld(second));
    expect(written).toHaveLength(2);
  });

  it('neither moves the cursor back nor releases the name of a later run after a save that was given up', async () => {
    const { bucket, written, begun, close } = gatedBucket();
    const store = open(bucket, 600_000);
    const first = hold(store);
    await until(() => isHeld(first));
    const resume = close('put');
    const late = lastValue(store.save('reader', cursorAt(1), undefined));
    await until(() => begun.put === 2);
    first.subscription.unsubscribe();
    // later calls do not wait
    close('put')();
    const second = hold(store);
    await until(() => isHeld(second));
    for (const offset of [2, 3]) await lastValue(store.save('reader', cursorAt(offset), undefined));
    resume();
    await expect(late).rejects.toMatchObject({ _tag: 'StoreError', operation: 'hold' });
    await lastValue(store.save('reader', cursorAt(4), undefined));
    expect(written.map(({ cursor }) => cursor?.offset)).toEqual([undefined, undefined, 2, 3, 4]);
    expect(written.at(-1)).toHaveProperty('holder');
  });

  it('releases a name that it takes after it was unsubscribed', async () => {
    const { bucket, written, begun, close } = gatedBucket();
    const resume = close('put');
    const taking = hold(open(bucket, 600_000));
    await until(() => begun.put === 1);
    taking.subscription.unsubscribe();
    resume();
    await until(() => written.length === 2);
    expect(written.at(-1)).not.toHaveProperty('holder');
  });
});
