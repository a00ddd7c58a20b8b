import { openDB, type DBSchema } from 'idb';
import type { Identity } from './identity';

interface Schema extends DBSchema {
  readonly identities: { readonly key: string; readonly value: Identity };
}

const open = () =>
  openDB<Schema>('explorer-keys', 1, {
    upgrade: (db) => void db.createObjectStore('identities', { keyPath: 'party' }),
  });

/** The stored identities of this browser. Keys are stored as key objects, not as bytes, and cannot be exported. */
export const keyBox = {
  all: async (): Promise<readonly Identity[]> => {
    const db = await open();
    const identities = await db.getAll('identities');
    db.close();
    return identities;
  },
  add: async (identity: Identity): Promise<void> => {
    const db = await open();
    await db.put('identities', identity);
    db.close();
  },
};
