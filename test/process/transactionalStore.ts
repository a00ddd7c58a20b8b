import { concatMap, defer, last, NEVER, Observable, of } from 'rxjs';
import { StoreError } from '../../src/errors/process.js';
import type { Cursor, TransactionalStore, Transactions } from '../../src/process/CheckpointStore.js';

/** A transaction: the effects of handlers, parked updates, and the cursor. */
export interface Tx {
  readonly effects: number[];
  readonly parked: Map<number, unknown>;
  json: string | undefined;
}

/** The result of a commit: done; failed; done, but reported as failed (`'lost'`); or to be repeated (`'again'`). */
export type Fate = 'committed' | 'failed' | 'lost' | 'again';

/** A transactional store in memory. `fate$` determines the result and the time of each commit. */
export class MemoryTransactions implements TransactionalStore<Tx> {
  transactionCount = 0;
  holders = 0;
  /** The maximum number of holders, and of open transactions, at the same time. */
  maxHolders = 0;
  maxOpen = 0;
  private open = 0;

  constructor(
    private readonly fate$: (n: number) => Observable<Fate> = () => of('committed'),
    /** Emits when the name is lost. */
    private readonly lost$: Observable<unknown> = NEVER,
    readonly committed: Tx = { effects: [], parked: new Map(), json: undefined },
  ) {}

  get cursor(): Cursor | undefined {
    return this.committed.json === undefined ? undefined : (JSON.parse(this.committed.json) as Cursor);
  }

  load(): Observable<unknown> {
    return defer(() => of(this.cursor));
  }

  save(_: string, cursor: Cursor, tx: Tx): Observable<unknown> {
    return defer(() => {
      tx.json = JSON.stringify(cursor);
      return of(undefined);
    });
  }

  park(_: string, offset: number, parked: unknown, tx: Tx): Observable<unknown> {
    return defer(() => of(tx.parked.set(offset, parked)));
  }

  hold(): Observable<Transactions<Tx>> {
    return new Observable((subscriber) => {
      this.holders += 1;
      this.maxHolders = Math.max(this.maxHolders, this.holders);
      subscriber.add(() => {
        this.holders -= 1;
      });
      subscriber.add(
        this.lost$.subscribe(() => {
          subscriber.error(new Error('the name is lost'));
        }),
      );
      subscriber.next(this.transactions);
    });
  }

  readonly transactions: Transactions<Tx> = {
    transact: <A>(work: (tx: Tx) => Observable<A>): Observable<A> =>
      new Observable<A>((subscriber) => {
        this.open += 1;
        this.maxOpen = Math.max(this.maxOpen, this.open);
        subscriber.add(() => {
          this.open -= 1;
        });
        subscriber.add(this.attempt(work).subscribe(subscriber));
      }),
  };

  private attempt<A>(work: (tx: Tx) => Observable<A>): Observable<A> {
    return defer(() => {
      const tx: Tx = { effects: [], parked: new Map(), json: undefined };
      const n = (this.transactionCount += 1);
      return work(tx).pipe(
        last(undefined, undefined),
        concatMap((result) =>
          this.fate$(n).pipe(
            concatMap((fate) => {
              if (fate === 'again') return this.attempt(work);
              if (fate === 'failed') throw new StoreError('commit', '', 'the database is gone');
              // with 'lost', the client gets an error although the transaction is committed
              this.commit(tx);
              if (fate === 'lost') throw new StoreError('commit', '', 'the connection is lost');
              return result === undefined ? [] : [result];
            }),
          ),
        ),
      );
    });
  }

  private commit(tx: Tx): void {
    this.committed.effects.push(...tx.effects);
    for (const [offset, parked] of tx.parked) this.committed.parked.set(offset, parked);
    this.committed.json = tx.json ?? this.committed.json;
  }
}

/** The same store, which holds a name in another way. */
export const holdingBy = (
  store: MemoryTransactions,
  hold: TransactionalStore<Tx>['hold'],
  transactions = store.transactions,
): TransactionalStore<Tx> => ({
  hold,
  transactions,
  load: () => store.load(),
  save: (...args) => store.save(...args),
});
