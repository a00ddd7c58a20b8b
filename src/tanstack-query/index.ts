/**
 * The contracts of a live view as a query of TanStack Query: `useQuery` and its like show them, and they stay up to date. Needs
 * version 5 of `@tanstack/query-core`, which comes with `@tanstack/react-query` and its like, in addition to `canton-rx`. Runs in
 * browsers and in Node.js.
 *
 * @example
 * ```ts
 * import { QueryClient, QueryObserver } from '@tanstack/query-core';
 * import { createLedger } from 'canton-rx';
 * import { shareContracts } from 'canton-rx/contracts';
 * import { contractsQuery } from 'canton-rx/tanstack-query';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const view = shareContracts(ledger).view({ parties: 'any' });
 * const observer = new QueryObserver(new QueryClient(), contractsQuery(view, { queryKey: ['contracts'] }));
 * observer.subscribe(({ data }) => {
 *   if (data) console.log(`${data.length} contracts`); // Ctrl-C stops it
 * });
 * ```
 *
 * @module canton-rx/tanstack-query
 */

import {
  catchError,
  concat,
  defer,
  EMPTY,
  filter,
  finalize,
  fromEvent,
  ignoreElements,
  map,
  merge,
  Observable,
  of,
  startWith,
  switchMap,
  take,
  takeUntil,
  tap,
  throwError,
} from 'rxjs';
import type { AnyContract } from '../contracts/Contract.js';
import type { LiveContracts } from '../contracts/liveContracts.js';
import { errorOf, keepsContracts } from '../contracts/LiveState.js';
import type { QueryContext, QueryLike } from './QueryContext.js';

export type { QueryCacheLike, QueryContext, QueryLike } from './QueryContext.js';

/**
 * Options of {@link contractsQuery}.
 *
 * @category TanStack
 */
export interface ContractsQueryOptions<C extends AnyContract = AnyContract> {
  /**
   * Identifies the contracts in the cache, so it must differ for another view: name what the view reads. The parties of the view
   * are added at its end, unless they are an Observable.
   */
  readonly queryKey: readonly unknown[];
  /**
   * The order, as for `Array.sort`.
   *
   * @defaultValue the order in which the contracts became known
   */
  readonly compare?: ((a: C, b: C) => number) | undefined;
}

/**
 * The options of a query of TanStack Query, which take the place of those of its `queryOptions`. Spread them to add others, such as
 * `select`, `enabled` or `gcTime`.
 *
 * @category TanStack
 */
export interface ContractsQuery<C extends AnyContract = AnyContract> {
  /** The key of the query, with the parties of the view. */
  readonly queryKey: readonly unknown[];
  /** Resolves with the contracts as soon as they are known, and then writes each change into the cache. */
  readonly queryFn: (context: QueryContext) => Promise<readonly C[]>;
  /** Contracts that are followed are never stale. */
  readonly staleTime: (query: object) => number;
  /** Contracts that are not followed any more, or were read elsewhere, are read again. */
  readonly refetchOnMount: (query: object) => boolean | 'always';
  /** The view itself retries. */
  readonly retry: false;
  /** The view itself waits for the network. */
  readonly networkMode: 'always';
  /** Contracts that have not changed are the same objects already. */
  readonly structuralSharing: false;
}

/**
 * Returns the contracts of a live view as the options of a query, for `useQuery`, `useSuspenseQuery`, `QueryObserver` and their like.
 * The data are all contracts, and change with them.
 *
 * The query follows the view while an enabled observer observes it, such as a mounted component. Then it keeps the last contracts for
 * its `gcTime`, and reads them again for the next observer: at once, if the view is one of `shareContracts`, which keeps it for 30
 * seconds. Without an observer, as on a server, it reads the contracts once. So each page follows contracts that a server has read for
 * it, or that were stored.
 *
 * An error that ends the view is the error of the query. Its data are then absent, except for a `DecodeError`: the user may not be
 * allowed to see them any more. A temporary failure is not an error: the view retries, and `state$` of the view shows them. A refetch
 * of a query that is followed reads nothing. When a user signs out, remove what shows the query, and call `clear()` of the
 * `QueryClient`, as for any query: an observer that stays keeps the last contracts.
 *
 * @param live - the view, from `shareContracts`, `liveContracts`, `contractsFor` or `shareRemoteContracts`
 * @example
 * ```ts
 * import { useQuery } from '@tanstack/react-query';
 * import { contractType, createLedger } from 'canton-rx';
 * import { shareContracts } from 'canton-rx/contracts';
 * import { contractsQuery } from 'canton-rx/tanstack-query';
 * import * as t from 'io-ts';
 *
 * const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string, amount: t.string }));
 * const contracts = shareContracts(createLedger({ baseUrl: 'http://127.0.0.1:7575' }));
 * const iousOf = (party: string) =>
 *   contractsQuery(contracts.view({ types: { iou: Iou }, parties: [party] }), { queryKey: ['ious'] });
 *
 * const Total = ({ party }: { party: string }) => {
 *   const { data, error } = useQuery(iousOf(party));
 *   return error?.message ?? (data ? `${data.length} IOUs` : 'Loading');
 * };
 * ```
 *
 * @category TanStack
 */
