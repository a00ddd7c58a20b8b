import { describe, expect, it } from '@jest/globals';
import { firstValueFrom, from, lastValueFrom, take, toArray, type ObservableInput } from 'rxjs';
import type { CheckpointStore } from '../../src/process/CheckpointStore.js';
import type { Cursor } from '../../src/process/Cursor.js';

/** A store with all that it may have. */
export type WholeStore = Required<CheckpointStore>;

/** A cursor at an offset. */
export const cursorAt = (offset: number, more: Partial<Cursor> = {}): Cursor => ({
  version: 1,
  offset,
  lastUpdate: { offset, updateId: `1220${offset}` },
  recordTimes: { 'global::1220ab': '2026-07-24T10:00:00.123456Z' },
  participantId: 'p1::1220ab',
  selection: 'alice, "böb" \u2028 \ud83d\ude00',
  ...more,
});

/** The last value of a call's answer; `undefined` where it has none. */
export const got = (answer: ObservableInput<unknown>): Promise<unknown> =>
  lastValueFrom(from(answer), { defaultValue: undefined });

/** All values of a call's answer. */
export const all = (answer: ObservableInput<unknown>): Promise<unknown[]> =>
  lastValueFrom(from(answer).pipe(toArray()));

/** What the library builds on, of any store; `open` gives an empty one. */
export function itIsAStore(open: () => WholeStore | Promise<WholeStore>): void {
  describe('as any store', () => {
    it('emits what was saved last, and nothing or undefined before', async () => {
      const store = await open();
      expect(await got(store.load('a'))).toBeUndefined();
      await got(store.save('a', cursorAt(1), undefined));
      expect(await got(store.load('a'))).toEqual(cursorAt(1));
      await got(store.save('a', cursorAt(2), undefined));
      await got(store.save('a', cursorAt(3, { lastUpdate: undefined, recordTimes: {} }), undefined));
      expect(await got(store.load('a'))).toEqual(cursorAt(3, { lastUpdate: undefined, recordTimes: {} }));
    });

    it('saves a cursor at the end of the offsets', async () => {
      const store = await open();
      await got(store.save('a', cursorAt(Number.MAX_SAFE_INTEGER), undefined));
      expect(await got(store.load('a'))).toEqual(cursorAt(Number.MAX_SAFE_INTEGER));
    });

    it('keeps names apart', async () => {
      const store = await open();
      const names = ['a', 'A', 'a.b', 'a/b', '../a', '', ' ', 'ä', 'a\u0308', '__proto__', 'x'.repeat(1_000), 'con'];
      for (const [offset, name] of names.entries()) {
        await got(store.save(name, cursorAt(offset), undefined));
        await got(store.park(name, offset, { name }, undefined));
      }
      for (const [offset, name] of names.entries()) {
        expect(await got(store.load(name))).toEqual(cursorAt(offset));
        expect(await all(store.parked(name))).toEqual([{ name }]);
      }
    });

    it('emits what was put aside by ascending offset, however it was put there', async () => {
      const store = await open();
      const offsets = [10, 9, 100, 0, Number.MAX_SAFE_INTEGER, 2];
      for (const offset of offsets) await got(store.park('a', offset, { offset }, undefined));
      const ascending = offsets.toSorted((a, b) => a - b);
      expect(await all(store.parked('a'))).toEqual(ascending.map((offset) => ({ offset })));
      expect(await got(from(store.parked('a')).pipe(take(2), toArray()))).toEqual([{ offset: 0 }, { offset: 2 }]);
    });

    it('has nothing put aside at first', async () => {
      const store = await open();
      expect(await all(store.parked('a'))).toEqual([]);
    });

    it('replaces what was put aside at the same offset', async () => {
      const store = await open();
      await got(store.park('a', 7, { attempts: 1 }, undefined));
      await got(store.park('a', 7, { attempts: 2 }, undefined));
      expect(await all(store.parked('a'))).toEqual([{ attempts: 2 }]);
    });

    it('takes one away, and says whether it was there', async () => {
      const store = await open();
      expect(await all(store.unpark('a', 7, undefined))).toEqual([false]);
      for (const offset of [7, 8]) await got(store.park('a', offset, { offset }, undefined));
      expect(await all(store.unpark('a', 7, undefined))).toEqual([true]);
      expect(await all(store.unpark('a', 7, undefined))).toEqual([false]);
      expect(await all(store.unpark('b', 8, undefined))).toEqual([false]);
      expect(await all(store.parked('a'))).toEqual([{ offset: 8 }]);
    });

    it('lets what is emitted be taken away before the next one', async () => {
      const store = await open();
      for (const offset of [1, 2, 3]) await got(store.park('a', offset, { offset }, undefined));
      for (let left = 3; left > 0; left--) {
        expect(await firstValueFrom(from(store.parked('a')))).toEqual({ offset: 4 - left });
        expect(await got(store.unpark('a', 4 - left, undefined))).toBe(true);
      }
      expect(await all(store.parked('a'))).toEqual([]);
    });

    it('keeps what it was given, whatever becomes of that, and of what it emitted', async () => {
      const store = await open();
      const recordTimes: Record<string, string> = { s: '2026-07-24T10:00:00Z' };
      const parked = { reasons: ['first'] };
      const saving = [
        got(store.save('a', cursorAt(1, { recordTimes }), undefined)),
        got(store.park('a', 1, parked, undefined)),
      ];
      await Promise.all(saving);
      recordTimes['s'] = 'other';
      parked.reasons.push('second');
      for (let turn = 0; turn < 2; turn++) {
        const loaded = await got(store.load('a'));
        expect(loaded).toEqual(cursorAt(1, { recordTimes: { s: '2026-07-24T10:00:00Z' } }));
        const [aside] = await all(store.parked('a'));
        expect(aside).toEqual({ reasons: ['first'] });
        Object.assign(loaded ?? {}, { offset: 9 });
        Object.assign(aside ?? {}, { reasons: [] });
      }
    });

    it('saves in the order in which it is asked', async () => {
      const store = await open();
      await Promise.all(Array.from({ length: 20 }, (_, offset) => got(store.save('a', cursorAt(offset), undefined))));
      expect(await got(store.load('a'))).toEqual(cursorAt(19));
    });
  });
}
