import { concatMap, defer, map, type Observable, of } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import {
  type ContractPolicies,
  type ContractQuery,
  eventFormatOf,
  updateFormatOf,
} from '../contracts/ContractQuery.js';
import { type ContractsOptions, type ContractsSource, contractsSource } from '../contracts/ContractsSource.js';
import { join } from '../contracts/join.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { checkPositive, retryPolicy } from '../http/retry.js';
import { requireConnection } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  compareContracts,
  ContractsPosition,
  contractsTimes,
  type ContractsWork,
  digestOf,
  nothingLoaded,
  pagesOf,
  resumeOffset,
} from './ContractsWork.js';
import type { LastUpdate } from './Cursor.js';
import type { Feed, FeedReader } from './Feed.js';
import { hasUpdate, ledgerFeed, ledgerIdentity } from './updatesFeed.js';

/**
 * Options of {@link contractsFeed}.
 *
 * @category Processing
 */
export interface ContractsFeedOptions extends Omit<ContractsOptions, 'transport'> {
  /**
   * The maximum number of contracts in a {@link ResetBatch}. With `Infinity` a reset is a single batch: one call of the
   * handler, in one transaction.
   *
   * @defaultValue 500
   */
  readonly batchSize?: number | undefined;
  /**
   * The transport for snapshots that the participant serves in no other way; changes are polled. Default: the transport
   * of the ledger.
   */
  readonly transport?: ContractsOptions['transport'];
}

/**
 * The contracts of a {@link contractsFeed}, and what to do if they cannot be read as requested.
 *
 * @category Processing
 */
export type ContractsFeedQuery<M extends ContractTypes = ContractTypes> = ContractQuery<M> &
  Omit<ContractPolicies, 'onUnknownPackage'> & {
    /** Only `'fail'` is allowed: a table that lacks the contracts of a type looks complete. */
    readonly onUnknownPackage?: 'fail' | undefined;
  };

/**
 * Returns the contracts of a ledger as a feed for {@link processFeed}, for example to keep them in a table. The handler
 * first receives all contracts as {@link ResetBatch}es, and then the changes of each update of the ledger at once.
 *
 * On the first batch of a reset (`isFirst`) the handler must remove the contracts it has; with the last batch
 * (`isLast`) the new ones are complete. The cursor has the offset of the contracts only after the last batch: after an
 * earlier crash they are loaded again from a first batch, so an incomplete load never counts as complete. Until the
 * last batch, readers of a table may see some of the contracts only. With `batchSize: Infinity` they never do: a reset
 * is one batch in one transaction.
 *
 * After a restart the contracts at the offset of the cursor are read again, and the changes after it follow. With
 * `onGap: 'reload'`, the default, all contracts are loaded again if the ledger was pruned after the cursor, or was
 * restored or replaced. With `'fail'` the processor ends with a `PrunedError`, a `LedgerResetError` or a `CursorError`.
 *
 * All contracts are held in memory. Changes are requested only while at most one page is waiting for the handler.
 *
 * If one change is left out, the contracts are in a state that the ledger never had, so `onPoison` must be `'stop'`. An
 * update that cannot be decoded ends the processor with a `DecodeError`.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader`, `createTracedLedger` or `injectLedger`, or a copy
 * @param query - the contracts, and what to do about a gap
 * @param options - the size of batches and pages, and the retry policy
 * @throws TypeError for invalid options, for a query without parties or with `onUnknownPackage: 'wait'`, and if the
 * `updates` of the ledger were replaced; an `InvalidRequestError` for an invalid party or template
 * @example
 * ```ts
 * import { createLedger } from 'canton-rx';
 * import { contractsFeed, memoryStore, processFeed } from 'canton-rx/process';
 *
 * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
 * const owners = new Map<string, readonly string[]>();
 * const committed$ = processFeed(
 *   contractsFeed(ledger, { parties: 'any' }),
 *   (work) => {
 *     if (work._tag === 'ResetBatch' && work.isFirst) owners.clear();
 *     const added = work._tag === 'ResetBatch' ? work.contracts : work.added;
 *     const removed = work._tag === 'ResetBatch' ? [] : work.removed;
 *     for (const { contractId, signatories } of added) owners.set(contractId, signatories);
 *     for (const { contractId } of removed) owners.delete(contractId);
 *   },
 *   { name: 'owners', store: memoryStore() },
 * );
 * ```
 *
 * @category Processing
 */
