import { defer } from 'rxjs';
import type { FeedCall } from '../client/Interceptor.js';
import { updatesCall } from '../feed/progress.js';
import { checkOptions } from '../feed/UpdatesOptions.js';
import type { Client } from '../client/Client.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { type CompleteRetryPolicy, retryPolicy } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import type { FeedPosition } from './CheckpointStore.js';
import type { Feed, FeedReader, FeedRun } from './Feed.js';
import type { Work } from './ProcessOptions.js';
import { type UpdatesFeedOptions, type UpdatesFeedRequest, openUpdatesReader } from './updatesReader.js';

/**
 * Returns the updates of a ledger as a feed for {@link processFeed}: a description of what to read, and not an Observable
 * like that of `ledger.updates()`. It polls over HTTP, and requests a page only while at most one is waiting: pushed or
 * prefetched updates would pile up in memory if the handler is slow.
 *
 * A cursor belongs to the participant and to what the request selects. The order of its parties and filters does not
 * matter, nor do `verbose` and other flags. After a restart and after an outage, the feed checks that the last update is
 * still at its offset.
 *
 * The processor fails with the errors of `ledger.updates`, and with a `CursorError` if its cursor belongs to another
 * ledger or request.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader` or `injectLedger`, or a copy
 * @param request - the updates to process, in ascending order, and where to begin without a cursor
 * @param options - the page size, the idle timeout, what to do about a gap, and the retry policy
 * @throws TypeError for invalid options, and if the `updates` of the ledger were replaced
 * @example
 * ```ts
 * import { acsDelta, createLedger } from 'canton-rx';
 * import { memoryStore, processFeed, updatesFeed } from 'canton-rx/process';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 * const committed$ = processFeed(feed, (update) => console.log(update.offset), { name: 'log', store: memoryStore() });
 * ```
 *
 * @category Processing
 */
export function updatesFeed(
  ledger: LedgerReader,
  request: UpdatesFeedRequest,
  options: UpdatesFeedOptions = {},
): Feed<Work, LedgerPosition> {
  checkOptions(options);
  const { onSelectionChange = 'fail', backfill = false } = options;
  // JavaScript callers may pass anything
  if (!['fail', 'continue'].includes(onSelectionChange))
    throw new TypeError("onSelectionChange must be 'fail' or 'continue'");
  if (backfill && onSelectionChange !== 'continue')
    throw new TypeError("backfill requires onSelectionChange: 'continue'");
  const retry = retryPolicy(clientOf(ledger).retry, options.retry);
  // a processor begins where it ended
  const { kind, isEndless } = updatesCall(request);
  return ledgerFeed(ledger, { kind, isEndless }, retry, (client, run) =>
    openUpdatesReader(client, request, { ...options, retry }, run),
  );
}

/**
 * Returns a feed of a ledger, whose interceptors see the runs of processors.
 *
 * @throws TypeError if the `updates` of the ledger were replaced
 */
export function ledgerFeed<A, P extends FeedPosition>(
  ledger: LedgerReader,
  call: Omit<FeedCall, 'processor'>,
  retry: CompleteRetryPolicy,
  open: (client: Client, run: FeedRun) => FeedReader<A, P>,
): Feed<A, P> {
  const own = clientOf(ledger);
  return {
    retry,
    end$: defer(() => ledger.ledgerEnd()),
    diagnostics$: ledger.diagnostics$,
    open: (run) => open(run.client ?? own, run),
    intercepted: { client: own, call },
  };
}
