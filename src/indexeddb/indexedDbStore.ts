import { type DBSchema, type IDBPDatabase, openDB } from 'idb';
import type { Offset } from '../codecs/scalars.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';

/** Where in IndexedDB a store is. */
export interface IndexedDbOptions {
  /**
   * The name of the database.
   *
   * @defaultValue 'canton-rx'
   */
  readonly database?: string | undefined;
}

/** A write is over when it has reached the disk, not when the operating system has it. */
const strict = { durability: 'strict' } as const;

/**
 * A store in IndexedDB, for pages and workers. What is saved outlasts the page; the browser may delete it when space is
 * short, unless the page has asked for `navigator.storage.persist()`.
 *
 * Two tabs that process under one name both do the work, and save over each other: nobody holds the name. Give each its own
 * name, or let one of them do it, with `navigator.locks` for instance. What IndexedDB refuses rejects with its `DOMException`.
 *
 * @param options - which database
 *
 * @example
 * ```ts
 * import 'fake-indexeddb/auto'; // outside browsers
 * import { firstValueFrom, from, lastValueFrom } from 'rxjs';
 * import { indexedDbStore } from 'canton-rx/indexeddb';
 *
 * const store = indexedDbStore({ database: 'places' });
 * await lastValueFrom(from(store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' })));
 *
 * console.log(await firstValueFrom(from(store.load('orders'))));
 * // => { version: 1, offset: 7, recordTimes: {}, selection: 'any' }
 * ```
 */
export function indexedDbStore({ database = 'canton-rx' }: IndexedDbOptions = {}): Required<CheckpointStore> {
  const using = connectionTo(database);
  return {
    load: (name) => using((db) => db.get('cursors', name)),

    save: (name, cursor) =>
      using(async (db) => {
        const { store, done } = db.transaction('cursors', 'readwrite', strict);
        await Promise.all([store.put(cursor, name), done]);
      }),

    park: (name, offset, parked) =>
      using(async (db) => {
        const { store, done } = db.transaction('parked', 'readwrite', strict);
        await Promise.all([store.put(parked, [name, offset]), done]);
      }),

    async *parked(name) {
      let after = -1;
      for (;;) {
        const rest = IDBKeyRange.bound([name, after], [name, Infinity], true);
        // a transaction does not wait for whoever handles what it emitted: each one looks anew
        const [found] = await using((db) => {
          const { store, done } = db.transaction('parked');
          return Promise.all([store.openCursor(rest), done]);
        });
        if (found === null) return;
        yield found.value;
        after = found.key[1];
      }
    },

    unpark: (name, offset) =>
      using(async (db) => {
        const { store, done } = db.transaction('parked', 'readwrite', strict);
        const key: [string, number] = [name, offset];
        const [found] = await Promise.all([store.count(key), store.delete(key), done]);
        return found > 0;
      }),
  };
}

/** What the database has. */
interface Schema extends DBSchema {
  /** Cursors by name. */
  readonly cursors: { readonly key: string; readonly value: unknown };
  /** What was put aside, by name and offset: in the order of the keys. */
  readonly parked: { readonly key: [name: string, offset: Offset]; readonly value: unknown };
}

type Database = IDBPDatabase<Schema>;

/**
 * Works with a database that is opened when it is first needed, and once more after the connection was lost or has
 * failed. Who wants to delete the database, or to change its version, need not wait for a page that has it open.
 */
function connectionTo(database: string): <A>(work: (db: Database) => Promise<A>) => Promise<A> {
  let current: Promise<Database> | undefined;
  const drop = (connection: Promise<Database>): void => {
    if (current === connection) current = undefined;
    // what is under way is done before it closes
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
      // some browsers do not tell of a connection that was lost: it fails from then on
      drop(connection);
      throw error;
    }
  };
}

function upgrade(db: Database): void {
  db.createObjectStore('cursors');
  db.createObjectStore('parked');
}
