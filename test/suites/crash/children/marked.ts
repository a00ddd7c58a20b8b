import { defer, map, tap, type Observable } from 'rxjs';
import type { CheckpointStore, TransactionalStore, Transactions } from '../../../../src/process/CheckpointStore.js';
import { mark } from './marks.js';

/** A store that tells what it is doing. */
export const marked = <Tx>(store: CheckpointStore<Tx>): CheckpointStore<Tx> => ({
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

/** A store with transactions that tells what it is doing. */
export const markedTransactional = <Tx>(store: TransactionalStore<Tx>): TransactionalStore<Tx> => ({
  ...marked(store),
  transactions: store.transactions,
  hold: (name) =>
    defer(() => {
      mark('h');
      return store.hold(name);
    }).pipe(map(markedTransactions)),
});

const markedTransactions = <Tx>(transactions: Transactions<Tx>): Transactions<Tx> => ({
  transact: <A>(work: (tx: Tx) => Observable<A>) =>
    defer(() => {
      mark('b');
      return transactions.transact(work);
    }),
});
