import {
  concat,
  concatAll,
  concatMap,
  defer,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  retry,
  tap,
  timer,
} from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf, Report } from '../diagnostics/Diagnostic.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError, withRetried } from '../errors/LedgerError.js';
import { InvalidRequestError } from '../errors/request.js';
import type { FeedBatch } from '../feed/LedgerFeed.js';
import { reportWithout } from '../client/Client.js';
import { createLedgerFeed, isGapError } from '../feed/UpdatesOptions.js';
import { placeOf } from '../feed/prove.js';
import { batches } from '../feed/updates.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Place } from '../history/locate.js';
import type { KnownHistory } from '../history/ReaderHistory.js';
import { RetryBudget } from '../http/retry.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch, ReconcileReason, Reset } from './ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsSource,
  eventFormatOf,
  type SelectedQuery,
  updateFormatOf,
} from './ContractQuery.js';
import type { ContractSet } from './ContractSet.js';
import type { Followed } from './followChanges.js';
import { type LoadedContracts, type Moment, readContracts, readKnownTypes } from './readContracts.js';
import { readNothing } from './selection/readNothing.js';
import { findBy, findOfOthers } from './selection/findBy.js';
import { type Following, followSelection } from './selection/followSelection.js';
import { isNobody, type Parties, type Selection, withSelection } from './selection/Selection.js';
import { here, ifPruned, isStill, MovedError, readParticipant, withPosition } from './withPosition.js';
import { PackageWatch } from './reconcile/PackageWatch.js';
import { UnpairedError } from './snapshot/pairHalves.js';

/** What to join, and where to begin. */
interface JoinRequest {
  readonly query: ContractQuery & ContractPolicies;
  /**
   * The offset at which the caller has the contracts: they are read again but not emitted, and the changes continue
   * after it. `undefined` to begin with a `Reset`.
   */
  readonly resumeFrom?: Offset | undefined;
  /**
   * The offset of the contracts that the caller has, if it needs a `Reset`: the ledger was reset if it ends before this
   * offset. Default: the caller has none.
   */
  readonly notBefore?: Offset | undefined;
  /**
   * Compares the contracts at `resumeFrom` with those that the caller has: they are the same, or differ for a reason, or
   * they are those of another ledger. Default: they are the same.
   */
  readonly compare?: ((contracts: ContractSet) => 'same' | ReconcileReason | 'otherLedger') | undefined;
  /**
   * What the caller has read of the ledger: it is found on the participant that answers, before the contracts are read.
   * Default: nothing, and the caller takes the ledger that it finds.
   */
  readonly position?: LedgerPosition | undefined;
  /** What the caller has, if it may be the contracts of other parties or types than the query selects. Default: it is not. */
  readonly others?: Others | undefined;
  /** The reason of the first `Reset`. */
  readonly reason?: Reset['reason'] | undefined;
}

/** Contracts that were read with another query, which is not known any more. */
interface Others {
  /** Whether they are those of other parties or types than these parties now select. */
  readonly areHad: (parties: Parties) => boolean;
  /** Makes the error if they cannot be taken over, because the participant was restored, or is another one. */
  readonly movedError: () => unknown;
}

/**
 * Joins the snapshot of a query with the feed after it, at one offset. Emits each batch before the next one is read.
 *
 * @param ready$ - emits when the next batch of the feed may be read; default: immediately
 */
