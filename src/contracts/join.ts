import { defer, type Observable } from 'rxjs';
import { Offset } from '../codecs/scalars.js';
import { InvalidRequestError } from '../errors/request.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { RetryBudget } from '../http/retry.js';
import type { AnyContract } from './Contract.js';
import type { ContractsBatch, Reset } from './ContractChange.js';
import type { ContractPolicies, ContractQuery, ContractsSource, SelectedQuery } from './ContractQuery.js';
import { type Compare, type JoinProgress, type Others, reloadAfterGap } from './JoinProgress.js';
import { readAndFollow } from './readAndFollow.js';
import { readKnownTypes } from './readContracts.js';
import { PackageWatch } from './reconcile/PackageWatch.js';
import { type Selection, withSelection } from './selection/Selection.js';

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
  /** Compares the contracts at `resumeFrom`. Default: they are the same. */
  readonly compare?: Compare | undefined;
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
      const progress: JoinProgress = {
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
        return defer(() => readAndFollow(source, known, selection, progress, ready$)).pipe(
          reloadAfterGap(source, query, progress),
        );
      });
    };
    return withSelection(query, read);
  });
