import 'fake-indexeddb/auto';
import { describe, expect, it } from '@jest/globals';
import { switchMap, take, timer } from 'rxjs';
import { fileStore } from '../../src/file/index.js';
import { indexedDbStore } from '../../src/indexeddb/index.js';
import { memoryStore } from '../../src/process/index.js';
import type { CheckpointStore } from '../../src/process/CheckpointStore.js';
import type { Work } from '../../src/process/ProcessOptions.js';
import { folders } from '../file/folders.js';
import { until as eventually } from '../helpers/time.js';
import { upTo } from '../helpers/world.js';
import { lastValue } from './storeContract.js';
import { name, processWorld } from './support.js';

const folder = folders();

describe.each<[string, () => Promise<() => CheckpointStore>]>([
  [
    'memoryStore',
    () => {
      const store = memoryStore();
      return Promise.resolve(() => store);
    },
  ],
  [
    'fileStore',
    async () => {
      const base = await folder();
      return () => fileStore(base);
    },
  ],
  ['indexedDbStore', () => Promise.resolve(() => indexedDbStore({ database: 'switched' }))],
])('runs of one name that are switched, with %s', (_, openStores) => {
  it('handle one update at a time, each update once, and never move the cursor back (G37)', async () => {
    const open = await openStores();
    const { process } = processWorld(60);
    const handled: number[] = [];
    const saved: number[] = [];
    let running = 0;
    let most = 0;
    const handle = async ({ offset }: Work): Promise<void> => {
      running += 1;
      most = Math.max(most, running);
      await lastValue(timer(15));
      running -= 1;
      handled.push(offset);
    };
    /** Another store of the same content for each run, which notes its saves. */
    const recorded = (): CheckpointStore => {
      const store = open();
      return {
        ...store,
        save: async (key, cursor) => {
          await lastValue(store.save(key, cursor, undefined));
          saved.push(cursor.offset);
        },
      };
    };
    const switched = timer(0, 130)
      .pipe(
        take(5),
        switchMap(() => process(handle, { store: recorded(), name })),
      )
      .subscribe();
    await eventually(() => saved.at(-1) === 60);
    switched.unsubscribe();
    expect(most).toBe(1);
    expect(handled).toEqual(upTo(60));
    expect(saved).toEqual(saved.toSorted((a, b) => a - b));
  });
});
