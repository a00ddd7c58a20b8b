import { deleteDB } from 'idb';
import { lastValueFrom, from, toArray, type ObservableInput } from 'rxjs';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import type { Cursor } from '../../src/process/CheckpointStore.js';

/** The results of the run in the browser. */
export interface SeenInBrowser {
  readonly before: readonly unknown[];
  readonly loaded: readonly unknown[];
  readonly parked: readonly unknown[];
  readonly unparked: readonly unknown[];
  readonly afterDeletion: readonly unknown[];
  /** The result of saves that were called at the same time. */
  readonly last: readonly unknown[];
  /** Which of two holders of a name of this page, and a third one of another page, hold it: at first, and after the first one. */
  readonly held: readonly (readonly boolean[])[];
  /** The locks that are held or requested in the end. */
  readonly locks: number;
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
  return { before, loaded, parked, unparked, afterDeletion, last, msPerSave, ...(await holdInTurn()) };
}

/** Holds a name by two stores of this page, which another page then requests, too. */
async function holdInTurn(): Promise<Pick<SeenInBrowser, 'held' | 'locks'>> {
  const frame = document.createElement('iframe');
  document.body.append(frame);
  const otherPage = frame.contentWindow?.navigator.locks;
  /** Whether another page could get the only lock that is held. */
  const isFree = async (): Promise<boolean> => {
    const { held = [] } = await navigator.locks.query();
    const name = held[0]?.name ?? '';
    return (await otherPage?.request(name, { ifAvailable: true }, (lock) => lock !== null)) ?? true;
  };
  const isHeld = [false, false];
  const [first, second] = [indexedDbStore(), indexedDbStore()].map((store, index) =>
    store.hold('a').subscribe(() => {
      isHeld[index] = true;
    }),
  );
  const stopped = indexedDbStore().hold('a').subscribe();
  const untilHeld = async (index: number): Promise<readonly boolean[]> => {
    while (isHeld[index] !== true) await navigator.locks.query();
    return [...isHeld, await isFree()];
  };
  const before = await untilHeld(0);
  first?.unsubscribe();
  const after = await untilHeld(1);
  stopped.unsubscribe();
  second?.unsubscribe();
  for (;;) {
    const { held = [], pending = [] } = await navigator.locks.query();
    if (held.length === 0) return { held: [before, after], locks: held.length + pending.length };
  }
}

Object.assign(globalThis, { seen: run() });
