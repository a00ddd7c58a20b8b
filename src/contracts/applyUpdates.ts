import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../codecs/Reassignment.js';
import type { Transaction } from '../codecs/Transaction.js';
import { DecodeError } from '../errors/feed.js';
import type { Page } from '../feed/Page.js';
import type { AnyContract } from './Contract.js';
import type { ContractsChanged } from './ContractChange.js';
import type { ContractsFold } from './ContractsFold.js';

/** The changes of one update, or a checkpoint. */
export type AppliedChange<C extends AnyContract> = ContractsChanged<C> | OffsetCheckpoint;

/** Returns the changes of some updates, up to the first one that cannot be applied. */
export function applyUpdates(
  path: string,
  updates: Page['updates'],
  fold: ContractsFold<AnyContract>,
): { readonly changes: AppliedChange<AnyContract>[]; readonly failure?: { readonly error: unknown } } {
  const changes: AppliedChange<AnyContract>[] = [];
  try {
    for (const update of updates) {
      const change = applyUpdate(path, update, fold);
      if (change !== undefined) changes.push(change);
    }
    return { changes };
  } catch (error) {
    return { changes, failure: { error } };
  }
}

function applyUpdate(
  path: string,
  update: Page['updates'][number],
  fold: ContractsFold<AnyContract>,
): AppliedChange<AnyContract> | undefined {
  if (update._tag === 'OffsetCheckpoint') return update;
  return hasContracts(path, update) ? fold.apply(update) : undefined;
}

/**
 * Whether an update may change contracts. Throws a DecodeError for an unknown kind of update or event: without it, the
 * contracts might be wrong.
 */
export function hasContracts(path: string, update: Page['updates'][number]): update is Transaction | Reassignment {
  switch (update._tag) {
    case 'OffsetCheckpoint':
    case 'TopologyTransaction':
      return false;
    case 'Transaction':
    case 'Reassignment':
      if (update.events.every(({ _tag }) => _tag !== 'UnknownEvent')) return true;
  }
  throw new DecodeError(path, [{ path: '', expected: 'an update of a known kind' }], update.offset);
}
