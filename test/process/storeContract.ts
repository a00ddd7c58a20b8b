import { describe, expect, it } from '@jest/globals';
import {
  defer,
  firstValueFrom,
  from,
  lastValueFrom,
  take,
  toArray,
  type ObservableInput,
  type Subscription,
} from 'rxjs';
import type { CheckpointStore, Cursor } from '../../src/process/CheckpointStore.js';
import { ContractsPosition } from '../../src/process/ContractsPosition.js';
import { until } from '../helpers/time.js';

/** A store with all optional methods. */
export type CompleteStore = Required<CheckpointStore>;

/** A cursor at an offset. */
export const cursorAt = (offset: number, more: Partial<Cursor> = {}): Cursor => ({
  version: 1,
  offset,
  lastUpdate: { offset, updateId: `1220${offset}` },
  recordTimes: { 'global::1220ab': { recordTime: '2026-07-24T10:00:00.123456Z', updateId: `1220${offset}` } },
  participantId: 'p1::1220ab',
  selection: 'alice, "böb" \u2028 \ud83d\ude00',
  ...more,
});

/** The last value of a call; `undefined` if it emits none. */
export const lastValue = (result: ObservableInput<unknown>): Promise<unknown> =>
  lastValueFrom(from(result), { defaultValue: undefined });

/** All values of a call. */
export const allValues = (result: ObservableInput<unknown>): Promise<unknown[]> =>
  lastValueFrom(from(result).pipe(toArray()));

