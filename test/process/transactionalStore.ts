import { concatMap, defer, last, map, NEVER, Observable, of, tap } from 'rxjs';
import { StoreError } from '../../src/errors/process.js';
import type { Cursor } from '../../src/process/Cursor.js';
import type { TransactionalStore, Transactions } from '../../src/process/CheckpointStore.js';

/** What a handler does in a transaction, and where its place goes. */
export interface Tx {
  readonly effects: number[];
  readonly aside: Map<number, unknown>;
  json: string | undefined;
}

/** What becomes of a transaction: it is committed, or fails; or the database asks for it once more. */
export type Fate = 'committed' | 'failed' | 'lost' | 'again';

/** Effects and places in the memory of a test, committed together; `fate$` says how, and when. */
export class MemoryTransactions implements TransactionalStore<Tx> {
  begun = 0;
  holders = 0;
  /** The most that held the name, or were in a transaction, at a time. */
  mostHolders = 0;
  mostOpen = 0;
  private open = 0;

  constructor(
    private readonly fate$: (n: number) => Observable<Fate> = () => of('committed'),
    /** Emits when the name is lost. */
    private readonly lost$: Observable<unknown> = NEVER,
    readonly committed: Tx = { effects: [], aside: new Map(), json: undefined },
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
    return defer(() => of(tx.aside.set(offset, parked)));
  }

  hold(): Observable<Transactions<Tx>> {
    return new Observable((subscriber) => {
      this.holders += 1;
      this.mostHolders = Math.max(this.mostHolders, this.holders);
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
        this.mostOpen = Math.max(this.mostOpen, this.open);
        subscriber.add(() => {
          this.open -= 1;
        });
        subscriber.add(this.attempt(work).subscribe(subscriber));
      }),
  };

  private attempt<A>(work: (tx: Tx) => Observable<A>): Observable<A> {
    return defer(() => {
      const tx: Tx = { effects: [], aside: new Map(), json: undefined };
      const n = (this.begun += 1);
      return work(tx).pipe(
        last(undefined, undefined),
        concatMap((result) =>
          this.fate$(n).pipe(
            concatMap((fate) => {
              if (fate === 'again') return this.attempt(work);
              if (fate === 'failed') throw new StoreError('commit', '', 'the database is gone');
              // what the client does not learn
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
    for (const [offset, parked] of tx.aside) this.committed.aside.set(offset, parked);
    this.committed.json = tx.json ?? this.committed.json;
  }
}

/** A handler whose effects are in the transaction. */
export const effecting =
  (done$: (offset: number) => Observable<unknown> = () => of(true)) =>
  ({ offset }: { readonly offset: number }, tx: Tx): Observable<unknown> =>
    done$(offset).pipe(
      map(() => offset),
      tap(() => tx.effects.push(offset)),
    );
