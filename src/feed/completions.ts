import { defer, filter, type Observable } from 'rxjs';
import { CompletionElement, type CompletionResponse, CompletionsRequest } from '../codecs/Completion.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { validateRequest } from '../http/exchange.js';
import type { RetryPolicy } from '../http/retry.js';
import type { FeedSource } from './LedgerFeed.js';
import { drain } from './poll.js';
import type { Service } from './Service.js';
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
  service: Service,
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
      hasEnd: false,
      path: ({ learned }) => learned.completionsPath,
      body: (range, path) => ({
        parties,
        beginExclusive: range.beginExclusive,
        ...(path === '/v2/commands/completions' && { userId }),
      }),
      readPage: drain,
    };
    // filtered last, because the cursor also moves with the completions of other users
    const complete = { ...options, onUndecodable: 'fail' } as const;
    return updates(
      createFeed(service, source, { beginExclusive }, complete, ledgerRetry, report ?? service.reportForNewFeed()),
    ).pipe(
      filter((element): element is CompletionResponse => {
        if (element._tag !== 'Completion') return element._tag !== 'UndecodedUpdate';
        return userId === '' || element.userId === userId;
      }),
    );
  });