export const join = (
  source: ContractsSource,
  { query, resumeFrom, notBefore, compare, others, reason = 'start', position }: JoinRequest,
  ready$?: Observable<unknown>,
): Observable<ContractsBatch<AnyContract>> =>
  defer(() => {
    if (resumeFrom !== undefined && !Offset.is(resumeFrom))
      throw new InvalidRequestError([{ path: 'resumeFrom', expected: Offset.name }]);
    const read = (selection: Selection): Observable<ContractsBatch<AnyContract>> => {
      const progress: Progress = {
        known: { offset: resumeFrom ?? notBefore, contracts: undefined },
        reason: resumeFrom === undefined ? reason : undefined,
        compare: compare ?? (() => 'same'),
        position,
        packages: new PackageWatch(source.client, query),
        isDoubtful: false,
        isLost: false,
        gap: undefined,
        delayMs: 0,
        budget: new RetryBudget(source.retry),
        parties: selection.latest(),
        others: others?.areHad(selection.latest()) === true ? others : undefined,
      };
      const selected = (): SelectedQuery & ContractPolicies => ({ ...query, parties: selection.latest() });
      return readKnownTypes(source, selected, (known) => {
        // not silent even at the start: while the type was unknown, the changes did not include its contracts
        if (query.onUnknownPackage === 'wait' && progress.known.offset !== undefined) progress.reason = 'packageFound';
        return defer(() => readFrom(source, known, selection, progress, ready$)).pipe(
          reloadAfterGap(source, query, progress),
        );
      });
    };
    return withSelection(query, read);
  });

/** How far the changes of a subscription are complete, and why the contracts are read next. */
interface Progress {
  /** The offset is `undefined` before the first `Reset`; the contracts, before they are read for the first time. */
  known: { readonly offset: Offset | undefined; readonly contracts: ContractSet | undefined };
  /** The reason of the next `Reset`; `undefined` if the caller has the contracts at the offset. */
  reason: Reset['reason'] | undefined;
  readonly compare: NonNullable<JoinRequest['compare']>;
  /** What was read of the ledger; `undefined` if nothing was, or after a reset of the ledger. */
  position: LedgerPosition | undefined;
  readonly packages: PackageWatch;
  /** Whether the ledger did not have the newest contract when the contracts were last read. */
  isDoubtful: boolean;
  /** Whether nothing will show any more that the ledger is the same: what does is pruned. */
  isLost: boolean;
  /** The gap after which the contracts are read again, if it is not reported yet. */
  gap: Omit<DiagnosticOf<'GapFound'>, '_tag'> | undefined;
  /** The delay before the contracts are read, in milliseconds. */
  delayMs: number;
  /** The delays of consecutive reloads: a participant may prune faster than the contracts can be read. */
  budget: RetryBudget;
  /** The parties of the contracts that are known; before, those with which the caller has read its own. */
  parties: Parties;
  /** Present if the position was read with another selection, and the caller has its contracts. */
  others: Others | undefined;
}

/**
 * Reads the contracts and follows their changes. If there are earlier contracts, first reports that they are out of
 * date.
 */
