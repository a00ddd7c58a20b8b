import { openDB, type IDBPDatabase } from 'idb';
import type { Schema } from './Schema.js';

type Database = IDBPDatabase<Schema>;

/**
 * Works with a database that is opened when it is first needed, and once more after the connection was lost or has
 * failed. Who wants to delete the database, or to change its version, need not wait for a page that has it open.
 */
export function connectionTo(database: string): <A>(work: (db: Database) => Promise<A>) => Promise<A> {
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
