import { defer, map, skip } from 'rxjs';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import { InvalidRequestError } from '../errors/request.js';
import { createLedgerFeed } from '../feed/LedgerFeed.js';
import type { Step } from '../feed/Position.js';
import type { Service } from '../feed/Service.js';
import { reportWithout, steps } from '../feed/updates.js';
import { checkOptions, type UpdatesOptions } from '../feed/UpdatesOptions.js';
import { validateRequest } from '../http/exchange.js';
import { retryPolicy } from '../http/retry.js';
import { connectionOf } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { timesOf } from '../operators/internal/times.js';
import { type Feed, type FeedPage, type FeedPosition, type FeedReader, type FeedRun, orderBy } from './Feed.js';
import { hasUpdate, ledgerIdentity } from './ledgerIdentity.js';
import type { Work } from './ProcessOptions.js';

/**
 * Options of {@link updatesFeed}.
 *
 * @category Processing
 */
export type UpdatesFeedOptions = Omit<UpdatesOptions, 'parallelRanges' | 'onInvalid' | 'transport'>;

/**
 * Returns the updates of a ledger as a feed for {@link processFeed}. It polls over HTTP, and requests a page only while
 * at most one is waiting: pushed or prefetched updates would pile up in memory if the handler is slow.
 *
 * A cursor belongs to the participant and to what the request selects. The order of its parties and filters does not
 * matter, nor do `verbose` and other flags. After a restart the feed checks that the last update is still at its
 * offset.
 *
 * The processor fails with the errors of `ledger.updates`, and with a `CursorError` if its cursor belongs to another
 * ledger or request.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader`, `createTracedLedger` or `injectLedger`
 * @param request - the updates to process, in ascending order, and where to begin without a cursor
 * @param options - the page size, the idle timeout, what to do about a gap, and the retry policy
 * @throws TypeError for invalid options, and if `ledger` was not created by this library
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
export function updatesFeed(ledger: LedgerReader, request: UpdatesRequest, options: UpdatesFeedOptions = {}): Feed {
  checkOptions(options);
  const connection = connectionOf(ledger);
  if (connection === undefined) throw new TypeError('ledger must be a ledger from createLedger, not a copy of one');
  const { runProcessor } = connection;
  const retry = retryPolicy(connection.retry, options.retry);
  const feedOver = (service: Service): Feed => ({
    retry,
    end$: defer(() => ledger.ledgerEnd()),
    diagnostics$: ledger.diagnostics$,
    open: (run) => openReader(service, request, { ...options, retry }, run),
  });
  const feed = feedOver(connection.service);
  if (runProcessor === undefined) return feed;
  return {
    ...feed,
    wrapRun: ({ name, handler, run }) =>
      runProcessor({
        name,
        request,
        handler,
        run: (service, wrapped) => run(feedOver(service), wrapped),
      }),
  };
}

function openReader(
  service: Service,
  request: UpdatesRequest,
  options: UpdatesFeedOptions,
  { emitInvalid }: FeedRun,
): FeedReader<Work, FeedPosition> {
  const range = validateRequest(UpdatesRequest, request);
  if (range.descendingOrder === true)
    throw new InvalidRequestError([{ path: 'descendingOrder', expected: 'false for a processor' }]);
  const feedOptions = {
    ...options,
    transport: 'http',
    parallelRanges: 1,
    onInvalid: emitInvalid ? 'emit' : 'fail',
  } as const;
  const report = service.reportForNewFeed();
  const feedAfter = (beginExclusive: Offset) => {
    const { endInclusive } = range;
    const rest = {
      ...range,
      beginExclusive,
      ...(typeof endInclusive === 'number' && { endInclusive: Math.max(endInclusive, beginExclusive) }),
    };
    // the processor reports the end of the run
    return createLedgerFeed(service, rest, feedOptions, undefined, reportWithout(report, 'FeedEnded'));
  };
  const feed = feedAfter(range.beginExclusive);
  return {
    report,
    path: service.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: defer(() => [{ offset: range.beginExclusive }]),
    identity$: ledgerIdentity(feed),
    position: LedgerPosition,
    order: byOffset,
    hasUpdate: (update) => hasUpdate(feed, update),
    // skips the first step, which is the start
    pages: ({ offset }, ready$) => steps(feedAfter(offset), ready$).pipe(skip(1), map(toFeedPage)),
    timesOf,
  };
}

/** The position of a processor in a ledger. */
const LedgerPosition = message<FeedPosition>('LedgerPosition', { offset: Offset });

const byOffset = orderBy<FeedPosition>(({ offset }) => offset);

const toFeedPage = ({ position, page }: Step): FeedPage<Work, FeedPosition> => ({
  entries: page?.updates.map((update) => ({ position: { offset: update.offset }, content: update })) ?? [],
  reached: { offset: position.cursor },
  isCaughtUp: position.hasCaughtUp,
  isLast: position.next === 'end',
});
