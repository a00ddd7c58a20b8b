import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { checkPositive, type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Transactions } from './CheckpointStore.js';
import type { Cursor } from './Cursor.js';
import type { AnyProcessOptions, CommitEvery, Work } from './ProcessOptions.js';

/** How a processor works, with its defaults. */
interface ProcessorSettings {
  readonly select: (update: Work) => boolean;
  readonly takesBatches: boolean;
  readonly commitEveryMs: number;
  readonly commitEveryUpdates: number;
  readonly handlerRetry: CompleteRetryPolicy;
  readonly onPoison: 'stop' | 'skip' | 'park';
}

/** What handles updates and keeps the place, while a processor holds its name. */
export interface Processor extends Stop, ProcessorSettings, Handling {
  readonly transactions: Transactions<unknown>;
  /** Whether what a handler did is rolled back when it fails. */
  readonly isTransactional: boolean;
  readonly load$: Observable<unknown>;
  readonly save: (cursor: Cursor, tx: unknown) => Observable<unknown>;
  readonly park: (offset: Offset, parked: unknown, tx: unknown) => Observable<unknown>;
  /** The path at which updates are asked for. */
  readonly path: string;
  readonly report: Report;
}

/** A handler: of one update, or of several where it takes batches. A method, for no type says which of the two it is. */
export interface Handling {
  handle(work: Work | readonly Work[], tx: unknown): unknown;
}

/** Whether a processor is to stop. */
export interface Stop {
  /** Emits when it is to. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}

/** How long a handler is tried again, in milliseconds, where the caller does not say: a failure that lasts is to be seen. */
const patienceMs = 60_000;

/** The rules of a processor; throws a TypeError for options that make no sense. */
export function processorSettings(options: AnyProcessOptions, ledgerRetry: RetryPolicy | undefined): ProcessorSettings {
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
