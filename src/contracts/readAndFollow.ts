import {
  concat,
  concatAll,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  tap,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { LedgerResetError } from '../errors/feed.js';
import type { FeedBatch } from '../feed/LedgerFeed.js';
import { reportWithout } from '../client/Client.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import { placeOf } from '../feed/prove.js';
import { batches } from '../feed/updates.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import type { Place } from '../history/locate.js';
import type { KnownHistory } from '../history/ReaderHistory.js';
import { applyRead, isAllThere } from './applyRead.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch, ReconcileReason, Reset } from './ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsSource,
  eventFormatOf,
  updateFormatOf,
} from './ContractQuery.js';
import type { ContractSet } from './ContractSet.js';
import { applyUpdate, type Followed } from './followChanges.js';
import { type JoinProgress, reportGap } from './JoinProgress.js';
import { type LoadedContracts, type Moment, readContracts } from './readContracts.js';
import { readNothing, type Following, followSelection } from './selection/followSelection.js';
import { findBy, findOfOthers } from './selection/findBy.js';
import { isNobody, type Parties, type Selection } from './selection/Selection.js';
import { here, ifPruned, isStill, readParticipant, withPosition } from './withPosition.js';
import type { PackageWatch } from './reconcile/PackageWatch.js';
import { Suspicion } from './reconcile/Suspicion.js';

/** Contracts, and where they were read. */
type Placed = LoadedContracts & { readonly position: LedgerPosition };

/**
 * Reads the contracts and follows their changes. If there are earlier contracts, first reports that they are out of
 * date.
 */
export function readAndFollow(
  source: ContractsSource,
  types: ContractQuery & ContractPolicies,
  selection: Selection,
  progress: JoinProgress,
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
  const readPlaced = (at: Moment): Observable<Placed> => {
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
      // what was read after the start is missing in the contracts there
      const missing = reason === undefined ? elsewhere : undefined;
      const isComplete = missing === undefined || isAllThere(missing);
      const withMissing = (read: Placed): Observable<Placed> => {
        if (missing === undefined || !isComplete) return of(read);
        const { source: own, query, stubAt } = followedBy(parties);
        const path = own.client.learned.updatesPath;
        const had = { fold: read.fold, suspicion: new Suspicion(query) };
        const applied$ = applyRead(stubAt(read.position), missing, (update) => applyUpdate(path, update, had));
        return concat(applied$, (proof$ ?? EMPTY).pipe(ignoreElements()), of(read));
      };
      return readPlaced({ ...at, proof$ }).pipe(
        concatMap(withMissing),
        concatMap(({ fold, offset, position: found }) => {
          const { contracts } = fold;
          const verdict = verdictOf(progress, contracts, { isComplete, isFound: missing !== undefined });
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
  return announced(source, { reason, contracts: outdated, offset: previous, position: last }, followed$);
}

/** Says that contracts are out of date before they are read again. */
function announced(
  source: ContractsSource,
  { reason, contracts, offset, position }: Outdated,
  read$: Observable<ContractsBatch<AnyContract>>,
): Observable<ContractsBatch<AnyContract>> {
  const marker: ContractsBatch<AnyContract> = {
    ...{ items: [], offset, isCaughtUp: false, contracts },
    ...{ position, origin: { before: position, isAddressed: true } },
    reloads: reason,
  };
  if (reason !== 'ledgerReset') return startingWith(marker, read$);
  return readParticipant(source).pipe(
    concatMap((participantId) =>
      startingWith({ ...marker, position: { ...bareOffset(offset), participantId } }, read$),
    ),
  );
}

/** Contracts that are read again. */
interface Outdated {
  readonly reason: Reset['reason'];
  readonly contracts: ContractSet;
  readonly offset: Offset;
  readonly position: LedgerPosition;
}

/**
 * How the contracts at the offset of the caller differ from those that it has. If all is not in them that was read before, they are
 * not compared. If its updates were found, the ledger is the same.
 */
function verdictOf(
  { reason, others, compare }: JoinProgress,
  contracts: ContractSet,
  { isComplete, isFound }: { readonly isComplete: boolean; readonly isFound: boolean },
): 'same' | ReconcileReason | 'otherLedger' {
  if (reason !== undefined || !isComplete) return 'same';
  const verdict = others ? 'selectionChanged' : compare(contracts);
  return verdict === 'otherLedger' && isFound ? 'appeared' : verdict;
}

/** The feed after contracts at an offset. */
const feedAt = (
  { source, query, eventFormat }: Pick<Followed, 'source' | 'query' | 'eventFormat'>,
  progress: JoinProgress,
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
const renewBudget = (progress: JoinProgress): MonoTypeOperatorFunction<FeedBatch> =>
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
