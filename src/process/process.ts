import { concatMap, defer, dematerialize, filter, finalize, interval, map, materialize, startWith } from 'rxjs';
import { switchMap, takeUntil, tap } from 'rxjs';
import type { Observable } from 'rxjs';
import { isStoreError } from '../errors/StoreError.js';
import { reportTo } from '../events/Report.js';
import type { Service } from '../feed/Service.js';
import { retryTransient } from '../http/retryTransient.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import { beginning } from './beginning.js';
import type { Committed } from './Committed.js';
import { feedsOf } from './feedsOf.js';
import { gracefully } from './gracefully.js';
import { keeping, type Keeping } from './keeping.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import { rulesOf } from './rulesOf.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { Handling } from './Run.js';
import type { Stop } from './Stop.js';
import { worked } from './worked.js';

/** Who has waited so long for the name without a failure is healthy: failures of a whole year do not add up. */
const healthyMs = 60_000;

/**
 * Holds the processor's name, finds its place, and works from there. When the store fails, all of that begins anew: with
 * transactions, whatever was not committed has not happened.
 */
export function process(
  service: Service,
  request: UpdatesRequest,
  handling: Handling,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): Observable<Committed> {
  const rules = rulesOf(options, ledgerRetry);
  const report = reportTo(service.events);
  const retrying = { retry: retryPolicy(ledgerRetry, options.retry), report };

  const workedWith = (kept: Keeping, stop: Stop): Observable<Committed> =>
    defer(() => {
      const feedFrom = feedsOf(service, request, options, ledgerRetry);
      const run = { ...rules, ...kept, ...stop, ...handling, report, path: service.learned.updatesPath };
      return beginning(feedFrom(), options, kept.load$).pipe(
        concatMap((begin) => worked(run, feedFrom(begin.cursor.offset), begin, options.batch)),
      );
    });

  const held = (stop: Stop): Observable<Committed> => {
    let isWorking = false;
    let last: Committed | undefined;
    return keeping(options, retrying).pipe(
      startWith(undefined),
      switchMap((kept) => {
        if (kept === undefined)
          return interval(healthyMs).pipe(
            map(() => undefined),
            materialize(),
          );
        const transact: Keeping['transactions']['transact'] = (work) =>
          defer(() => {
            isWorking = true;
            return kept.transactions.transact(work);
          }).pipe(
            finalize(() => {
              isWorking = false;
            }),
          );
        // held until the work is over
        return workedWith({ ...kept, transactions: { transact } }, stop).pipe(materialize());
      }),
      dematerialize(),
      // what has been told before the store failed is no news, and no sign of its health
      filter((committed) => committed === undefined || isNews(committed, last)),
      tap((committed) => {
        last = committed ?? last;
      }),
      // what has been tried again in its place is not tried once more; nor by a processor that is to stop
      retryTransient(retrying, (error) => isStoreError(error) && error.retried === undefined && !stop.isStopped()),
      filter((committed) => committed !== undefined),
      takeUntil(stop.stop$.pipe(filter(() => !isWorking))),
    );
  };
  return gracefully(held, options.stopWithinMs ?? 10_000, options.signal);
}

const isNews = ({ handled, offset, isCaughtUp }: Committed, last: Committed | undefined): boolean =>
  handled > 0 || offset !== last?.offset || isCaughtUp !== last.isCaughtUp;
