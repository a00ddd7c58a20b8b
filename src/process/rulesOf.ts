import { checkPositive } from '../http/checkPositive.js';
import { retryPolicy, type RetryPolicy } from '../http/RetryPolicy.js';
import type { AnyProcessOptions, CommitEvery } from './ProcessOptions.js';
import type { Rules } from './Run.js';

/** How long a handler is tried again, in milliseconds, where the caller does not say: a failure that lasts is to be seen. */
const patienceMs = 60_000;

/** The rules of a processor; throws a TypeError for options that make no sense. */
export function rulesOf(options: AnyProcessOptions, ledgerRetry: RetryPolicy | undefined): Rules {
  const { name, store, batch, onPoison = 'stop', stopWithinMs, storeTimeoutMs = 1 } = options;
  // not by its type alone: options come from JavaScript, too
  const every: CommitEvery | undefined = options.commitEvery;
  const { ms = 1_000, updates = Infinity } = every ?? {};
  checkPositive({ storeTimeoutMs, stopWithinMs: (stopWithinMs ?? 0) + 1, commitEveryMs: ms });
  checkPositive({ size: batch?.size ?? 1, commitEveryUpdates: every?.updates ?? 1 }, true);
  checkPositive({ withinMs: (batch?.withinMs ?? 0) + 1 });
  if (store === undefined && name !== undefined) throw new TypeError('store is needed beside name');
  if (store !== undefined && (name === undefined || name === '')) throw new TypeError('name is needed beside store');
  if (batch !== undefined && every !== undefined) throw new TypeError('commitEvery has no effect beside batch');
  if (onPoison === 'park' && store?.park === undefined)
    throw new TypeError("onPoison: 'park' needs a store that has park");
  const ledgers = retryPolicy(ledgerRetry);
  return {
    select: options.select ?? (() => true),
    takesBatches: batch !== undefined,
    commitEveryMs: ms,
    commitEveryUpdates: batch?.size ?? updates,
    handlerRetry: retryPolicy(
      { ...ledgers, giveUpAfterMs: Math.min(ledgers.giveUpAfterMs, patienceMs) },
      options.handlerRetry,
    ),
    onPoison,
  };
}
