import { concatAll, concatMap, defer, type MonoTypeOperatorFunction, type Observable, retry, skip, timer } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import { DecodeError, LedgerResetError } from '../errors/feed.js';
import { isLedgerError, withRetried } from '../errors/LedgerError.js';
import { InvalidRequestError } from '../errors/request.js';
import type { Page } from '../feed/Page.js';
import type { Step } from '../feed/LedgerFeed.js';
import { reportWithout } from '../feed/Service.js';
import { createLedgerFeed, isGapError } from '../feed/UpdatesOptions.js';
import { steps } from '../feed/updates.js';
import { RetryBudget } from '../http/retry.js';
import type { AnyContract } from './Contract.js';
import type { ContractsChanged, Reset } from './ContractChange.js';
import {
  type ContractPolicies,
  type ContractQuery,
  type ContractsSource,
  eventFormatOf,
  updateFormatOf,
} from './ContractQuery.js';
import type { ContractSet } from './ContractSet.js';
import type { ContractsFold } from './ContractsFold.js';
import { readContracts, readKnownTypes } from './readContracts.js';
import { UnpairedError } from './snapshot/pairHalves.js';

/** One step of the join of snapshot and feed: a `Reset`, or the changes of a page of updates. */
export interface JoinStep<C extends AnyContract> {
  /** The changes, in order. */
  readonly changes: readonly (Reset<C> | ContractsChanged<C> | OffsetCheckpoint)[];
  /** The offset up to which the changes are complete. */
  readonly offset: Offset;
  /** Whether that is the ledger end, as far as it is known. */
  readonly isCaughtUp: boolean;
  /** The contracts after these changes: the same object as before if they changed none. */
  readonly contracts: ContractSet<C>;
  /** Why the contracts are read again now: they are no longer those of the ledger. Such a step has no changes. */
  readonly reloads?: Reset['reason'];
}

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
   * Whether the contracts at `resumeFrom` are those that the caller has. If not, the ledger was reset. Default: they
   * are.
   */
  readonly isSame?: ((contracts: Iterable<AnyContract>) => boolean) | undefined;
  /**
   * Emits whether the ledger is still that of the caller's contracts, after an outage while they are read again.
   * Default: nothing shows it.
   */
  readonly isSameLedger$?: Observable<boolean> | undefined;
  /** The reason of the first `Reset`. */
  readonly reason?: Reset['reason'] | undefined;
  /** The participant to which the offset belongs. Default: the one that serves the first snapshot. */
  readonly participantId?: string | undefined;
}

/**
 * Joins the snapshot of a query with the feed after it, at one offset. Emits each step before the next one begins.
 *
 * @param ready$ - emits when the next step of the feed may begin; default: at once
 */
export const join = (
  source: ContractsSource,
  { query, resumeFrom, notBefore, isSame = () => true, isSameLedger$, reason = 'start', participantId }: JoinRequest,
  ready$?: Observable<unknown>,
): Observable<JoinStep<AnyContract>> =>
  defer(() => {
    if (resumeFrom !== undefined && !Offset.is(resumeFrom))
      throw new InvalidRequestError([{ path: 'resumeFrom', expected: Offset.name }]);
    const progress: Progress = {
      known: { offset: resumeFrom ?? notBefore, contracts: undefined },
      reason: resumeFrom === undefined ? reason : undefined,
      isSame,
      isSameLedger$,
      participantId,
      gap: undefined,
      delayMs: 0,
      budget: new RetryBudget(source.retry),
    };
    return readKnownTypes(source, query, (known) => {
      // not silent even at the start: while the type was unknown, the changes did not include its contracts
      if (query.onUnknownPackage === 'wait' && progress.known.offset !== undefined) progress.reason = 'packageFound';
      return defer(() => readFrom(source, known, progress, ready$)).pipe(reloadAfterGap(source, query, progress));
    });
  });

/** How far the changes of a subscription are complete, and why the contracts are read next. */
interface Progress {
  /** The offset is `undefined` before the first `Reset`; the contracts, before they are read for the first time. */
  known: { readonly offset: Offset | undefined; readonly contracts: ContractSet | undefined };
  /** The reason of the next `Reset`; `undefined` if the caller has the contracts at the offset. */
  reason: Reset['reason'] | undefined;
  readonly isSame: NonNullable<JoinRequest['isSame']>;
  readonly isSameLedger$: JoinRequest['isSameLedger$'];
  /** The participant of the contracts, if it is known before they are read; `undefined` after a reset of the ledger. */
  participantId: string | undefined;
  /** The gap after which the contracts are read again, if it is not reported yet. */
  gap: Omit<DiagnosticOf<'GapFound'>, '_tag'> | undefined;
  /** The delay before the contracts are read, in milliseconds. */
  delayMs: number;
  /** The delays of consecutive reloads: a participant may prune faster than the contracts can be read. */
  budget: RetryBudget;
}

/**
 * Reads the contracts and follows their changes. If there are earlier contracts, first reports that they are out of
 * date.
 */