export function contractsFeed<const M extends ContractTypes = ContractTypes>(
  ledger: LedgerReader,
  query: ContractsFeedQuery<M>,
  options: ContractsFeedOptions = {},
): Feed<ContractsWork<ContractOf<M>>, ContractsPosition> {
  const { batchSize = 500 } = options;
  checkPositive({ batchSize }, batchSize !== Infinity);
  // JavaScript callers may pass what the types exclude
  if ((query as ContractPolicies).onUnknownPackage === 'wait')
    throw new TypeError("onUnknownPackage: 'wait' is not supported by this feed");
  const sourceOf = contractsSource(ledger, options);
  const retry = retryPolicy(requireConnection(ledger).retry, options.retry);
  const request = { beginExclusive: 0, updateFormat: updateFormatOf(eventFormatOf(query), query.includeExercises) };
  const feed = ledgerFeed(ledger, request, retry, (service, { name }) =>
    openReader(sourceOf(service, name), query, request, batchSize),
  );
  // the types of the contracts are those of the query
  return { ...feed, mustHandleAll: true } as unknown as Feed<ContractsWork<ContractOf<M>>, ContractsPosition>;
}

function openReader(
  given: ContractsSource,
  query: ContractQuery & ContractPolicies,
  request: UpdatesRequest,
  batchSize: number,
): FeedReader<ContractsWork, ContractsPosition> {
  // polled: pushed changes would wait in memory for a slow handler
  const source: ContractsSource = { ...given, updates: { ...given.updates, transport: 'http' } };
  const { service, report, retry, updates } = source;
  const feed = createLedgerFeed(service, request, updates, retry, report);
  const identity$ = ledgerIdentity(feed);
  // updates that change no contract are not recorded
  const hasLastUpdate = (update: LastUpdate): Observable<boolean> => hasUpdate(feed, update, update.offset);
  return {
    report,
    path: service.learned.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: of(nothingLoaded()),
    ...(query.onGap !== 'fail' && { restart: nothingLoaded('ledgerReset') }),
    // different from that of an updates feed, whose cursors belong to no contracts
    identity$: identity$.pipe(
      map(({ selection, ...identity }) => ({ ...identity, selection: `contracts:${selection}` })),
    ),
    position: ContractsPosition,
    compare: compareContracts,
    hasUpdate: hasLastUpdate,
    pages: (after, ready$) =>
      defer(() => {
        let reached = after;
        const { digest, participantId } = after;
        const isSameLedger$ = identity$.pipe(
          concatMap((identity) => {
            const { lastUpdate } = reached;
            if ((identity.participantId ?? participantId) !== (participantId ?? identity.participantId)) return [false];
            return lastUpdate ? hasLastUpdate(lastUpdate) : [true];
          }),
        );
        const request = {
          query,
          resumeFrom: resumeOffset(after),
          isSameLedger$,
          participantId,
          // a store may return null for an absent field
          notBefore: after.notBefore ?? undefined,
          reason: after.reason ?? undefined,
          ...(typeof digest === 'string' && {
            isSame: (contracts: Iterable<AnyContract>) => digestOf(contracts) === digest,
          }),
        };
        return join(source, request, ready$).pipe(
          concatMap((step) => {
            const pages = pagesOf(step, reached, batchSize);
            reached = pages.at(-1)?.reached ?? reached;
            return pages;
          }),
        );
      }),
    timesOf: contractsTimes,
  };
}