function readFrom(
  source: ContractsSource,
  types: ContractQuery & ContractPolicies,
  selection: Selection,
  progress: Progress,
  ready$: Observable<unknown> | undefined,
): Observable<ContractsBatch<AnyContract>> {
  const { reason, delayMs, position, others } = progress;
  const { offset: previous = 0, contracts: outdated } = progress.known;
  const { parties: before } = progress;
  // the caller has the contracts of the parties of before
  const parties = reason === undefined ? before : selection.latest();
  const followedBy = (selected: Parties): Followed => {
    const query = { ...types, parties: selected };
    const eventFormat = eventFormatOf(query);
    const own = { source, query, eventFormat, packages: progress.packages };
    const stubAt = (read: LedgerPosition) => feedAt(own, progress, ready$, { position: read });
    return { ...own, stubAt, find: (read) => placeOf(stubAt(read), read) };
  };
  const readPlaced = (at: Moment): Observable<LoadedContracts & { readonly position: LedgerPosition }> => {
    if (isNobody(parties)) return readNothing(source, types, at, position);
    const { query, eventFormat, stubAt } = followedBy(parties);
    const read$ = readContracts(source, query, eventFormat, at);
    return reason === undefined && position !== undefined && others === undefined
      ? read$.pipe(map((read) => ({ ...read, position })))
      : withPosition(source, stubAt(position ?? bareOffset(previous)), progress, read$);
  };
  const onPruned = (provable: LedgerPosition | undefined): void => {
    progress.position = provable ?? progress.position;
    progress.isLost = provable === undefined;
  };
  const find = (read: LedgerPosition): Observable<Place> =>
    others
      ? findOfOthers(followedBy(parties), read, others.movedError)
      : findBy(followedBy, { before, now: parties }, read);
  // contracts that are not the first ones are of the same ledger, or replace those of another one
  const mustFind = position !== undefined && reason !== 'ledgerReset' && !isNobody(parties);
  const place$ = mustFind ? find(position).pipe(ifPruned(source, position, onPruned)) : of(here);
  const followed$ = concat(
    (delayMs === 0 ? of(0) : timer(delayMs)).pipe(ignoreElements()),
    progress.packages.begin().pipe(ignoreElements()),
    place$,
  ).pipe(
    concatMap((place): Observable<ContractsBatch<AnyContract>> => {
      const elsewhere = place._tag === 'Elsewhere' ? place : undefined;
      const at =
        reason === undefined
          ? { activeAtOffset: elsewhere?.start ?? previous }
          : { notBefore: reason === 'ledgerReset' || elsewhere ? 0 : previous };
      const proof$ = mustFind ? find(position).pipe(map(isStill(place))) : undefined;
      return readPlaced({ ...at, proof$ }).pipe(
        concatMap(({ fold, offset, position: found }) => {
          const { contracts } = fold;
          // what was read after the start is missing in them
          const isComplete = reason !== undefined || elsewhere === undefined;
          const verdict = verdictOf(progress, contracts, isComplete);
          progress.others = undefined;
          if (verdict === 'otherLedger')
            throw new LedgerResetError(offset, undefined, 'the contracts at this offset are not those of the cursor');
          reportGap(source, progress, offset);
          if (verdict !== 'same') reportDiffering(source, verdict, offset, contracts.size);
          const known = reason === undefined ? { position: found, place: elsewhere } : { position: found };
          progress.known = { offset: reason === undefined ? previous : offset, contracts };
          progress.position = found;
          progress.parties = parties;
          progress.packages.loaded(contracts);
          const loaded: ContractsBatch<AnyContract> = {
            items: reason === undefined ? [] : [{ _tag: 'Reset', reason, offset, contracts: contracts.toArray() }],
            offset: reason === undefined ? previous : offset,
            // without parties, nothing else comes
            isCaughtUp: isNobody(parties),
            contracts,
            ...(verdict !== 'same' && { differs: verdict }),
            ...{ position: found, origin: { before: found, isAddressed: true }, parties },
          };
          const following: Following = {
            ...{ query: types, selection, of: followedBy },
            feed: (own, history, begin, free$) =>
              batches(
                feedAt(own, progress, ready$, history, begin),
                ready$ === undefined ? free$ : free$.pipe(concatMap(() => ready$)),
              ).pipe(renewBudget(progress)),
          };
          return startingWith(
            loaded,
            followSelection(following, { fold, offset, position: found, isComplete, parties, known }).pipe(
              tap(({ offset, contracts, position, parties: taken = progress.parties }) => {
                progress.known = { offset, contracts };
                progress.position = position;
                progress.parties = taken;
              }),
            ),
          );
        }),
      );
    }),
  );
  if (outdated === undefined || reason === undefined) return followed$;
  const last = position ?? bareOffset(previous);
  const marker: ContractsBatch<AnyContract> = {
    ...{ items: [], offset: previous, isCaughtUp: false, contracts: outdated },
    ...{ position: last, origin: { before: last, isAddressed: true } },
    reloads: reason,
  };
  if (reason !== 'ledgerReset') return startingWith(marker, followed$);
  return readParticipant(source).pipe(
    concatMap((participantId) =>
      startingWith({ ...marker, position: { ...bareOffset(previous), participantId } }, followed$),
    ),
  );
}

/** How the contracts at the offset of the caller differ from those that it has. */
function verdictOf(
  { reason, others, compare }: Progress,
  contracts: ContractSet,
  isComplete: boolean,
): 'same' | ReconcileReason | 'otherLedger' {
  if (reason !== undefined || !isComplete) return 'same';
  return others ? 'selectionChanged' : compare(contracts);
}

