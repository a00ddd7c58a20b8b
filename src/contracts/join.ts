import { type Observable, throwError } from 'rxjs';
import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Offset } from '../codecs/scalars.js';
import type { AnyContract } from './Contract.js';
import type { ContractsChanged, Reset } from './ContractChange.js';
import type { ContractPolicies, ContractQuery } from './ContractQuery.js';
import type { ContractsFold } from './ContractsFold.js';
import type { ContractsSource } from './ContractsSource.js';

/** One step of the join of snapshot and feed: a `Reset`, or the changes of a page of updates. */
export interface JoinStep<C extends AnyContract> {
  /** In order. */
  readonly changes: readonly (Reset<C> | ContractsChanged<C> | OffsetCheckpoint)[];
  /** The changes are complete up to here. */
  readonly offset: Offset;
  /** Whether that is the end of the ledger, as far as it is known. */
  readonly isCaughtUp: boolean;
  /** The state after these changes. It is mutated by the next step. */
  readonly fold: ContractsFold<C>;
}

/** What to join, and from where. */
export interface JoinRequest {
  readonly query: ContractQuery & ContractPolicies;
  /**
   * The caller has the contracts at this offset: they are read again, but not emitted, and the changes continue after it.
   * `undefined`: begins with a `Reset`.
   */
  readonly resumeFrom?: Offset | undefined;
  /** The reason of the first `Reset`. */
  readonly reason?: Reset['reason'] | undefined;
}

/**
 * Joins the snapshot of a query and the feed after it, at one offset. A step is emitted before the next begins.
 *
 * @param ready$ - emits when the next step of the feed may begin; by default at once
 */
export const join = (
  source: ContractsSource,
  request: JoinRequest,
  ready$?: Observable<unknown>,
): Observable<JoinStep<AnyContract>> =>
  throwError(() => new Error(`not built: ${String(source)} ${String(request)} ${String(ready$)}`));
