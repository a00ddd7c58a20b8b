import type { Offset } from '../codecs/scalars.js';
import type { CheckpointStore } from './CheckpointStore.js';
import type { Cursor } from './Cursor.js';

/**
 * A store in memory, for tests and for what may begin anew with each process. It keeps copies: nobody changes what was
 * saved.
 *
 * @returns a store that is empty, and shares nothing with others
 *
 * @example
 * ```ts
 * import { firstValueFrom, from } from 'rxjs';
 * import { memoryStore } from 'canton-rx';
 *
 * const store = memoryStore();
 * store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' });
 *
 * console.log(JSON.stringify(await firstValueFrom(from(store.load('orders')))));
 * // => {"version":1,"offset":7,"recordTimes":{},"selection":"any"}
 * ```
 */
export function memoryStore(): Required<CheckpointStore> {
  const cursors = new Map<string, Cursor>();
  const aside = new Map<string, Map<Offset, unknown>>();
  const asideOf = (name: string): Map<Offset, unknown> => {
    const found = aside.get(name) ?? new Map<Offset, unknown>();
    aside.set(name, found);
    return found;
  };
  return {
    load: (name) => [structuredClone(cursors.get(name))],
    save: (name, cursor) => {
      cursors.set(name, structuredClone(cursor));
      return [];
    },
    park: (name, offset, parked) => {
      asideOf(name).set(offset, structuredClone(parked));
      return [];
    },
    parked: (name) => [...asideOf(name)].sort(([a], [b]) => a - b).map(([, parked]) => structuredClone(parked)),
    unpark: (name, offset) => [asideOf(name).delete(offset)],
  };
}
