import { concatMap, defer, takeLast, type Observable } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { reportTo } from '../events/Report.js';
import type { Service } from '../feed/Service.js';
import { tellCut } from '../feed/tellCut.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import { beginning } from './beginning.js';
import type { Committed } from './Committed.js';
import { feedsOf } from './feedsOf.js';
import { gracefully } from './gracefully.js';
import { keeping } from './keeping.js';
import type { AnyProcessOptions } from './ProcessOptions.js';
import { rulesOf } from './rulesOf.js';
import type { Handling } from './Run.js';
import { whileHeld } from './whileHeld.js';
import { worked } from './worked.js';

/** The longest wait before a store is asked again: it is near, and all the work waits for it. */
const longestWaitMs = 5_000;

/** Holds the processor's name, finds its place, works from there, and stops in an orderly way. */
export function process(
  service: Service,
  request: UpdatesRequest,
  handling: Handling,
  options: AnyProcessOptions,
  ledgerRetry: RetryPolicy | undefined,
): Observable<Committed> {
  const rules = rulesOf(options, ledgerRetry);
  const policy = retryPolicy(ledgerRetry, options.retry);
  const report = reportTo(service.events);
  const retrying = { retry: { ...policy, maxDelayMs: Math.min(policy.maxDelayMs, longestWaitMs) }, report };
  return gracefully(
    (stop) =>
      whileHeld(
        keeping(options, retrying),
        (kept) =>
          defer(() => {
            const feedFrom = feedsOf(service, request, options, ledgerRetry);
            const run = { ...rules, ...kept, ...stop, ...handling, report, path: service.learned.updatesPath };
            const feed = feedFrom();
            return beginning(feed, options, kept.load$).pipe(
              tellCut(feed),
              // from here on the feed itself tells
              takeLast(1),
              concatMap((begin) => worked(run, feedFrom(begin.cursor.offset), begin, options.batch)),
            );
          }),
        retrying,
        stop,
      ),
    options.stopWithinMs ?? 10_000,
    options.signal,
  );
}