/** The tests of any store; `open` creates an empty one. */
export function testStore(open: () => CompleteStore | Promise<CompleteStore>): void {
  describe('like any store', () => {
    it('emits what was saved last, and nothing or undefined before that', async () => {
      const store = await open();
      expect(await lastValue(store.load('a'))).toBeUndefined();
      await lastValue(store.save('a', cursorAt(1), undefined));
      expect(await lastValue(store.load('a'))).toEqual(cursorAt(1));
      await lastValue(store.save('a', cursorAt(2), undefined));
      await lastValue(store.save('a', cursorAt(3, { lastUpdate: undefined, recordTimes: {} }), undefined));
      expect(await lastValue(store.load('a'))).toEqual(cursorAt(3, { lastUpdate: undefined, recordTimes: {} }));
    });

    it('has no field of a position that the last cursor does not have', async () => {
      const store = await open();
      const loading: Partial<Cursor> & ContractsPosition = { offset: 1, loading: 2, reason: 'pruned' };
      const complete: Partial<Cursor> & ContractsPosition = { offset: 2, loading: undefined, reason: undefined };
      await lastValue(store.save('a', cursorAt(1, loading), undefined));
      expect(ContractsPosition.decode(await lastValue(store.load('a')))).toMatchObject({ right: loading });
      await lastValue(store.save('a', cursorAt(2, complete), undefined));
      expect(ContractsPosition.decode(await lastValue(store.load('a')))).toEqual({
        _tag: 'Right',
        right: { ...cursorAt(2) },
      });
    });

    it('saves a cursor at the largest offset', async () => {
      const store = await open();
      await lastValue(store.save('a', cursorAt(Number.MAX_SAFE_INTEGER), undefined));
      expect(await lastValue(store.load('a'))).toEqual(cursorAt(Number.MAX_SAFE_INTEGER));
    });

    it('keeps names apart', async () => {
      const store = await open();
      const names = ['a', 'A', 'a.b', 'a/b', '../a', '', ' ', 'ä', 'a\u0308', '__proto__', 'x'.repeat(1_000), 'con'];
      for (const [offset, name] of names.entries()) {
        await lastValue(store.save(name, cursorAt(offset), undefined));
        await lastValue(store.park(name, offset, { name }, undefined));
      }
      for (const [offset, name] of names.entries()) {
        expect(await lastValue(store.load(name))).toEqual(cursorAt(offset));
        expect(await allValues(store.parked(name))).toEqual([{ name }]);
      }
    });

    it('emits parked updates by ascending offset, in whatever order they were parked', async () => {
      const store = await open();
      const offsets = [10, 9, 100, 0, Number.MAX_SAFE_INTEGER, 2];
      for (const offset of offsets) await lastValue(store.park('a', offset, { offset }, undefined));
      const ascending = offsets.toSorted((a, b) => a - b);
      expect(await allValues(store.parked('a'))).toEqual(ascending.map((offset) => ({ offset })));
      expect(await lastValue(from(store.parked('a')).pipe(take(2), toArray()))).toEqual([{ offset: 0 }, { offset: 2 }]);
    });

    it('has no parked updates at first', async () => {
      const store = await open();
      expect(await allValues(store.parked('a'))).toEqual([]);
    });

    it('replaces a parked update at the same offset', async () => {
      const store = await open();
      await lastValue(store.park('a', 7, { attempts: 1 }, undefined));
      await lastValue(store.park('a', 7, { attempts: 2 }, undefined));
      expect(await allValues(store.parked('a'))).toEqual([{ attempts: 2 }]);
    });

    it('does not replace another update that is parked at the same offset of another participant', async () => {
      const store = await open();
      await lastValue(store.park('a', 7, { updateId: '1220ab', attempts: 1 }, undefined));
      const other = defer(() => from(store.park('a', 7, { updateId: '1220cd', attempts: 1 }, undefined)));
      await expect(lastValue(other)).rejects.toMatchObject({ _tag: 'CursorError', reason: 'conflict', processor: 'a' });
      await lastValue(store.park('a', 7, { updateId: '1220ab', attempts: 2 }, undefined));
      await lastValue(store.park('b', 7, { updateId: '1220cd' }, undefined));
      expect(await allValues(store.parked('a'))).toEqual([{ updateId: '1220ab', attempts: 2 }]);
      await lastValue(store.unpark('a', 7, undefined));
      await lastValue(other);
      expect(await allValues(store.parked('a'))).toEqual([{ updateId: '1220cd', attempts: 1 }]);
    });

    it('removes a parked update, and emits whether it was there', async () => {
      const store = await open();
      expect(await allValues(store.unpark('a', 7, undefined))).toEqual([false]);
      for (const offset of [7, 8]) await lastValue(store.park('a', offset, { offset }, undefined));
      expect(await allValues(store.unpark('a', 7, undefined))).toEqual([true]);
      expect(await allValues(store.unpark('a', 7, undefined))).toEqual([false]);
      expect(await allValues(store.unpark('b', 8, undefined))).toEqual([false]);
      expect(await allValues(store.parked('a'))).toEqual([{ offset: 8 }]);
    });

    it('allows a parked update to be removed before the next one is emitted', async () => {
      const store = await open();
      for (const offset of [1, 2, 3]) await lastValue(store.park('a', offset, { offset }, undefined));
      for (let left = 3; left > 0; left--) {
        expect(await firstValueFrom(from(store.parked('a')))).toEqual({ offset: 4 - left });
        expect(await lastValue(store.unpark('a', 4 - left, undefined))).toBe(true);
      }
      expect(await allValues(store.parked('a'))).toEqual([]);
    });

    it('holds a name once at a time', async () => {
      const store = await open();
      const held: string[] = [];
      const hold = (name: string, label: string): Subscription => store.hold(name).subscribe(() => held.push(label));
      const first = hold('a', 'first');
      await until(() => held.length === 1);
      const second = hold('a', 'second');
      const other = hold('b', 'other');
      await until(() => held.length === 2);
      expect(held).toEqual(['first', 'other']);
      first.unsubscribe();
      await until(() => held.length === 3);
      expect(held).toEqual(['first', 'other', 'second']);
      for (const holding of [second, other]) holding.unsubscribe();
    });

    it('keeps copies: later changes to what it got or emitted have no effect', async () => {
      const store = await open();
      const recordTimes: Record<string, { recordTime: string }> = { s: { recordTime: '2026-07-24T10:00:00Z' } };
      const parked = { reasons: ['first'] };
      const saving = [
        lastValue(store.save('a', cursorAt(1, { recordTimes }), undefined)),
        lastValue(store.park('a', 1, parked, undefined)),
      ];
      await Promise.all(saving);
      recordTimes['s'] = { recordTime: 'other' };
      parked.reasons.push('second');
      for (let turn = 0; turn < 2; turn++) {
        const loaded = await lastValue(store.load('a'));
        expect(loaded).toEqual(cursorAt(1, { recordTimes: { s: { recordTime: '2026-07-24T10:00:00Z' } } }));
        const [aside] = await allValues(store.parked('a'));
        expect(aside).toEqual({ reasons: ['first'] });
        Object.assign(loaded ?? {}, { offset: 9 });
        Object.assign(aside ?? {}, { reasons: [] });
      }
    });

    it('saves in the order of the calls', async () => {
      const store = await open();
      await Promise.all(
        Array.from({ length: 20 }, (_, offset) => lastValue(store.save('a', cursorAt(offset), undefined))),
      );
      expect(await lastValue(store.load('a'))).toEqual(cursorAt(19));
    });
  });
}
