import { deleteDB } from 'idb';
import { lastValueFrom, from, toArray, type ObservableInput } from 'rxjs';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import type { Cursor } from '../../src/process/Cursor.js';

/** The results of the run in the browser. */
export interface SeenInBrowser {
  readonly before: readonly unknown[];
  readonly loaded: readonly unknown[];
  readonly parked: readonly unknown[];
  readonly unparked: readonly unknown[];
  readonly afterDeletion: readonly unknown[];
  /** The result of saves that were called at the same time. */
  readonly last: readonly unknown[];
  /** How long a save takes, in milliseconds. */
  readonly msPerSave: number;
}

const all = (result: ObservableInput<unknown>): Promise<unknown[]> => lastValueFrom(from(result).pipe(toArray()));
const cursorAt = (offset: number): Cursor => ({ version: 1, offset, recordTimes: {}, selection: 'any' });

/** Runs in a page: two stores of one database, as two tabs have them. */
async function run(): Promise<SeenInBrowser> {
  const [store, other] = [indexedDbStore(), indexedDbStore()];
  const before = await all(store.load('a'));
  await all(store.save('a', cursorAt(1), undefined));
  const loaded = await all(other.load('a'));
  for (const offset of [10, 9, Number.MAX_SAFE_INTEGER, 0]) await all(store.park('a', offset, { offset }, undefined));
  await all(store.park('b', 5, { offset: 5 }, undefined));
  const parked = await all(other.parked('a'));
  const unparked = [...(await all(store.unpark('a', 9, undefined))), ...(await all(other.unpark('a', 9, undefined)))];
  // both stores have the database open, and the deletion must not wait for them
  await deleteDB('canton-rx');
  const afterDeletion = await all(store.load('a'));
  const startedAt = performance.now();
  for (let offset = 0; offset < 50; offset++) await all(store.save('a', cursorAt(offset), undefined));
  const msPerSave = (performance.now() - startedAt) / 50;
  await Promise.all(Array.from({ length: 50 }, (_, offset) => all(store.save('a', cursorAt(offset), undefined))));
  const last = await all(other.load('a'));
  return { before, loaded, parked, unparked, afterDeletion, last, msPerSave };
}

Object.assign(globalThis, { seen: run() });
