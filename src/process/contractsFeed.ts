import { concatMap, defer, identity, isObservable, map, of } from 'rxjs';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { ContractOf, ContractTypes } from '../contracts/Contract.js';
import {
  checkQuery,
  copyOf,
  type ContractPolicies,
  type ContractQuery,
  type ContractsOptions,
  contractsSource,
  type ContractsSource,
  eventFormatOf,
  updateFormatOf,
} from '../contracts/ContractQuery.js';
import { join } from '../contracts/join.js';
import { isNobody, type Parties } from '../contracts/selection/Selection.js';
import { CursorError } from '../errors/process.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { retryPolicy } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  beginAt,
  compareContracts,
  compareWith,
  ContractsPosition,
  contractsKind,
  isOfParties,
  isReconciling,
  nothingLoaded,
  readIn,
  resumeOffset,
} from './ContractsPosition.js';
import { batchesOf, type ContractsWork } from './ContractsWork.js';
import type { Feed, FeedReader } from './Feed.js';
import { selectionHash } from './selectionHash.js';
import { ledgerFeed } from './updatesFeed.js';
import { ledgerIdentity } from './updatesReader.js';

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
  /**
   * The reaction to a cursor that was saved with other parties or types. `'reconcile'` reads the contracts of the query at
   * the offset of the cursor, and gives all of them to the handler, as {@link ResetBatch}es with the reason
   * `'selectionChanged'`; the changes after the offset follow. So the handler has what the query selects, without a gap, and
   * can keep its history. If the ledger is pruned after the cursor, `onGap` applies. `'fail'` ends the processor with a
   * `CursorError`. It is only for a list of parties: those of an Observable are meant to change.
   *
   * @defaultValue 'reconcile'
   */
  readonly onSelectionChange?: 'reconcile' | 'fail' | undefined;
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
 * last batch, readers of a table may see only some of the contracts. With `batchSize: Infinity` they never do: a reset is
 * one batch in one transaction.
 *
 * After a restart the contracts at the offset of the cursor are read again, and the changes after it follow. With
 * `onGap: 'reload'`, the default, all contracts are loaded again if the ledger was pruned after the cursor, or was
 * restored or replaced. With `'fail'` the processor ends with a `PrunedError`, a `LedgerResetError` or a `CursorError`.
 *
 * All contracts are held in memory. Changes are requested only while at most one page is waiting for the handler.
 *
 * If one change is left out, the contracts are in a state that the ledger never had, so `onHandlerFailure` must be `'stop'`. An
 * update that cannot be decoded ends the processor with a `DecodeError`.
 *
 * @param ledger - a ledger from `createLedger`, `createLedgerReader` or `injectLedger`, or a copy
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
): Feed<ContractsWork<ContractOf<M>>, ContractsPosition, true> {
  const { batchSize = 500, onSelectionChange = 'reconcile' } = options;
  // JavaScript callers may pass anything
  if (!['reconcile', 'fail'].includes(onSelectionChange))
    throw new TypeError("onSelectionChange must be 'reconcile' or 'fail'");
  if (onSelectionChange === 'fail' && isObservable(query.parties))
    throw new TypeError("onSelectionChange: 'fail' requires a list of parties");
  checkPositive({ batchSize }, batchSize !== Infinity);
  // JavaScript callers may pass what the types exclude
  if ((query as ContractPolicies).onUnknownPackage === 'wait')
    throw new TypeError("onUnknownPackage: 'wait' is not supported by this feed");
  const sourceOf = contractsSource(ledger, options);
  const retry = retryPolicy(clientOf(ledger).retry, options.retry);
  checkQuery(query);
  const own = copyOf(query);
  const feed = ledgerFeed(ledger, { kind: 'contracts', isEndless: true }, retry, (client, { name }) =>
    openReader(sourceOf(client, name), own, { batchSize, onSelectionChange, processor: name }),
  );
  // the types of the contracts are those of the query
  return { ...feed, mustHandleAll: true } as unknown as Feed<ContractsWork<ContractOf<M>>, ContractsPosition, true>;
}

/** The options of a reader, with their defaults. */
interface ReaderOptions {
  readonly batchSize: number;
  readonly onSelectionChange: 'reconcile' | 'fail';
  readonly processor: string | undefined;
}

function openReader(
  given: ContractsSource,
  query: ContractQuery & ContractPolicies,
  { batchSize, onSelectionChange, processor }: ReaderOptions,
): FeedReader<ContractsWork, ContractsPosition> {
  // polled: pushed changes would wait in memory for a slow handler
  const source: ContractsSource = { ...given, updates: { ...given.updates, transport: 'http' } };
  const { client, report, retry, updates } = source;
  const { parties } = query;
  const feed = createLedgerFeed(client, requestOf(query, 'any'), updates, retry, report);
  const selectionOf = (selected: Parties): string => contractsSelection(query, selected);
  return {
    report,
    path: client.learned.updatesPath,
    maxPageSize: feed.maxPageSize,
    start$: of(nothingLoaded()),
    // different from that of an updates feed, whose cursors belong to no contracts
    identity$: ledgerIdentity(feed).pipe(
      // the first contracts have that of their parties
      map((ledger) => ({ ...ledger, selection: isObservable(parties) ? contractsKind : selectionOf(parties) })),
    ),
    // the batches begin with the contracts of this selection at the offset of the cursor
    ...(onSelectionChange === 'reconcile' && { continueAfter: identity }),
    position: ContractsPosition,
    compare: compareContracts,
    mayRelocate: updates.onOtherNode === 'relocate',
    batches: (after, ready$) =>
      defer(() => {
        const hasBlobs = query.includeCreatedEventBlob === true;
        let reached = beginAt(after, hasBlobs);
        const request = {
          query,
          resumeFrom: resumeOffset(after),
          compare: compareWith(after, hasBlobs),
          others: {
            areHad: (selected: Parties) => isOfParties(after.selection) && after.selection !== selectionOf(selected),
            movedError: () => movedError(processor),
          },
          position: readIn(after),
          // a store may return null for an absent field
          notBefore: after.notBefore ?? undefined,
          reason: isReconciling(after.reason) ? undefined : (after.reason ?? undefined),
        };
        return join(source, request, ready$).pipe(
          concatMap((step) => {
            const batches = batchesOf(step, reached, { batchSize, hasBlobs, selectionOf });
            reached = batches.at(-1)?.position ?? reached;
            return batches;
          }),
        );
      }),
  };
}

/** The error of a processor with a cursor of another query, whose participant was restored, or is another one. */
const movedError = (processor = ''): CursorError =>
  new CursorError(
    'selection',
    processor,
    'its updates are at other offsets now: the participant was restored from a backup, or is another one',
    'start it with the parties and types of before, until it has caught up; then with these',
  );

/** The updates that change the contracts of some parties. */
const requestOf = (query: ContractQuery, parties: Parties): UpdatesRequest => ({
  beginExclusive: 0,
  updateFormat: updateFormatOf(eventFormatOf({ ...query, parties }), query.includeExercises),
});

/** Returns a hash of a query. */
const contractsSelection = (query: ContractQuery, parties: Parties): string =>
  `${contractsKind}${isNobody(parties) ? 'nobody' : selectionHash(requestOf(query, parties))}`;
