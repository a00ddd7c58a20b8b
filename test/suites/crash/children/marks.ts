import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { defer, map, type Observable, tap } from 'rxjs';
import type { CheckpointStore, TransactionalStore, Transactions } from '../../../../src/process/CheckpointStore.js';
import type { Work } from '../../../../src/process/ProcessOptions.js';

/** The phases of a process, each with the letter that marks it. The last mark is written even when the process is killed. */
export const phases = {
  h: 'hold',
  l: 'load',
  b: 'begin',
  u: 'handler',
  r: 'reset',
  x: 'selection',
  p: 'snapshot',
  s: 'save',
  c: 'commit',
  d: 'committed',
  a: 'decision',
  w: 'submission',
  k: 'action',
} as const;
export type Mark = keyof typeof phases;

/** Writes a mark at once: no buffer loses it when the process is killed. */
export const mark = (letter: Mark, times = 1): void => {
  writeSync(1, letter.repeat(times));
  // a save and a commit take less time than a kill needs: now and then the process stops before them
  if ((letter === 's' || letter === 'c') && Math.random() < 0.3) Atomics.wait(stopped, 0, 0, 20);
};

const stopped = new Int32Array(new SharedArrayBuffer(4));

/** A hash of an update's content, to compare it by. */
export const hashOf = (update: Work): string => createHash('sha256').update(JSON.stringify(update)).digest('hex');

/** The id of an update; every update of the sandbox has one. */
export const idOf = (update: Work): string => ('updateId' in update ? update.updateId : '');

/** A store that marks its phases. */
export const markStore = <Tx>(store: CheckpointStore<Tx>): CheckpointStore<Tx> => ({
  load: (name) => {
    mark('l');
    return store.load(name);
  },
  save: (name, cursor, tx) =>
    defer(() => {
      mark('s');
      return store.save(name, cursor, tx);
    }).pipe(
      tap({
        complete: () => {
          mark('c');
        },
      }),
    ),
});

/** A store with transactions that marks its phases. */
export const markTransactionalStore = <Tx>(store: TransactionalStore<Tx>): TransactionalStore<Tx> => ({
  ...markStore(store),
  transactions: store.transactions,
  hold: (name, standBy) =>
    defer(() => {
      mark('h');
      return store.hold(name, () => {
        mark('h');
        standBy?.();
      });
    }).pipe(map(markTransactions)),
});

const markTransactions = <Tx>(transactions: Transactions<Tx>): Transactions<Tx> => ({
  transact: <A>(work: (tx: Tx) => Observable<A>) =>
    defer(() => {
      mark('b');
      return transactions.transact(work);
    }),
});
