import {
  defer,
  dematerialize,
  filter,
  finalize,
  interval,
  map,
  materialize,
  startWith,
  switchMap,
  takeUntil,
} from 'rxjs';
import { tap, type Observable } from 'rxjs';
import { isStoreError } from '../errors/StoreError.js';
import { retryTransient, type Retrying } from '../http/retryTransient.js';
import type { Transactions } from './CheckpointStore.js';
import type { Committed } from './Committed.js';
import type { Keeping } from './keeping.js';
import type { Stop } from './Stop.js';

/** Who has waited so long for the name without a failure is healthy: failures of a whole year do not add up. */
const healthyMs = 60_000;

/**
 * Works while a name is held, and lets go of it when the work is over. When the store fails, all of that begins anew, for as
 * long as the policy says; told to stop, it does so at once, unless it is in the middle of work.
 */
export function whileHeld(
  keeping$: Observable<Keeping>,
  work: (kept: Keeping) => Observable<Committed>,
  retrying: Retrying,
  { stop$, isStopped }: Stop,
): Observable<Committed> {
  let isWorking = false;
  let last: Committed | undefined;
  const marked = (transactions: Transactions<unknown>): Transactions<unknown> => ({
    transact: (inside) =>
      defer(() => {
        isWorking = true;
        return transactions.transact(inside);
      }).pipe(
        finalize(() => {
          isWorking = false;
        }),
      ),
  });
  const sign$: Observable<Committed | undefined> = interval(healthyMs).pipe(map(() => undefined));
  const held = (kept: Keeping): Observable<Committed | undefined> =>
    work({ ...kept, transactions: marked(kept.transactions) });
  return keeping$.pipe(
    startWith(undefined),
    // a sign of health each while, until it is held; from then on, the commits are
    switchMap((kept) => (kept === undefined ? sign$ : held(kept)).pipe(materialize())),
    dematerialize(),
    // what was told before the store failed is no news, and no sign of health
    filter((committed) => committed === undefined || isNews(committed, last)),
    tap((committed) => {
      last = committed ?? last;
    }),
    // what has been tried again in its place is not tried once more; nor by a processor that is to stop
    retryTransient(retrying, (error) => isStoreError(error) && error.retried === undefined && !isStopped()),
    filter((committed) => committed !== undefined),
    takeUntil(stop$.pipe(filter(() => !isWorking))),
  );
}

const isNews = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;
