import { describe, expect, it } from '@jest/globals';
import { concat, defer, from, ignoreElements, lastValueFrom, of, timer, toArray } from 'rxjs';
import { handleParked, type Unparked } from '../../src/process/Parked.js';
import type { Handler } from '../../src/process/ProcessOptions.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { transaction } from '../helpers/wire.js';
import { cursorAt, lastValue, testStore } from './storeContract.js';

const name = 'balances';
const record = (offset: number, update: object | undefined = transaction(offset)): object => ({
  offset,
  update,
  reason: 'no such account',
  attempts: 3,
  parkedAt: '2026-07-24T10:00:00Z',
});

/** A store with parked updates; `retry` calls a handler with them, and `remaining` are the offsets that are still parked. */
function parkingLot(...records: readonly { readonly offset?: number }[]) {
  const store = memoryStore();
  for (const each of records) void store.park(name, each.offset ?? 0, each, undefined);
  const retry = (handler: Handler): Promise<readonly Unparked[]> =>
    lastValueFrom(handleParked(store, name, handler).pipe(toArray()));
  const remaining = async (): Promise<readonly number[]> =>
    (await retry(() => Promise.reject(new Error('only reading')))).map(({ parked }) => parked.offset);
  return { store, retry, remaining };
}

describe('handleParked', () => {
  it('calls the handler with parked updates, by ascending offset, and removes them', async () => {
    const { retry, remaining } = parkingLot(record(9), record(7), record(12));
    const handled: unknown[] = [];
    const results = await retry(({ _tag, offset }) => void handled.push({ _tag, offset }));
    expect(handled).toEqual([7, 9, 12].map((offset) => ({ _tag: 'Transaction', offset })));
    expect(results.map(({ isHandled, parked }) => [parked.offset, parked.reason, isHandled])).toEqual(
      [7, 9, 12].map((offset) => [offset, 'no such account', true]),
    );
    expect(await remaining()).toEqual([]);
  });

  it('keeps an update that fails, emits its error, and continues', async () => {
    const { retry, remaining } = parkingLot(record(7), record(9));
    const error = new Error('still no such account');
    const results = await retry(({ offset }) => {
      if (offset === 7) throw error;
    });
    expect(results.map(({ isHandled }) => isHandled)).toEqual([false, true]);
    expect(results[0]?.error).toBe(error);
    expect(await remaining()).toEqual([7]);
  });

  it('keeps an update that does not decode, without calling the handler', async () => {
    const { retry, remaining } = parkingLot({ ...record(7), update: undefined } as object);
    const [result] = await retry(() => {
      throw new Error('called');
    });
    expect(result).toEqual({ parked: expect.objectContaining({ offset: 7 }), isHandled: false });
    expect(await remaining()).toEqual([7]);
  });

  it('waits for the handler of an update before it calls the next', async () => {
    const { retry } = parkingLot(record(7), record(9));
    const order: string[] = [];
    await retry(({ offset }) =>
      concat(
        defer(() => of(order.push(`begin ${offset}`))),
        timer(1).pipe(ignoreElements()),
        defer(() => of(order.push(`end ${offset}`))),
      ),
    );
    expect(order).toEqual(['begin 7', 'end 7', 'begin 9', 'end 9']);
  });

  it('emits nothing for an empty store, and errors with a CursorError for a record that does not decode', async () => {
    const { store, retry } = parkingLot();
    expect(await retry(() => undefined)).toEqual([]);
    await lastValueFrom(from(store.park(name, 7, { offset: 'x' }, undefined)), { defaultValue: undefined });
    await expect(retry(() => undefined)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'unreadable' });
  });
});

describe('memoryStore', () => {
  testStore(() => memoryStore());

  it('shares nothing with another store', async () => {
    await lastValue(memoryStore().save('a', cursorAt(1), undefined));
    expect(await lastValue(memoryStore().load('a'))).toBeUndefined();
  });

  it('without parked and unpark is refused by handleParked', () => {
    const { load, save } = memoryStore();
    expect(() => handleParked({ load, save }, 'a', () => undefined)).toThrow(TypeError);
  });
});
