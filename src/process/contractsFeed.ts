import { concatMap, defer, identity, isObservable, map, of } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractsBatch, ContractsChanged, ReconcileReason, Reset } from '../contracts/ContractChange.js';
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
import { advance } from '../history/advance.js';
import type { Batch } from '../history/positions.js';
import { checkPositive, retryPolicy } from '../http/retry.js';
import { clientOf } from '../ledger/clientOf.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import {
  beginAt,
  compareContracts,
  compareWith,
  ContractsPosition,
  isReconciling,
  loadAfter,
  loadedAt,
  nothingLoaded,
  positionAfter,
  readIn,
  resumeOffset,
} from './ContractsPosition.js';
import type { Feed, FeedEntry, FeedReader } from './Feed.js';
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
 * last batch, readers of a table may see some of the contracts only. With `batchSize: Infinity` they never do: a reset
 * is one batch in one transaction.
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
      map((ledger) => ({ ...ledger, selection: isObservable(parties) ? kind : selectionOf(parties) })),
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

/** The beginning of each selection: cursors of an updates feed belong to no contracts. */
const kind = 'contracts:';

/** Whether a selection is that of parties, and not one from before the first list of them. */
const isOfParties = (selection = ''): boolean => selection.length > kind.length;

/** Returns a hash of a query. */
const contractsSelection = (query: ContractQuery, parties: Parties): string =>
  `${kind}${isNobody(parties) ? 'nobody' : selectionHash(requestOf(query, parties))}`;

/**
 * The input of a handler for a `contractsFeed`: first all contracts, in batches, then the changes of each update of the
 * ledger.
 *
 * @category Processing
 */
export type ContractsWork<C extends AnyContract = AnyContract> = ResetBatch<C> | ContractsChanged<C>;

/**
 * Some of the contracts at an offset. The batches from the first to the last replace all contracts that the handler
 * has.
 *
 * @category Processing
 */
export interface ResetBatch<C extends AnyContract = AnyContract> {
  /** The discriminant. */
  readonly _tag: 'ResetBatch';
  /**
   * Why all contracts are read. With a {@link ReconcileReason}, they are read at the offset that the handler has reached,
   * after a restart: the ledger is the same, and no update is left out, but the participant shows other contracts there
   * than before, or more of each. A handler that keeps a history can keep it.
   */
  readonly reason: Reset['reason'] | ReconcileReason;
  /** The offset of the snapshot, the same for all of its batches. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts of the batch, empty if there are no contracts at all. Each contract is in exactly one batch. */
  readonly contracts: readonly C[];
  /** Whether this is the first batch: the handler must remove the contracts it has. */
  readonly isFirst: boolean;
  /** Whether this is the last batch, with which the contracts are complete. */
  readonly isLast: boolean;
}

/** All contracts at an offset, and why the handler gets them. */
interface Load {
  readonly reason: ResetBatch['reason'];
  readonly offset: Offset;
  readonly contracts: readonly AnyContract[];
}

/** How to make batches. */
interface Batching {
  readonly batchSize: number;
  readonly hasBlobs: boolean;
  readonly selectionOf: (parties: Parties) => string;
}

/**
 * Returns the batches of a change of the contracts after a position. An empty one at the initial position comes before the contracts are
 * read again, and before the first batch of them: from then on the contracts of the handler are not complete.
 */
function batchesOf(
  {
    items: changes,
    position: read,
    offset,
    isCaughtUp,
    reloads,
    differs,
    contracts,
    origin,
    parties,
  }: ContractsBatch<AnyContract>,
  last: ContractsPosition,
  { batchSize, hasBlobs, selectionOf }: Batching,
): readonly Batch<Entry, ContractsPosition>[] {
  const reason = reloads ?? differs ?? changes.find((change): change is Reset => change._tag === 'Reset')?.reason;
  const after = parties === undefined ? last : selecting(last, selectionOf(parties), offset);
  if (reason !== undefined) {
    const begin = loadAfter(after, reason, read.participantId);
    const marker = { items: [], position: begin, isCaughtUp: false };
    if (reloads !== undefined) return [marker];
    const { selection } = after;
    const end = { ...loadedAt({ ...begin, selection }, offset, contracts, hasBlobs), ...read };
    const items = resetBatches({ reason, offset, contracts: contracts.toArray() }, begin, end, batchSize);
    return [marker, { items, position: end, isCaughtUp }];
  }
  let position = after;
  let before = origin.before;
  const items = changes.flatMap((change): readonly Entry[] => {
    if (change._tag === 'Reset') return [];
    position =
      change._tag === 'ContractsChanged'
        ? positionAfter(position, change, contracts)
        : { ...position, offset: change.offset };
    // a change without an update was not read
    const isUpdate = change._tag === 'OffsetCheckpoint' || change.updateId !== undefined;
    before = isUpdate ? advance(before, [change], origin.isAddressed) : before;
    position = { ...position, ...before };
    return [{ position, content: change }];
  });
  const reached = { ...position, ...read };
  // the contracts may be newer than what a feed has read again after its last update
  const end = origin.isAddressed ? { ...reached, offset } : reached;
  return [{ items, position: end, isCaughtUp }];
}

/** Returns a position with a selection, which has an offset if it replaces another one: what was read before is not of it. */
const selecting = (last: ContractsPosition, selection: string, offset: Offset): ContractsPosition => ({
  ...last,
  selection,
  ...(isOfParties(last.selection) && last.selection !== selection && { selectedSince: offset }),
});

type Entry = FeedEntry<ContractsWork, ContractsPosition>;

/** Returns the batches of a reset. Only with the last one are its contracts complete. */
function resetBatches(
  { reason, offset, contracts }: Load,
  begin: ContractsPosition,
  end: ContractsPosition,
  batchSize: number,
): readonly Entry[] {
  const size = Math.min(batchSize, Math.max(1, contracts.length));
  const count = Math.max(1, Math.ceil(contracts.length / size));
  return Array.from({ length: count }, (_, index) => {
    const isLast = index === count - 1;
    return {
      position: isLast ? end : { ...begin, loading: index + 1 },
      content: {
        _tag: 'ResetBatch',
        reason,
        offset,
        contracts: contracts.slice(index * size, (index + 1) * size),
        isFirst: index === 0,
        isLast,
      },
    };
  });
}