function readFrom(
  source: ContractsSource,
  query: ContractQuery & ContractPolicies,
  progress: Progress,
  ready$: Observable<unknown> | undefined,
): Observable<JoinStep<AnyContract>> {
  const eventFormat = eventFormatOf(query);
  const { reason, delayMs, isSameLedger$ } = progress;
  const { offset: previous = 0, contracts: outdated } = progress.known;
  const at =
    reason === undefined ? { activeAtOffset: previous } : { notBefore: reason === 'ledgerReset' ? 0 : previous };
  // contracts that are not the first ones are of the same ledger, or replace those of another one
  const isProven = progress.known.offset === undefined || reason === 'ledgerReset';
  const contracts$ = readContracts(source, query, eventFormat, { ...at, ...(!isProven && { isSameLedger$ }) });
  const followed$ = (delayMs === 0 ? contracts$ : timer(delayMs).pipe(concatMap(() => contracts$))).pipe(
    concatMap(({ fold, offset }) => {
      if (reason === undefined && !progress.isSame(fold.contracts))
        throw new LedgerResetError(offset, undefined, 'the contracts at this offset are not those of the cursor');
      reportGap(source, progress, offset);
      const { contracts } = fold;
      progress.known = { offset, contracts };
      const reset = { _tag: 'Reset' as const, reason: reason ?? 'start', offset, contracts: contracts.toArray() };
      const feed = createLedgerFeed(
        source.service,
        { beginExclusive: offset, updateFormat: updateFormatOf(eventFormat, query.includeExercises) },
        // waiting would abort the prefetched requests
        { ...source.updates, ...(ready$ && { parallelRanges: 1 }), onGap: 'fail' },
        source.retry,
        // the changes may continue after a gap
        reportWithout(source.report, 'GapFound', 'FeedEnded'),
        { position: { offset, recordTimes: {}, participantId: progress.participantId }, hasRead: true },
      );
      const changes = reason === undefined ? [] : [reset];
      const loaded: JoinStep<AnyContract> = { changes, offset, isCaughtUp: false, contracts };
      const applied$ = steps(feed, ready$).pipe(
        // skips the start
        skip(1),
        concatMap((step) => applyStep(feed.service.learned.updatesPath, step, fold, progress)),
      );
      return startingWith(loaded, applied$);
    }),
  );
  if (outdated === undefined || reason === undefined) return followed$;
  const isCaughtUp = false;
  return startingWith({ changes: [], offset: previous, isCaughtUp, contracts: outdated, reloads: reason }, followed$);
}

/** A separate function, because its closure retains the first contracts, and those of the changes must not. */
const startingWith = <A>(first: A, source: Observable<A>): Observable<A> =>
  defer(() => [[first], source]).pipe(concatAll());

/**
 * Applies a step of the feed to the contracts. If an update cannot be applied, the error comes after the updates before
 * it.
 */
function* applyStep(
  path: string,
  { position, page }: Step,
  fold: ContractsFold<AnyContract>,
  progress: Progress,
): Generator<JoinStep<AnyContract>, void> {
  if (page !== undefined && position.hasCaughtUp) progress.budget = progress.budget.renew();
  const changes: (ContractsChanged | OffsetCheckpoint)[] = [];
  let failure: { readonly error: unknown } | undefined;
  try {
    for (const update of page?.updates ?? []) changes.push(...applyUpdate(path, update, fold));
  } catch (error) {
    failure = { error };
  }
  const last = changes.at(-1)?.offset ?? progress.known.offset ?? 0;
  if (failure === undefined && position.cursor > last)
    changes.push({ _tag: 'OffsetCheckpoint', offset: position.cursor, synchronizerTimes: [] });
  const offset = changes.at(-1)?.offset ?? last;
  const { contracts } = fold;
  progress.known = { offset, contracts };
  yield { changes, offset, isCaughtUp: position.hasCaughtUp, contracts };
  if (failure !== undefined) throw failure.error;
}

/**
 * Returns the change that an update makes, if it makes one, or the checkpoint. Throws a DecodeError for an unknown kind
 * of update or event: without it, the contracts might be wrong.
 */
function applyUpdate(
  path: string,
  update: Page['updates'][number],
  fold: ContractsFold<AnyContract>,
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
        return change === undefined ? [] : [change];
      }
  }
  const updateId = 'updateId' in update ? update.updateId : undefined;
  throw new DecodeError(path, [{ path: '', expected: 'an update of a known kind' }], update.offset, updateId);
}

/** Reads the contracts again after a gap, if `onGap` allows it. */
const reloadAfterGap = (
  source: ContractsSource,
  { onGap }: ContractPolicies,
  progress: Progress,
): MonoTypeOperatorFunction<JoinStep<AnyContract>> =>
  retry({
    delay: (error: unknown) => {
      const { known, budget } = progress;
      const cursor = known.offset;
      // the contracts cannot be read at this offset, at which the caller has them
      const isUnpaired = error instanceof UnpairedError && progress.reason === undefined;
      const isGap = (isGapError(error) || isUnpaired) && cursor !== undefined;
      if (isGap) progress.gap = { cursor, cause: error };
      const { failures, spentMs, leftMs } = budget;
      const isSpent = failures > 0 && leftMs <= 0;
      if (!isGap || onGap === 'fail' || isSpent) {
        reportGap(source, progress);
        throw isGap && isSpent ? withRetried(error, { times: failures, forMs: spentMs }) : error;
      }
      progress.reason = isLedgerError(error, 'LedgerResetError') ? 'ledgerReset' : 'pruned';
      if (progress.reason === 'ledgerReset') progress.participantId = undefined;
      const delayMs = failures === 0 ? 0 : budget.nextDelayMs();
      progress.budget = budget.countFailure(delayMs);
      progress.delayMs = delayMs;
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
