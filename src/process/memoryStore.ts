import { BehaviorSubject, concatMap, defer, finalize, first, NEVER, type Observable, startWith } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { CheckpointStore, Cursor } from './CheckpointStore.js';
import { checkParked } from './checkParked.js';

/**
 * Returns a store in memory, for tests and for processors that may start over with each process. It stores copies, so
 * changing a record that was saved or loaded does not change the store.
 *
 * @returns an empty store that shares no data with others
 *
 * @example
 * ```ts
 * import { firstValueFrom, from } from 'rxjs';
 * import { memoryStore } from 'canton-rx/process';
 *
 * const store = memoryStore();
 * store.save('orders', { version: 1, offset: 7, recordTimes: {}, selection: 'any' });
 *
 * console.log(JSON.stringify(await firstValueFrom(from(store.load('orders')))));
 * // => {"version":1,"offset":7,"recordTimes":{},"selection":"any"}
 * ```
 *
 * @category Stores
 */
export function memoryStore(): Required<CheckpointStore> {
  const cursors = new Map<string, Cursor>();
  const parkedByName = new Map<string, Map<Offset, unknown>>();
  const parkedOf = (name: string): Map<Offset, unknown> => {
    const parked = parkedByName.get(name) ?? new Map<Offset, unknown>();
    parkedByName.set(name, parked);
    return parked;
  };
  return {
    load: (name) => [structuredClone(cursors.get(name))],
    save: (name, cursor) => {
      cursors.set(name, structuredClone(cursor));
      return [];
    },
    park: (name, offset, parked) => {
      checkParked(name, offset, parkedOf(name).get(offset), parked);
      parkedOf(name).set(offset, structuredClone(parked));
      return [];
    },
    parked: (name) => [...parkedOf(name)].sort(([a], [b]) => a - b).map(([, parked]) => structuredClone(parked)),
    unpark: (name, offset) => [parkedOf(name).delete(offset)],
    hold: (name, standBy) => holdName(cursors, name, standBy),
  };
}

/** The runs that hold or wait for a name: the first one holds it. */
type Queue = BehaviorSubject<readonly object[]>;

/** The queues of an owner, which is a store, by name. A queue without runs is removed. */
const queuesByOwner = new WeakMap<object, Map<string, Queue>>();

/**
 * Waits until no other run of this process holds a name of a store, then holds it and emits once. Unsubscribing
 * releases it. Runs get the name in the order in which they subscribed.
 *
 * @param owner - the store, or an object that stands for stores with the same content
 * @param standBy - called if another run holds the name
 */
export const holdName = (owner: object, name: string, standBy?: () => void): Observable<unknown> =>
  defer(() => {
    const queues = queuesByOwner.get(owner) ?? new Map<string, Queue>();
    queuesByOwner.set(owner, queues);
    const queue: Queue = queues.get(name) ?? new BehaviorSubject<readonly object[]>([]);
    queues.set(name, queue);
    const run = {};
    queue.next([...queue.value, run]);
    if (queue.value[0] !== run) standBy?.();
    return queue.pipe(
      first(([holder]) => holder === run),
      concatMap(() => NEVER.pipe(startWith(run))),
      finalize(() => {
        const rest = queue.value.filter((other) => other !== run);
        if (rest.length === 0) queues.delete(name);
        queue.next(rest);
      }),
    );
  });
