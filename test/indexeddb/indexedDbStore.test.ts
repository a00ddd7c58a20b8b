import 'fake-indexeddb/auto';
import { describe, expect, it, jest } from '@jest/globals';
import { deleteDB, openDB } from 'idb';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import { all, cursorAt, got, itIsAStore } from '../process/storeContract.js';

let databases = 0;
const another = (): string => `test-${databases++}`;

describe('indexedDbStore', () => {
  itIsAStore(() => indexedDbStore({ database: another() }));

  it('is found again in the same database, and in no other', async () => {
    const database = another();
    await got(indexedDbStore({ database }).save('a', cursorAt(1), undefined));
    await got(indexedDbStore({ database }).park('a', 7, { offset: 7 }, undefined));
    expect(await got(indexedDbStore({ database }).load('a'))).toEqual(cursorAt(1));
    expect(await all(indexedDbStore({ database }).parked('a'))).toEqual([{ offset: 7 }]);
    expect(await got(indexedDbStore({ database: another() }).load('a'))).toBeUndefined();
  });

  it('is in a database of its own unless it is told which', async () => {
    await got(indexedDbStore().save('a', cursorAt(1), undefined));
    expect((await indexedDB.databases()).map(({ name }) => name)).toContain('canton-rx');
  });

  it('opens nothing before it is used', async () => {
    const database = another();
    indexedDbStore({ database });
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain(database);
  });

  it('writes what has reached the disk when it is over', async () => {
    const store = indexedDbStore({ database: another() });
    await got(store.load('a'));
    const transaction = jest.spyOn(IDBDatabase.prototype, 'transaction');
    await got(store.save('a', cursorAt(1), undefined));
    await got(store.park('a', 1, {}, undefined));
    await got(store.unpark('a', 1, undefined));
    expect(transaction.mock.calls.map(([, mode, options]) => [mode, options])).toEqual(
      Array.from({ length: 3 }, () => ['readwrite', { durability: 'strict' }]),
    );
    transaction.mockRestore();
  });

  it('lets the database be deleted, and opens it anew', async () => {
    const database = another();
    const store = indexedDbStore({ database });
    await got(store.save('a', cursorAt(1), undefined));
    await deleteDB(database);
    expect(await got(store.load('a'))).toBeUndefined();
    await got(store.save('a', cursorAt(2), undefined));
    expect(await got(indexedDbStore({ database }).load('a'))).toEqual(cursorAt(2));
  });

  it('gives way to a later version of the database, and errors from then on', async () => {
    const database = another();
    const store = indexedDbStore({ database });
    await got(store.save('a', cursorAt(1), undefined));
    const blocked = jest.fn();
    const later = await openDB(database, 2, { blocked });
    expect(blocked).not.toHaveBeenCalled();
    for (let turn = 0; turn < 2; turn++)
      await expect(got(store.load('a'))).rejects.toMatchObject({ name: 'VersionError' });
    later.close();
  });

  it('opens the database once more when that failed', async () => {
    const store = indexedDbStore({ database: another() });
    const open = jest.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
      throw new Error('not now');
    });
    await expect(got(store.load('a'))).rejects.toThrow('not now');
    expect(await got(store.load('a'))).toBeUndefined();
    expect(open).toHaveBeenCalledTimes(2);
    await got(store.load('a'));
    expect(open).toHaveBeenCalledTimes(2);
    open.mockRestore();
  });

  it('opens the database once more when a connection was lost without a word', async () => {
    const store = indexedDbStore({ database: another() });
    await got(store.save('a', cursorAt(1), undefined));
    const lost = jest.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(() => {
      throw new DOMException('the connection is closing', 'InvalidStateError');
    });
    const open = jest.spyOn(indexedDB, 'open');
    await expect(got(store.load('a'))).rejects.toMatchObject({ name: 'InvalidStateError' });
    expect(await got(store.load('a'))).toEqual(cursorAt(1));
    expect(open).toHaveBeenCalledTimes(1);
    lost.mockRestore();
    open.mockRestore();
  });

  it('passes on what IndexedDB refuses, and keeps the old cursor', async () => {
    const store = indexedDbStore({ database: another() });
    await got(store.save('a', cursorAt(1), undefined));
    await expect(got(store.park('a', 1, () => undefined, undefined))).rejects.toMatchObject({ name: 'DataCloneError' });
    expect(await got(store.load('a'))).toEqual(cursorAt(1));
    expect(await all(store.parked('a'))).toEqual([]);
  });

  it('reads what was put aside while that changes', async () => {
    const store = indexedDbStore({ database: another() });
    for (const offset of [1, 2, 3]) await got(store.park('a', offset, { offset }, undefined));
    const parked = store.parked('a');
    if (!(Symbol.asyncIterator in parked)) throw new Error('read at once');
    const seen: unknown[] = [];
    for await (const value of parked) {
      seen.push(value);
      await got(store.unpark('a', 2, undefined));
    }
    expect(seen).toEqual([{ offset: 1 }, { offset: 3 }]);
  });
});
