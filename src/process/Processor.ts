import type { Observable } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { Report } from '../diagnostics/Diagnostic.js';
import { checkPositive, type CompleteRetryPolicy, retryPolicy, type RetryPolicy } from '../http/retry.js';
import type { Transactions } from './CheckpointStore.js';
import type { Cursor } from './Cursor.js';
import type { AnyProcessOptions, CommitEvery, Work } from './ProcessOptions.js';

/** A processor that holds its name: its handler, its store and its settings. */
export interface Processor extends Stop, ProcessorSettings, AnyHandler {
  readonly transactions: Transactions<unknown>;
  /** Whether the effects of a handler are rolled back when it fails. */
  readonly isTransactional: boolean;
  readonly load$: Observable<unknown>;
  readonly save: (cursor: Cursor, tx: unknown) => Observable<unknown>;
  readonly park: (offset: Offset, parked: unknown, tx: unknown) => Observable<unknown>;
  /** The path of the requests for updates, for errors. */
  readonly path: string;
  readonly report: Report;
}

/** Handles one update, or several if it takes batches. A method, since its type does not say which of the two. */
export interface AnyHandler {
  handle(work: Work | readonly Work[], tx: unknown): unknown;
}

/** Whether a processor must stop. */
export interface Stop {
  /** Emits when the processor must stop. */
  readonly stop$: Observable<unknown>;
  readonly isStopped: () => boolean;
}

/** The options of a processor that its work depends on, with their defaults. */
interface ProcessorSettings {
  readonly select: (update: Work) => boolean;
  readonly takesBatches: boolean;
  readonly commitEveryMs: number;
  readonly commitEveryUpdates: number;
  readonly handlerRetry: CompleteRetryPolicy;
  readonly onPoison: 'stop' | 'skip' | 'park';
}

/** The default limit of a handler's retries, in milliseconds: a failure that lasts must become visible. */
const handlerGiveUpAfterMs = 60_000;

/** The settings of a processor. Throws a TypeError for options that are invalid, or do not go together. */
export function processorSettings(options: AnyProcessOptions, ledgerRetry: RetryPolicy | undefined): ProcessorSettings {
  const { name, store, batch, onPoison = 'stop', stopWithinMs, storeTimeoutMs = 1 } = options;
  // JavaScript may pass both batch and commitEvery, which the types exclude
  const every: CommitEvery | undefined = options.commitEvery;
  const { ms = 1_000, updates = Infinity } = every ?? {};
  checkPositive({ storeTimeoutMs, stopWithinMs: (stopWithinMs ?? 0) + 1, commitEveryMs: ms });
  checkPositive({ size: batch?.size ?? 1, commitEveryUpdates: every?.updates ?? 1 }, true);
  checkPositive({ withinMs: (batch?.withinMs ?? 0) + 1 });
  if (store === undefined && name !== undefined) throw new TypeError('store is required with name');
  if (store !== undefined && (name === undefined || name === '')) throw new TypeError('name is required with store');
  if (batch !== undefined && every !== undefined) throw new TypeError('commitEvery is not allowed with batch');
  if (onPoison === 'park' && store?.park === undefined)
    throw new TypeError("onPoison: 'park' requires a store with park");
  const policy = retryPolicy(ledgerRetry);
  return {
    select: options.select ?? (() => true),
    takesBatches: batch !== undefined,
    commitEveryMs: ms,
    commitEveryUpdates: batch?.size ?? updates,
    handlerRetry: retryPolicy(
      { ...policy, giveUpAfterMs: Math.min(policy.giveUpAfterMs, handlerGiveUpAfterMs) },
      options.handlerRetry,
    ),
    onPoison,
  };
}
