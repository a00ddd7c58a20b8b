import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { checkParked } from '../process/checkParked.js';
import { holdName } from '../process/memoryStore.js';

/**
 * Options of {@link indexedDbStore}.
 *
 * @category Stores
 */
export interface IndexedDbOptions {
  /**
   * The name of the database.
   *
   * @defaultValue 'canton-rx'
   */
  readonly database?: string | undefined;
}

/** A write completes when it is on disk, not when it is in a buffer of the operating system. */
const strict = { durability: 'strict' } as const;

/**
 * Returns a store in IndexedDB, for pages and workers. It survives the page, but the browser may delete it when storage
 * runs short, unless the page has called `navigator.storage.persist()`.
 *
 * Of several processors with the same name and database, one works, and the others wait until it has ended. With
 * `navigator.locks` this applies to all tabs and workers of an origin. Pages over plain HTTP lack it: there it applies to
 * one page, and two tabs with the same name overwrite each other's cursor. An error of IndexedDB rejects with its
 * `DOMException`.
 *
 * @param options - the name of the database
 *
 * @example
 * ```ts
 * import 'fake-indexeddb/auto'; // outside browsers
 * import { firstValueFrom, from, lastValueFrom } from 'rxjs';
 * import { indexedDbStore } from 'canton-rx/indexeddb';
 *
 * const store = indexedDbStore({ database: 'cursors' });
 * await lastValueFrom(from(store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' })));
 *
 * console.log(await firstValueFrom(from(store.load('orders'))));
 * // => { version: 1, offset: 7, recordTimes: {}, selection: 'any' }
 * ```
 *
 * @category Stores
 */
export function indexedDbStore({ database = 'canton-rx' }: IndexedDbOptions = {}): Required<CheckpointStore> {
  const withDatabase = connectTo(database);
  return {
    load: (name) => withDatabase((db) => db.get('cursors', name)),

    save: (name, cursor) =>
      withDatabase(async (db) => {
        const { store, done } = db.transaction('cursors', 'readwrite', strict);
        await Promise.all([store.put(cursor, name), done]);
      }),

    park: (name, offset, parked) =>
      withDatabase(async (db) => {
        const { store, done } = db.transaction('parked', 'readwrite', strict);
        const key: [string, number] = [name, offset];
        const checkAndPut = async (): Promise<unknown> => {
          checkParked(name, offset, await store.get(key), parked);
          return store.put(parked, key);
        };
        // together: if the transaction is aborted while it reads, nothing else would handle the rejection of its end
        await Promise.all([checkAndPut(), done]);
      }),

    async *parked(name) {
      let after = -1;
      for (;;) {
        const rest = IDBKeyRange.bound([name, after], [name, Infinity], true);
        // one transaction for each record, because a transaction ends while the subscriber handles the emitted record
        const [found] = await withDatabase((db) => {
          const { store, done } = db.transaction('parked');
          return Promise.all([store.openCursor(rest), done]);
        });
        if (found === null) return;
        yield found.value;
        after = found.key[1];
      }
    },

    unpark: (name, offset) =>
      withDatabase(async (db) => {
        const { store, done } = db.transaction('parked', 'readwrite', strict);
        const key: [string, number] = [name, offset];
        const [found] = await Promise.all([store.count(key), store.delete(key), done]);
        return found > 0;
      }),

    hold: (name, standBy) => {
      const lock = `canton-rx ${JSON.stringify([database, name])}`;
      const locks = locksOf(globalThis);
      return locks === undefined ? holdName(page, lock, standBy) : holdLock(locks, lock, standBy);
    },
  };
}

/** Stands for all stores of this page. */
const page = {};

/** Returns the Web Locks of a page or worker. Those over plain HTTP have none. */
const locksOf = ({ navigator }: { readonly navigator?: { readonly locks?: LockManager } }): LockManager | undefined =>
  navigator?.locks;

/** Waits for a Web Lock, then holds it and emits once. The browser releases it when the page or worker ends. */
const holdLock = (locks: LockManager, name: string, standBy?: () => void): Observable<unknown> =>
  new Observable((subscriber) => {
    const controller = new AbortController();
    let isWaiting = true;
    const whileHeld = (): Promise<void> =>
      new Promise((resolve) => {
        subscriber.add(resolve);
        isWaiting = false;
        subscriber.next(true);
      });
    locks.query().then(
      ({ held = [] }) => {
        if (isWaiting && !subscriber.closed && held.some((lock) => lock.name === name)) standBy?.();
      },
      () => undefined,
    );
    locks.request(name, { signal: controller.signal }, whileHeld).then(
      () => {
        subscriber.complete();
      },
      (error: unknown) => {
        // the lock was stolen, or the page may not use locks
        subscriber.error(error);
      },
    );
    // while it waits; the signal has no effect on a lock that is held
    return () => {
      controller.abort();
    };
  });

/** The schema of the database. */
interface Schema extends DBSchema {
  /** Cursors by name. */
  readonly cursors: { readonly key: string; readonly value: unknown };
  /** Parked updates by name and offset, in this order. */
  readonly parked: { readonly key: [name: string, offset: Offset]; readonly value: unknown };
}

type Database = IDBPDatabase<Schema>;

/**
 * Opens a database on first use, and again after the connection is lost or fails. The connection closes when another
 * page wants to delete the database or change its version, so that the page need not wait.
 */
function connectTo(database: string): <A>(work: (db: Database) => Promise<A>) => Promise<A> {
  let current: Promise<Database> | undefined;
  const drop = (connection: Promise<Database>): void => {
    if (current === connection) current = undefined;
    // open transactions complete before it closes
    connection.then(
      (db) => {
        db.close();
      },
      () => undefined,
    );
  };
  const connect = (): Promise<Database> => {
    const dropThis = (): void => {
      drop(connection);
    };
    const connection = openDB<Schema>(database, 1, { upgrade, blocking: dropThis, terminated: dropThis });
    return connection;
  };
  return async (work) => {
    const connection = (current ??= connect());
    try {
      return await work(await connection);
    } catch (error) {
      // some browsers do not report a lost connection, on which every call fails
      drop(connection);
      throw error;
    }
  };
}

function upgrade(db: Database): void {
  db.createObjectStore('cursors');
  db.createObjectStore('parked');
}
