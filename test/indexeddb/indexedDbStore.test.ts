import 'fake-indexeddb/auto';
import { describe, expect, it, jest } from '@jest/globals';
import { deleteDB, openDB } from 'idb';
import { Subscription } from 'rxjs';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import { allValues, cursorAt, lastValue, testStore } from '../process/storeContract.js';

let databases = 0;
const newDatabase = (): string => `test-${databases++}`;

describe('indexedDbStore', () => {
  testStore(() => indexedDbStore({ database: newDatabase() }));

  it('has the same content in the same database, and none in another', async () => {
    const database = newDatabase();
    await lastValue(indexedDbStore({ database }).save('a', cursorAt(1), undefined));
    await lastValue(indexedDbStore({ database }).park('a', 7, { offset: 7 }, undefined));
    expect(await lastValue(indexedDbStore({ database }).load('a'))).toEqual(cursorAt(1));
    expect(await allValues(indexedDbStore({ database }).parked('a'))).toEqual([{ offset: 7 }]);
    expect(await lastValue(indexedDbStore({ database: newDatabase() }).load('a'))).toBeUndefined();
  });

  it('uses the database canton-rx by default', async () => {
    await lastValue(indexedDbStore().save('a', cursorAt(1), undefined));
    expect((await indexedDB.databases()).map(({ name }) => name)).toContain('canton-rx');
  });

  it('opens no database before it is used', async () => {
    const database = newDatabase();
    indexedDbStore({ database });
    expect((await indexedDB.databases()).map(({ name }) => name)).not.toContain(database);
  });

  it('writes with strict durability', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    await lastValue(store.load('a'));
    const transaction = jest.spyOn(IDBDatabase.prototype, 'transaction');
    await lastValue(store.save('a', cursorAt(1), undefined));
    await lastValue(store.park('a', 1, {}, undefined));
    await lastValue(store.unpark('a', 1, undefined));
    expect(transaction.mock.calls.map(([, mode, options]) => [mode, options])).toEqual(
      Array.from({ length: 3 }, () => ['readwrite', { durability: 'strict' }]),
    );
    transaction.mockRestore();
  });

  it('rejects once if a transaction is aborted while it parks, and leaves no rejection that nothing handles', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    await lastValue(store.load('a'));
    const aborted = jest.spyOn(IDBObjectStore.prototype, 'get').mockImplementationOnce(function (this: IDBObjectStore) {
      const request = this.getKey(['a', 1]);
      // as a browser does that has no room, or loses the file
      this.transaction.abort();
      return request;
    });
    await expect(lastValue(store.park('a', 1, {}, undefined))).rejects.toMatchObject({ name: 'AbortError' });
    // Node.js reports a rejection after the turn in which nothing has handled it
    await new Promise((resolve) => setImmediate(resolve));
    aborted.mockRestore();
    await lastValue(store.park('a', 1, {}, undefined));
    expect(await allValues(store.parked('a'))).toEqual([{}]);
  });

  it('allows the database to be deleted, and opens it again', async () => {
    const database = newDatabase();
    const store = indexedDbStore({ database });
    await lastValue(store.save('a', cursorAt(1), undefined));
    await deleteDB(database);
    expect(await lastValue(store.load('a'))).toBeUndefined();
    await lastValue(store.save('a', cursorAt(2), undefined));
    expect(await lastValue(indexedDbStore({ database }).load('a'))).toEqual(cursorAt(2));
  });

  it('allows a later version of the database to be opened, and errors from then on', async () => {
    const database = newDatabase();
    const store = indexedDbStore({ database });
    await lastValue(store.save('a', cursorAt(1), undefined));
    const blocked = jest.fn();
    const later = await openDB(database, 2, { blocked });
    expect(blocked).not.toHaveBeenCalled();
    for (let turn = 0; turn < 2; turn++)
      await expect(lastValue(store.load('a'))).rejects.toMatchObject({ name: 'VersionError' });
    later.close();
  });

  it('opens the database again after a failure', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    const open = jest.spyOn(indexedDB, 'open').mockImplementationOnce(() => {
      throw new Error('not now');
    });
    await expect(lastValue(store.load('a'))).rejects.toThrow('not now');
    expect(await lastValue(store.load('a'))).toBeUndefined();
    expect(open).toHaveBeenCalledTimes(2);
    await lastValue(store.load('a'));
    expect(open).toHaveBeenCalledTimes(2);
    open.mockRestore();
  });

  it('opens the database again after a connection was lost without an event', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    await lastValue(store.save('a', cursorAt(1), undefined));
    const lost = jest.spyOn(IDBDatabase.prototype, 'transaction').mockImplementationOnce(() => {
      throw new DOMException('the connection is closing', 'InvalidStateError');
    });
    const open = jest.spyOn(indexedDB, 'open');
    await expect(lastValue(store.load('a'))).rejects.toMatchObject({ name: 'InvalidStateError' });
    expect(await lastValue(store.load('a'))).toEqual(cursorAt(1));
    expect(open).toHaveBeenCalledTimes(1);
    lost.mockRestore();
    open.mockRestore();
  });

  it('rejects with the error of IndexedDB, and keeps the old cursor', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    await lastValue(store.save('a', cursorAt(1), undefined));
    await expect(lastValue(store.park('a', 1, () => undefined, undefined))).rejects.toMatchObject({
      name: 'DataCloneError',
    });
    expect(await lastValue(store.load('a'))).toEqual(cursorAt(1));
    expect(await allValues(store.parked('a'))).toEqual([]);
  });

  it('holds a name for one store of a page without navigator.locks', () => {
    const database = newDatabase();
    const hold = (name: string, db = database): { isHeld: boolean; readonly subscription: Subscription } => {
      const holder = { isHeld: false, subscription: new Subscription() };
      holder.subscription.add(
        indexedDbStore({ database: db })
          .hold(name)
          .subscribe(() => {
            holder.isHeld = true;
          }),
      );
      return holder;
    };
    const [first, second, otherName, otherDatabase] = [hold('a'), hold('a'), hold('b'), hold('a', newDatabase())];
    const isHeld = (): readonly boolean[] => [first, second, otherName, otherDatabase].map((holder) => holder.isHeld);
    expect(isHeld()).toEqual([true, false, true, true]);
    first.subscription.unsubscribe();
    expect(isHeld()).toEqual([true, true, true, true]);
  });

  it('reads parked updates while they change', async () => {
    const store = indexedDbStore({ database: newDatabase() });
    for (const offset of [1, 2, 3]) await lastValue(store.park('a', offset, { offset }, undefined));
    const parked = store.parked('a');
    if (!(Symbol.asyncIterator in parked)) throw new Error('read at once');
    const seen: unknown[] = [];
    for await (const value of parked) {
      seen.push(value);
      await lastValue(store.unpark('a', 2, undefined));
    }
    expect(seen).toEqual([{ offset: 1 }, { offset: 3 }]);
  });
});
