import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  from,
  ignoreElements,
  isObservable,
  map,
  type Observable,
  type ObservableInput,
  of,
  reduce,
  takeLast,
  tap,
} from 'rxjs';
import type { DiagnosticBody, Report } from '../../diagnostics/Diagnostic.js';
import type { TransactionalStore } from '../CheckpointStore.js';
import type { HandlerResult } from '../ProcessOptions.js';
import { isAsyncIterable, isPromise } from '../Stop.js';

/**
 * Options of {@link runHandler}.
 *
 * @category Testing
 */
export interface RunHandlerOptions<Tx, R> {
  /**
   * A store with transactions, such as a `postgresStore`: the handler gets one of them, which is rolled back. Without it, the handler gets
   * `undefined`, as with a store without transactions, and what it does stays.
   */
  readonly store?: Pick<TransactionalStore<Tx>, 'transactions'> | undefined;
  /** Reads what the handler has written, in the transaction, after all calls. Its last value becomes `found`. */
  readonly find?: ((tx: Tx) => ObservableInput<R>) | undefined;
}

/**
 * What a handler has done.
 *
 * @category Testing
 */
export interface HandlerRun<R> {
  /** For each call, the values of the Observable, the Promise or the iterable that the handler returned. */
  readonly emitted: readonly (readonly unknown[])[];
  /** What the handler has reported, in order. */
  readonly reports: readonly DiagnosticBody[];
  /** The last value of `find`; `undefined` without it. */
  readonly found: R;
}

/**
 * Calls a handler with items of a feed, one after the other and in one transaction, as a processor does, and emits once what it has
 * done. Then the transaction is rolled back: the test leaves nothing, and may run next to others on the same database. Cold.
 *
 * First calls `prepare` of the handler, if it has that function, outside the transaction: its tables stay. Fails with the error of the
 * handler or of the store; nothing is retried.
 *
 * @param handler - a handler of updates, of contracts or of batches
 * @param items - what it is called with: an item for each call, or a list of items for each call of a handler of batches
 * @param options - the store, and what to read before the rollback
 * @example
 * ```ts
 * import type { Update } from 'canton-rx';
 * import { runHandler } from 'canton-rx/process/testing';
 *
 * const update: Update = {
 *   _tag: 'Transaction',
 *   updateId: '1220ab',
 *   offset: 7,
 *   synchronizerId: 'global::1220ab',
 *   effectiveAt: '2026-07-24T10:00:00Z',
 *   recordTime: '2026-07-24T10:00:00.5Z',
 *   events: [],
 * };
 * const handler = async ({ offset }: Update) => Promise.resolve(`handled ${offset}`);
 *
 * runHandler(handler, [update]).subscribe(({ emitted }) => console.log(emitted));
 * // => [ [ 'handled 7' ] ]
 * ```
 *
 * @category Testing
 */
export function runHandler<W, Tx = void, R = undefined>(
  handler: ((work: W, tx: Tx, report?: Report) => HandlerResult | PromiseLike<unknown>) & Preparation,
  items: ObservableInput<NoInfer<W>>,
  { store, find }: RunHandlerOptions<NoInfer<Tx>, R> = {},
): Observable<HandlerRun<R>> {
  return defer(() => {
    // the store repeats a transaction that conflicts with another one
    const callAll = (tx: Tx): Observable<HandlerRun<R>> =>
      defer(() => {
        const reports: DiagnosticBody[] = [];
        const report: Report = (make) => {
          reports.push(make());
        };
        return from(items).pipe(
          concatMap((item) => valuesOf(() => handler(item, tx, report))),
          reduce((all: readonly (readonly unknown[])[], values) => [...all, values], []),
          concatMap((emitted) => {
            const found$ =
              find === undefined ? of(undefined) : defer(() => find(tx)).pipe(takeLast(1), defaultIfEmpty(undefined));
            return found$.pipe(map((found) => ({ emitted, reports, found: found as R })));
          }),
        );
      });
    const run$ = store === undefined ? callAll(undefined as Tx) : rolledBack(store, callAll);
    return concat(defer(() => handler.prepare?.() ?? []).pipe(ignoreElements()), run$);
  });
}

/**
 * What a handler may have in addition.
 *
 * @inline
 */
interface Preparation {
  /** Creates or checks what the handler needs. */
  readonly prepare?: (() => ObservableInput<unknown>) | undefined;
}

/** Carries the result out of a transaction that is rolled back. */
class RolledBack<A> extends Error {
  constructor(readonly result: A) {
    super('rolled back');
  }
}

/** Works in a transaction that is rolled back, and emits the result after that. */
const rolledBack = <Tx, A>(
  { transactions }: Pick<TransactionalStore<Tx>, 'transactions'>,
  work: (tx: Tx) => Observable<A>,
): Observable<A> =>
  transactions
    .transact((tx) =>
      work(tx).pipe(
        tap((result) => {
          throw new RolledBack(result);
        }),
      ),
    )
    .pipe(
      catchError((error: unknown) => {
        if (error instanceof RolledBack) return of(error.result as A);
        throw error;
      }),
    );

/** Emits the values of a result once, when it has ended. Anything else than a source has none. */
const valuesOf = (call: () => unknown): Observable<readonly unknown[]> =>
  defer(() => {
    const result = call();
    const isSource = isObservable(result) || isPromise(result) || isAsyncIterable(result);
    const values$ = isSource ? from(result as ObservableInput<unknown>) : from([]);
    return values$.pipe(reduce((all: readonly unknown[], value) => [...all, value], []));
  });
