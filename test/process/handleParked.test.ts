import { describe, expect, it } from '@jest/globals';
import { concat, defer, from, ignoreElements, lastValueFrom, of, timer, toArray } from 'rxjs';
import { handleParked, type Unparked } from '../../src/process/Parked.js';
import type { Handler } from '../../src/process/ProcessOptions.js';
import { memoryStore } from '../../src/process/memoryStore.js';
import { transaction } from '../helpers/wire.js';

const name = 'balances';
const record = (offset: number, update: object | undefined = transaction(offset)): object => ({
  offset,
  update,
  reason: 'no such account',
  attempts: 3,
  parkedAt: '2026-07-24T10:00:00Z',
});

/** A store in which updates were put aside, and what becomes of them when a handler tries again. */
function parkingLot(...records: readonly { readonly offset?: number }[]) {
  const store = memoryStore();
  for (const each of records) void store.park(name, each.offset ?? 0, each, undefined);
  const again = (handler: Handler): Promise<readonly Unparked[]> =>
    lastValueFrom(handleParked(store, name, handler).pipe(toArray()));
  const left = async (): Promise<readonly number[]> =>
    (await again(() => Promise.reject(new Error('looking')))).map(({ parked }) => parked.offset);
  return { store, again, left };
}

describe('handleParked', () => {
  it('hands over what was put aside, by ascending offset, and takes it away', async () => {
    const { again, left } = parkingLot(record(9), record(7), record(12));
    const handled: unknown[] = [];
    const results = await again(({ _tag, offset }) => handled.push({ _tag, offset }));
    expect(handled).toEqual([7, 9, 12].map((offset) => ({ _tag: 'Transaction', offset })));
    expect(results.map(({ isHandled, parked }) => [parked.offset, parked.reason, isHandled])).toEqual(
      [7, 9, 12].map((offset) => [offset, 'no such account', true]),
    );
    expect(await left()).toEqual([]);
  });

  it('leaves what fails where it is, says why, and goes on', async () => {
    const { again, left } = parkingLot(record(7), record(9));
    const error = new Error('still no such account');
    const results = await again(({ offset }) => {
      if (offset === 7) throw error;
    });
    expect(results.map(({ isHandled }) => isHandled)).toEqual([false, true]);
    expect(results[0]?.error).toBe(error);
    expect(await left()).toEqual([7]);
  });

  it('leaves what does not decode, without calling the handler', async () => {
    const { again, left } = parkingLot({ ...record(7), update: undefined } as object);
    const [result] = await again(() => {
      throw new Error('called');
    });
    expect(result).toEqual({ parked: expect.objectContaining({ offset: 7 }), isHandled: false });
    expect(await left()).toEqual([7]);
  });

  it('waits for one before it hands over the next', async () => {
    const { again } = parkingLot(record(7), record(9));
    const order: string[] = [];
    await again(({ offset }) =>
      concat(
        defer(() => of(order.push(`begin ${offset}`))),
        timer(1).pipe(ignoreElements()),
        defer(() => of(order.push(`end ${offset}`))),
      ),
    );
    expect(order).toEqual(['begin 7', 'end 7', 'begin 9', 'end 9']);
  });

  it('ends with a CursorError at what is no record, and with nothing where nothing was put aside', async () => {
    const { store, again } = parkingLot();
    expect(await again(() => undefined)).toEqual([]);
    await lastValueFrom(from(store.park(name, 7, { offset: 'x' }, undefined)), { defaultValue: undefined });
    await expect(again(() => undefined)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'unreadable' });
  });
});
