import type { OffsetCheckpoint } from '../codecs/OffsetCheckpoint.js';
import { DecodeError } from '../errors/feed.js';
import type { Page } from '../feed/Page.js';
import type { AnyContract } from './Contract.js';
import type { ContractsChanged } from './ContractChange.js';
import type { ContractsFold } from './ContractsFold.js';

/** What an update changes, or a checkpoint. */
export type AppliedChange<C extends AnyContract> = ContractsChanged<C> | OffsetCheckpoint;

/** The changes of some updates, up to one that cannot be applied. */
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

/** Throws a DecodeError for an update or an event of an unknown kind: it may change contracts, which would be wrong without it. */
function applyUpdate(
  path: string,
  update: Page['updates'][number],
  fold: ContractsFold<AnyContract>,
): AppliedChange<AnyContract> | undefined {
  switch (update._tag) {
    case 'OffsetCheckpoint':
      return update;
    // not requested, and it changes no contract
    case 'TopologyTransaction':
      return undefined;
    case 'Transaction':
    case 'Reassignment':
      if (update.events.every(({ _tag }) => _tag !== 'UnknownEvent')) return fold.apply(update);
  }
  throw new DecodeError(path, [{ path: '', expected: 'an update of a known kind' }], update.offset);
}
