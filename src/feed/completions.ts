import { defer, filter, map, type Observable, tap } from 'rxjs';
import { CompletionElement, type CompletionResponse, CompletionsRequest } from '../codecs/Completion.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { validateRequest } from '../client/exchange.js';
import type { RetryPolicy } from '../http/retry.js';
import { catchingUp } from './ledgerEnd.js';
import type { FeedSource, LedgerFeed, Phase, Position, Step } from './LedgerFeed.js';
import type { Page, PageSize, Range } from './Page.js';
import { requestPage, resetIfBeyondEnd, retryRequest } from './pageRequest.js';
import { hasUpdate, poll } from './poll.js';
import type { Client } from '../client/Client.js';
import { updates } from './updates.js';
import { createFeed, type UpdatesOptions } from './UpdatesOptions.js';

/**
 * Options of a feed of completions: those of `updates` that apply.
 *
 * @category Ledger
 */
export type CompletionsOptions = Pick<
  UpdatesOptions,
  'maxPageSize' | 'idleTimeoutMs' | 'transport' | 'onGap' | 'retry'
>;

/**
 * Emits the completions that a request selects.
 *
 * @param report - by default that of a new feed of the service
 */
export const completions = (
  client: Client,
  request: CompletionsRequest,
  options: CompletionsOptions,
  ledgerRetry: RetryPolicy | undefined,
  report?: Report,
): Observable<CompletionResponse> =>
  defer(() => {
    const { parties, userId, beginExclusive } = validateRequest(CompletionsRequest, request);
    const source: FeedSource<CompletionResponse> = {
      field: 'completionResponse',
      codec: CompletionElement,
      path: ({ learned }) => learned.completionsPath,
      body: (range, path) => ({
        parties,
        beginExclusive: range.beginExclusive,
        ...(path === '/v2/commands/completions' && { userId }),
      }),
      readRange,
      catchUp: drain,
      follow: pollAndLearn,
    };
    // filtered last, because the cursor also moves with the completions of other users
    const complete = { ...options, onUndecodable: 'fail' } as const;
    return updates(
      createFeed(client, source, { beginExclusive }, complete, ledgerRetry, report ?? client.reportForNewFeed()),
    ).pipe(
      filter((element): element is CompletionResponse => {
        if (element._tag !== 'Completion') return element._tag !== 'UndecodedUpdate';
        return userId === '' || element.userId === userId;
      }),
    );
  });

type Completions = LedgerFeed<CompletionResponse>;

/**
 * Requests completions after an offset: their requests have no end. The participant waits no longer than it needs for what
 * it has, so that an empty page does not prove that there is nothing.
 */
const readRange = (
  feed: Completions,
  { beginExclusive }: Range,
  size: PageSize,
): Observable<Page<CompletionResponse>> =>
  defer(() => requestPage(feed, { beginExclusive }, { ...size, idleTimeoutMs: feed.client.learned.drainMs }));

/** How long a page may take to fill with new completions, in milliseconds: well below the request timeout. */
const maxFillMs = 10_000;

/**
 * Reads a page of what the participant has. Only a full page shows that there is more, and only elements move the cursor: an
 * empty page may mean that the participant was slow.
 */
const drain = (feed: Completions, position: Position): Observable<Step<CompletionResponse>> =>
  defer(() => {
    const { cursor } = position;
    const limit = Math.min(feed.maxPageSize, Math.floor(maxFillMs / feed.client.learned.drainMs));
    return readRange(feed, { beginExclusive: cursor }, { limit }).pipe(
      resetIfBeyondEnd(cursor),
      map((page): Step<CompletionResponse> => {
        const phase: Phase = page.isFull && page.last > cursor ? catchingUp : { _tag: 'Follow' };
        return { page, position: { ...position, phase, cursor: page.last, polls: { ...position.polls, limit: 1 } } };
      }),
    );
  }).pipe(retryRequest(feed));

/** Polls. A completion that was on the ledger before the last page, which lacked it, shows that the page was too short. */
const pollAndLearn = (feed: Completions, position: Position): Observable<Step<CompletionResponse>> =>
  poll(feed, position).pipe(
    tap(({ page }) => {
      if (page !== undefined && hasUpdate(page) && page.last <= position.target) feed.client.learned.drainTooShort();
    }),
  );