/** The feed after contracts at an offset. */
const feedAt = (
  { source, query, eventFormat }: Pick<Followed, 'source' | 'query' | 'eventFormat'>,
  progress: Progress,
  ready$: Observable<unknown> | undefined,
  known: KnownHistory,
  beginExclusive = known.position.offset,
) =>
  createLedgerFeed(
    source.client,
    { beginExclusive, updateFormat: updateFormatOf(eventFormat, query.includeExercises) },
    // waiting would abort the prefetched requests
    { ...source.updates, ...(ready$ && { parallelRanges: 1 }), onGap: 'fail' },
    source.retry,
    // the changes may continue after a gap
    reportOutages(reportWithout(source.report, 'GapFound', 'FeedEnded'), progress.packages),
    // what has only become visible is compared with the contracts, and not read again
    { ...known, hasRead: true, completeAfter: Infinity },
  );

/** A separate function, because its closure must not retain the contracts, either. */
const reportDiffering = (
  { report }: ContractsSource,
  reason: ReconcileReason,
  offset: Offset,
  contracts: number,
): void => {
  report(() => ({ _tag: 'ContractsReconciled', reason, offset, contracts }));
};

/** Renews the budget once the participant does not prune faster than the contracts can be read. */
const renewBudget = (progress: Progress): MonoTypeOperatorFunction<FeedBatch> =>
  tap(({ page, isCaughtUp }) => {
    if (page !== undefined && isCaughtUp) progress.budget = progress.budget.renew();
  });

/** Returns a report function that also reports outages to the watch. */
const reportOutages =
  (report: Report, packages: PackageWatch): Report =>
  (body) => {
    const diagnostic = body();
    if (diagnostic._tag === 'RetryScheduled') packages.interrupted();
    report(() => diagnostic);
  };

/** A separate function, because its closure retains the first contracts, and those of the changes must not. */
const startingWith = <A>(first: A, source: Observable<A>): Observable<A> =>
  defer(() => [[first], source]).pipe(concatAll());

/** Reads the contracts again after a gap, if `onGap` allows it. */
const reloadAfterGap = (
  source: ContractsSource,
  { onGap }: ContractPolicies,
  progress: Progress,
): MonoTypeOperatorFunction<ContractsBatch<AnyContract>> =>
  retry({
    delay: (error: unknown) => {
      const { known, budget } = progress;
      const cursor = known.offset;
      const { failures, spentMs, leftMs } = budget;
      const retried = failures > 0 && leftMs <= 0 ? { times: failures, forMs: spentMs } : undefined;
      const isMoved = error instanceof MovedError;
      if (isMoved && retried !== undefined)
        throw withRetried(new LedgerResetError(cursor ?? 0, undefined, 'several ledgers answer in turn'), retried);
      if (!isMoved) {
        // the contracts cannot be read at this offset, at which the caller has them
        const isUnpaired = error instanceof UnpairedError && progress.reason === undefined;
        const isGap = (isGapError(error) || isUnpaired) && cursor !== undefined;
        if (isGap) progress.gap = { cursor, cause: error };
        if (!isGap || onGap === 'fail' || progress.isLost || retried !== undefined) {
          reportGap(source, progress);
          throw isGap && retried !== undefined ? withRetried(error, retried) : error;
        }
        progress.reason = isLedgerError(error, 'LedgerResetError') ? 'ledgerReset' : 'pruned';
        if (progress.reason === 'ledgerReset') progress.position = undefined;
      }
      progress.delayMs = isMoved || failures > 0 ? budget.nextDelayMs() : 0;
      progress.budget = budget.countFailure(progress.delayMs);
      return timer(0);
    },
  });

/** Reports a gap once it is known where the changes continue, or that they do not. */
function reportGap({ report }: ContractsSource, progress: Progress, resumesFrom?: Offset): void {
  const { gap } = progress;
  progress.gap = undefined;
  if (gap !== undefined)
    report(() => ({ _tag: 'GapFound', ...gap, ...(resumesFrom !== undefined && { resumesFrom }) }));
}
