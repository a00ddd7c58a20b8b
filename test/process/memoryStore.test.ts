import { describe, expect, it } from '@jest/globals';
import { handleParked, memoryStore } from '../../src/index.js';
import { cursorAt, got, itIsAStore } from './storeContract.js';

describe('memoryStore', () => {
  itIsAStore(() => memoryStore());

  it('copies what it is given when it is given it', async () => {
    const store = memoryStore();
    const recordTimes: Record<string, string> = {};
    const saving = store.save('a', cursorAt(1, { recordTimes }), undefined);
    recordTimes['late'] = '2026-07-24T10:00:00Z';
    await got(saving);
    expect(await got(store.load('a'))).toEqual(cursorAt(1, { recordTimes: {} }));
  });

  it('shares nothing with another one', async () => {
    await got(memoryStore().save('a', cursorAt(1), undefined));
    expect(await got(memoryStore().load('a'))).toBeUndefined();
  });

  it('without a place for what is parked is none to handle parked updates of', () => {
    const { load, save } = memoryStore();
    expect(() => handleParked({ load, save }, 'a', () => undefined)).toThrow(TypeError);
  });
});
