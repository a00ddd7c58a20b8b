import { describe, expect, it } from '@jest/globals';
import { handleParked, memoryStore } from '../../src/process/index.js';
import { cursorAt, lastValue, testStore } from './storeContract.js';

describe('memoryStore', () => {
  testStore(() => memoryStore());

  it('copies a cursor when it is saved', async () => {
    const store = memoryStore();
    const recordTimes: Record<string, string> = {};
    const saving = store.save('a', cursorAt(1, { recordTimes }), undefined);
    recordTimes['late'] = '2026-07-24T10:00:00Z';
    await lastValue(saving);
    expect(await lastValue(store.load('a'))).toEqual(cursorAt(1, { recordTimes: {} }));
  });

  it('shares nothing with another store', async () => {
    await lastValue(memoryStore().save('a', cursorAt(1), undefined));
    expect(await lastValue(memoryStore().load('a'))).toBeUndefined();
  });

  it('without parked and unpark is refused by handleParked', () => {
    const { load, save } = memoryStore();
    expect(() => handleParked({ load, save }, 'a', () => undefined)).toThrow(TypeError);
  });
});