export const contractsQuery = <C extends AnyContract>(
  live: LiveContracts<C>,
  { queryKey, compare }: ContractsQueryOptions<C>,
): ContractsQuery<C> => ({
  queryKey: live.parties === undefined ? queryKey : [...queryKey, { parties: live.parties }],
  queryFn: async (context) => {
    const contracts$ = live.all$(compare);
    const query = context.client.getQueryCache().find({ queryKey: context.queryKey });
    // it was removed, and what still has it fetches it again
    if (query === undefined) return first(contracts$);
    try {
      // the contracts in the cache are those of the view
      const read = followed.get(query) as (() => readonly C[]) | undefined;
      return read ? read() : await follow(contracts$, query, context);
    } catch (error) {
      if (!keepsContracts(error)) query.setState({ data: undefined, status: 'pending' });
      throw error;
    }
  },
  staleTime,
  refetchOnMount,
  retry: false,
  networkMode: 'always',
  structuralSharing: false,
});

/** The queries that are followed, each with a function that returns its contracts, or throws the error that has ended its view. */
const followed = new WeakMap<object, () => readonly AnyContract[]>();

// the same functions for each call, so that observers see no other options

const staleTime = (query: object): number => (followed.has(query) ? Infinity : 0);

/** With `suspense`, data are fresh for a second, whatever their stale time is. */
const refetchOnMount = (query: object): boolean | 'always' => (followed.has(query) ? false : 'always');

/** Resolves with the first value. */
const first = <A>(values$: Observable<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    values$.pipe(take(1)).subscribe({ next: resolve, error: reject });
  });

/** Resolves with the first contracts, and writes the later ones into the cache for as long as the query is observed. */
const follow = <C extends AnyContract>(
  contracts$: Observable<readonly C[]>,
  query: QueryLike,
  { client, queryKey, signal }: QueryContext,
): Promise<readonly C[]> => {
  const events$ = new Observable<{ readonly type: string; readonly query: object }>((subscriber) =>
    client.getQueryCache().subscribe((event) => {
      subscriber.next(event);
    }),
  ).pipe(filter((event) => event.query === query));
  // TanStack Query writes the result of the function later than it resolves: contracts that are written before would be lost
  const written$ = defer(() => events$.pipe(startWith(undefined))).pipe(
    filter(() => query.state.fetchStatus !== 'fetching'),
    take(1),
  );
  const ended$ = merge(
    fromEvent(signal, 'abort'),
    events$.pipe(filter(({ type }) => type === 'removed' || (followed.has(query) && !query.isActive()))),
  );
  return new Promise((resolve, reject) => {
    let isKnown = false;
    contracts$
      .pipe(
        tap((contracts) => followed.set(query, () => contracts)),
        switchMap((contracts, index) => (index === 0 ? of(contracts) : written$.pipe(map(() => contracts)))),
        // a refetch before that would be the fetch that runs, and succeed
        catchError((error: unknown) =>
          concat(
            isKnown ? written$.pipe(ignoreElements()) : EMPTY,
            throwError(() => error),
          ),
        ),
        takeUntil(ended$),
        finalize(() => followed.delete(query)),
      )
      .subscribe({
        next: (contracts) => {
          if (isKnown) client.setQueryData(queryKey, contracts);
          else resolve(contracts);
          isKnown = true;
        },
        error: (error: unknown) => {
          if (!isKnown) {
            reject(errorOf(error));
            return;
          }
          // the query fails as any other does, so that the cache reports it: its function throws the error
          followed.set(query, () => {
            throw error;
          });
          void client.refetchQueries({ queryKey, exact: true });
        },
      });
  });
};
