import type * as t from 'io-ts';
import { concatMap, defer, map, type Observable, of } from 'rxjs';
import { integer, oneOfStrings, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import type { UpdatesRequest } from '../codecs/UpdatesRequest.js';
import type { AnyContract, ContractOf, ContractTypes } from '../contracts/Contract.js';
import type { ContractsChanged, Reset } from '../contracts/ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsOptions,
  contractsSource,
  type ContractsSource,
  eventFormatOf,
  updateFormatOf,
} from '../contracts/ContractQuery.js';
import { join, type JoinStep } from '../contracts/join.js';
import { isSameHistory } from '../feed/prove.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { checkPositive, retryPolicy } from '../http/retry.js';
import { requireConnection } from '../ledger/connection.js';
import type { LedgerReader } from '../ledger/Ledger.js';
import { LastUpdate } from '../history/LedgerPosition.js';
import type { FeedPosition } from './CheckpointStore.js';
import type { Feed, FeedEntry, FeedPage, FeedReader } from './Feed.js';
import { ledgerFeed, ledgerIdentity } from './updatesFeed.js';

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
  const hasLastUpdate = (update: LastUpdate): Observable<boolean> => isSameHistory(feed, { offset: update.offset, lastUpdate: update, recordTimes: {} });
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
  };
}

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
  /** Why all contracts are read. */
  readonly reason: Reset['reason'];
  /** The offset of the snapshot, the same for all of its batches. Changes continue after it. */
  readonly offset: Offset;
  /** The contracts of the batch, empty if there are no contracts at all. Each contract is in exactly one batch. */
  readonly contracts: readonly C[];
  /** Whether this is the first batch: the handler must remove the contracts it has. */
  readonly isFirst: boolean;
  /** Whether this is the last batch, with which the contracts are complete. */
  readonly isLast: boolean;
}

/**
 * The position of a processor in the contracts of a ledger.
 *
 * @category Processing
 */
export interface ContractsPosition extends FeedPosition {
  /** The offset at which the contracts are complete; 0 while they are being loaded. */
  readonly offset: Offset;
  /** The number of handled batches of a load that is not complete; absent if the contracts at the offset are. */
  readonly loading?: number | undefined;
  /** Why the contracts are loaded; absent for the first load. */
  readonly reason?: Reset['reason'] | undefined;
  /**
   * While the contracts are loaded again: the offset of those that the handler has. No snapshot before it is loaded.
   * Absent if the handler has none of this ledger.
   */
  readonly notBefore?: Offset | undefined;
  /** The last update that the handler has, which proves that the ledger is still the same. */
  readonly lastUpdate?: LastUpdate | undefined;
  /** A digest of the contracts, until the first update after them proves that the ledger is still the same. */
  readonly digest?: string | undefined;
}

/**
 * Codec of `ContractsPosition`.
 *
 * @category Processing
 */
export const ContractsPosition: t.Type<ContractsPosition, unknown> = message<ContractsPosition>('ContractsPosition', {
  offset: Offset,
  loading: optional(integer('Batches', 0, Infinity, 'a whole number')),
  notBefore: optional(Offset),
  lastUpdate: optional(LastUpdate),
  digest: optional(text),
  reason: optional(oneOfStrings<Reset['reason']>('ResetReason', 'start', 'pruned', 'ledgerReset', 'packageFound')),
});

/** The position before the first batch, from which nothing can be resumed. */
const nothingLoaded = (reason?: Reset['reason']): ContractsPosition => ({
  offset: 0,
  loading: 0,
  reason,
  lastUpdate: undefined,
});

/**
 * Returns the position before the first batch of a load that follows another position. If the ledger is the same, it has
 * what proves that after a restart: the contracts of the handler may then be extended, and not only replaced.
 */
const loadAfter = (
  position: ContractsPosition,
  reason: Reset['reason'],
): ContractsPosition & { readonly participantId?: undefined } =>
  reason === 'ledgerReset'
    ? // the cursor gets the ID of the other participant at the next start
      { ...nothingLoaded(reason), participantId: undefined }
    : {
        ...nothingLoaded(reason),
        notBefore: resumeOffset(position) ?? position.notBefore,
        lastUpdate: position.lastUpdate,
      };

/** Returns the offset to resume after; `undefined` if the contracts are not complete. */
const resumeOffset = (position: ContractsPosition): Offset | undefined =>
  loadedBatches(position) < 0 ? position.offset : undefined;

/** By offset, and then by batch: the contracts at an offset are complete before another load begins. */
const compareContracts = (a: ContractsPosition, b: ContractsPosition): number =>
  a.offset - b.offset || loadedBatches(a) - loadedBatches(b);

/** Returns the number of loaded batches; -1 if the contracts are complete. A store may return null for an absent field. */
const loadedBatches = ({ loading }: ContractsPosition): number => (typeof loading === 'number' ? loading : -1);

/**
 * Returns the pages of a step after a position. An empty page at the initial position comes before the contracts are
 * read again, and before the first batch of them: from then on the contracts of the handler are not complete.
 */
function pagesOf(
  { changes, offset, isCaughtUp, reloads }: JoinStep<AnyContract>,
  after: ContractsPosition,
  batchSize: number,
): readonly Page[] {
  const reason = reloads ?? changes.find((change): change is Reset => change._tag === 'Reset')?.reason;
  const begin = reason === undefined ? after : loadAfter(after, reason);
  const marker: Page = { entries: [], reached: begin, isCaughtUp: false };
  if (reloads !== undefined) return [marker];
  let { digest, lastUpdate } = begin;
  const entries = changes.flatMap((change) => {
    if (change._tag === 'Reset') {
      digest = digestOf(change.contracts);
      return batchesOf(change, begin, { offset: change.offset, digest, lastUpdate }, batchSize);
    }
    if (change._tag === 'ContractsChanged') {
      // from now on the ID of the update is the proof
      digest = undefined;
      lastUpdate = { offset: change.offset, updateId: change.updateId };
    }
    return [{ position: { offset: change.offset, digest, lastUpdate }, content: change }];
  });
  const page: Page = { entries, reached: { offset, digest, lastUpdate }, isCaughtUp };
  return reason === undefined ? [page] : [marker, page];
}

type Page = FeedPage<ContractsWork, ContractsPosition>;

/** Returns the batches of a reset. Only with the last one are its contracts complete. */
function batchesOf(
  { reason, offset, contracts }: Reset,
  begin: ContractsPosition,
  end: ContractsPosition,
  batchSize: number,
): readonly FeedEntry<ContractsWork, ContractsPosition>[] {
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

/**
 * Returns a digest that distinguishes two sets of contracts regardless of order: their number, and the sum of the
 * hashes of each.
 */
function digestOf(contracts: Iterable<AnyContract>): string {
  let count = 0;
  let sum = 0;
  for (const { contractId, reassignmentCounter } of contracts) {
    let hash = reassignmentCounter;
    for (let i = 0; i < contractId.length; i += 1) hash = Math.imul(hash ^ contractId.charCodeAt(i), 0x01000193);
    count += 1;
    sum = (sum + (hash >>> 0)) % Number.MAX_SAFE_INTEGER;
  }
  return `${count}:${sum}`;
}
