import type { DBSchema } from 'idb';
import type { Offset } from '../codecs/Offset.js';

/** What the database has. */
export interface Schema extends DBSchema {
  /** Cursors by name. */
  readonly cursors: { readonly key: string; readonly value: unknown };
  /** What was put aside, by name and offset: in the order of the keys. */
  readonly parked: { readonly key: [name: string, offset: Offset]; readonly value: unknown };
}
