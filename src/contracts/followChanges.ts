import {
  catchError,
  concat,
  concatMap,
  connect,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  ignoreElements,
  map,
  merge,
  NEVER,
  type Observable,
  of,
  shareReplay,
  take,
  takeWhile,
  tap,
} from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { EventFormat } from '../codecs/UpdateFormat.js';
import { DecodeError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import type { AnyFeed, FeedBatch } from '../feed/LedgerFeed.js';
import type { Page } from '../feed/Page.js';
import { monotonicNow } from '../http/clock.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance, type Origin } from '../history/positions.js';
import type { Place } from '../history/locate.js';
import type { AnyContract } from './Contract.js';
import {
  type ContractsBatch,
  type ContractsChanged,
  type ContractsReconciled,
  type ReconcileReason,
  isDifference,
} from './ContractChange.js';
import type { ContractPolicies, ContractQuery, ContractsSource, SelectedQuery } from './ContractQuery.js';
import type { ContractsFold } from './ContractsFold.js';
import { readContracts } from './readContracts.js';
import type { PackageWatch } from './reconcile/PackageWatch.js';
import { Suspicion } from './reconcile/Suspicion.js';
import { here, isStill, MovedError } from './withPosition.js';
import { UnpairedError } from './snapshot/pairHalves.js';

/** The contracts to keep up to date. */
export interface Followed {
  readonly source: ContractsSource;
  readonly query: SelectedQuery & ContractPolicies;
  readonly eventFormat: EventFormat;
  readonly packages: PackageWatch;
  /** Finds a position on the participant that answers. */
  readonly find: (position: LedgerPosition) => Observable<Place>;
  /** Returns a feed at a position that is only used to look at the ledger. */
  readonly stubAt: (position: LedgerPosition) => AnyFeed;
}

/** Contracts at an offset. */
export interface Read {
  readonly fold: ContractsFold<AnyContract>;
  readonly offset: Offset;
  /** What was read of the ledger with them. */
  readonly position: LedgerPosition;
  /** Whether they have everything that was read before; if not, that is applied to them without a change. */
  readonly isComplete: boolean;
}

/**
 * Applies the batches of a feed to the contracts. If there are signs that some are missing, reads the contracts again at the
 * offset that was reached, and emits the difference as one change; then the feed continues after that offset. So a contract
 * is neither missed nor emitted twice: the changes up to the offset are in both, and those after it in neither.
 *
 * @param feed - returns the batches of the feed, each of which begins when `ready$` emits: while the contracts are read,
 * no pages pile up
 * @param leave$ - emits when to complete, which happens only where another feed can continue
 */
export const followChanges = (
  followed: Followed,
  progress: Progress,
  feed: (ready$: Observable<unknown>) => Observable<FeedBatch>,
  leave$: Observable<unknown> = NEVER,
): Observable<ContractsBatch<AnyContract>> =>
  defer(() => {
    const { packages } = followed;
    const { suspicion } = progress;
    let isFree$: Observable<unknown> = always$;
    const check$ = defer(() => {
      const { due } = suspicion;
      // at other offsets, the contracts are ahead of the feed until it has passed what was read before
      if (due === undefined || !progress.origin.isAddressed) return [];
      const reconciled$ = reconcile(followed, progress, due).pipe(shareReplay({ bufferSize: 1, refCount: true }));
      // the feed waits for it, too
      const isDone$ = reconciled$.pipe(
        ignoreElements(),
        catchError(() => []),
      );
      isFree$ = concat(isDone$, always$);
      return reconciled$;
    });
    return feed(defer(() => isFree$.pipe(take(1)))).pipe(
      tap(({ page }) => {
        packages.received(page);
      }),
      connect((batches$) =>
        merge(
          batches$,
          // changes do not wait for the list of packages
          batches$.pipe(
            filter(() => packages.isDue),
            exhaustMap(() => packages.look()),
            filter((isFound) => isFound),
            map(() => 'packageFound' as const),
          ),
          leave$.pipe(map(() => 'leave' as const)),
        ),
      ),
      // not later: a feed that is left must not forget it
      tap((signal) => {
        if (signal === 'packageFound') suspicion.packageFound();
      }),
      concatMap((signal): Observable<ContractsBatch<AnyContract> | 'leave'> => {
        if (signal === 'leave') return canLeave(progress) ? of(signal) : EMPTY;
        if (signal === 'packageFound') return check$;
        const path = followed.source.client.learned.updatesPath;
        // what appeared at or before the offset that was reached comes before the changes after it
        const appeared$ = defer(() => {
          noteAppeared(signal, progress);
          return check$;
        });
        return concat(
          appeared$,
          defer(() => applyBatch(path, signal, progress)),
          check$,
        );
      }),
      takeWhile((batch) => batch !== 'leave'),
    );
  });

/** Returns the progress of a feed that begins with contracts. */
export const progressAt = ({ fold, offset, position, isComplete }: Read, query: ContractQuery): Progress => ({
  ...{ fold, position, isComplete },
  suspicion: new Suspicion(query),
  origin: { before: position, isAddressed: true },
  reached: offset,
  isCaughtUp: false,
  ...onward,
});

/**
 * Whether another feed can continue from the offset that was reached: what was read ends there, and nothing before it is read
 * again or is missing.
 */
const canLeave = ({ origin, position, reached, continuesUntil }: Progress): boolean =>
  origin.isAddressed && position.offset >= reached && monotonicNow() >= continuesUntil;

const always$ = defer(() => [true]);

/** The progress of a feed of changes. */
export interface Progress {
  readonly fold: ContractsFold<AnyContract>;
  readonly suspicion: Suspicion;
  /** The offset up to which all changes were applied. */
  reached: Offset;
  isCaughtUp: boolean;
  isComplete: boolean;
  /** What was read of the ledger, and where the last batch is in its history. */
  position: LedgerPosition;
  origin: Origin;
  /** The cursor of the feed. It may go back: after an outage, a feed reads again what follows its last update. */
  cursor: Offset;
  /** Whether it was noted that the feed has gone back and found updates there. */
  isBackNoted: boolean;
  /** Until when the feed continues: contracts cannot be read where it is. It may leave earlier if it comes to another offset. */
  continuesUntil: number;
}

/** A feed that has not gone back. */
const onward = { cursor: 0, isBackNoted: false, continuesUntil: -Infinity };

/**
 * Applies a batch of the feed to the contracts. If an update cannot be applied, the error comes after the updates before
 * it.
 */
function* applyBatch(
  path: string,
  { position: end, page, cursor, isCaughtUp, origin, moved }: FeedBatch,
  progress: Progress,
): Generator<ContractsBatch<AnyContract>, void> {
  const { fold, reached } = progress;
  // all that was read before was passed
  progress.isComplete ||= origin.isAddressed;
  const items: (ContractsChanged | OffsetCheckpoint)[] = [];
  let failure: { readonly error: unknown } | undefined;
  const applied: Page['updates'][number][] = [];
  try {
    for (const update of page?.updates.filter((each) => !isOld(each, reached)) ?? []) {
      const isRead = page?.repeated?.has(update) === true;
      if (!isRead || !progress.isComplete) {
        const changes = applyUpdate(path, update, progress);
        if (!isRead) items.push(...changes);
      }
      applied.push(update);
    }
  } catch (error) {
    failure = { error };
  }
  const last = items.at(-1)?.offset ?? progress.reached;
  if (failure === undefined && cursor > last)
    items.push({ _tag: 'OffsetCheckpoint', offset: cursor, synchronizerTimes: [] });
  const offset = items.at(-1)?.offset ?? last;
  // what cannot be applied must be read again after a restart
  const position = failure === undefined ? end : advance(origin.before, applied, origin.isAddressed);
  progress.reached = offset;
  progress.position = position;
  progress.isCaughtUp = isCaughtUp;
  if (offset !== reached || moved !== undefined) progress.continuesUntil = -Infinity;
  const isMoved = moved === 'elsewhere';
  yield { items, position, offset, isCaughtUp, contracts: fold.contracts, origin, ...(isMoved && { isMoved }) };
  if (failure !== undefined) throw failure.error;
}

/**
 * Notes that a batch has an update at or before the offset that was reached. It was not visible when the contracts were read, or
 * when the feed was there first. It cannot be applied now, because later ones may have ended its contracts, or because others
 * like it came before the place where the feed went back to.
 */
function noteAppeared({ cursor, page, moved, origin }: FeedBatch, progress: Progress): void {
  progress.origin = origin;
  if (moved === 'elsewhere') progress.reached = cursor;
  const { reached, suspicion } = progress;
  // contracts that are read again now have nothing of the batch: a restart must read it
  progress.position = { ...origin.before, offset: reached };
  if (cursor < progress.cursor) progress.isBackNoted = false;
  progress.cursor = cursor;
  const isNew = (update: Page['updates'][number]): boolean => page?.repeated?.has(update) !== true;
  const hasAppeared = page?.updates.some((update) => 'updateId' in update && isOld(update, reached) && isNew(update));
  if (!progress.isBackNoted && hasAppeared === true) {
    progress.isBackNoted = true;
    suspicion.appeared();
  }
  if (cursor >= reached) progress.isBackNoted = false;
}

/** Whether an update is at or before the offset that was reached. */
const isOld = ({ _tag, offset }: Page['updates'][number], reached: Offset): boolean =>
  _tag === 'OffsetCheckpoint' ? offset < reached : offset <= reached;

/**
 * Returns the change that an update makes, if it makes one, or the checkpoint. Throws a DecodeError for an unknown kind
 * of update or event: without it, the contracts might be wrong.
 */
export function applyUpdate(
  path: string,
  update: Page['updates'][number],
  { fold, suspicion }: Pick<Progress, 'fold' | 'suspicion'>,
): readonly (ContractsChanged | OffsetCheckpoint)[] {
  switch (update._tag) {
    case 'OffsetCheckpoint':
      return [update];
    case 'TopologyTransaction':
      return [];
    case 'Transaction':
    case 'Reassignment':
      if (update.events.every(({ _tag }) => _tag !== 'UnknownEvent')) {
        const change = fold.apply(update);
        suspicion.missed(fold.lacked);
        return change === undefined ? [] : [change];
      }
  }
  const updateId = 'updateId' in update ? update.updateId : undefined;
  throw new DecodeError(path, [{ path: '', expected: 'an update of a known kind' }], update.offset, updateId);
}

/**
 * Reads the contracts again at the offset that was reached. Emits a batch with the difference, if there is one. What was read
 * of the ledger is proven after that: contracts of another ledger must not be mixed with those of this one.
 */
const reconcile = (
  { source, query, eventFormat, find }: Followed,
  progress: Progress,
  reason: ReconcileReason,
): Observable<ContractsBatch<AnyContract>> =>
  defer(() => {
    const { fold, suspicion, reached: offset, isCaughtUp, position, origin } = progress;
    const proof$ = find(position).pipe(map(isStill(here)));
    return readContracts(source, query, eventFormat, { activeAtOffset: offset, proof$ }).pipe(
      concatMap((read): readonly ContractsBatch<AnyContract>[] => {
        const difference = fold.reconcile(read.fold);
        suspicion.checked(isDifference(difference));
        if (!isDifference(difference)) return [];
        const contracts = fold.contracts;
        source.report(() => ({ _tag: 'ContractsReconciled', reason, offset, contracts: contracts.size }));
        const change: ContractsReconciled = { _tag: 'ContractsChanged', reason, offset, ...difference };
        // a change without an update comes after what was read
        const after = { ...origin, before: position };
        return [{ items: [change], position, offset, isCaughtUp, contracts, origin: after }];
      }),
      catchError((error: unknown) => {
        // the contracts can be read at a later offset, which the feed reaches without a gap, or finds again elsewhere
        const isLater = error instanceof UnpairedError || error instanceof MovedError;
        if (!isLater && !isLedgerError(error, 'PrunedError')) throw error;
        suspicion.postponed();
        return [];
      }),
    );
  });
