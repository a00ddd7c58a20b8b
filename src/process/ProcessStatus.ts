import { asyncScheduler, type Observable } from 'rxjs';
import type { Offset, Timestamp } from '../codecs/scalars.js';
import type { ProcessorRole } from '../diagnostics/ProcessDiagnostic.js';
import { checkNotNegative } from '../codecs/internal/numbers.js';
import type { Committed } from './ProcessOptions.js';

/**
 * What {@link processFeed} returns: the commits of a processor, and its status.
 *
 * @category Processing
 */
export interface Processor extends Observable<Committed> {
  /**
   * Emits the status now, every second, and when the processor begins and ends. Subscribing to it starts nothing. It
   * neither completes nor fails: after the processor has ended, the state is `'ended'`. While it is subscribed to, the
   * ledger end is read every 2 seconds. If that fails, the status has the last known one.
   *
   * @example
   * ```ts
   * import { acsDelta, createLedger } from 'canton-rx';
   * import { isReady, processFeed, updatesFeed } from 'canton-rx/process';
   * import { takeWhile } from 'rxjs';
   *
   * const ledger = createLedger({ baseUrl: 'http://127.0.0.1:7575' });
   * const request = { beginExclusive: 0, endInclusive: 20, updateFormat: acsDelta({ parties: 'any' }) };
   * const processor = processFeed(updatesFeed(ledger, request), () => undefined);
   * processor.status$.pipe(takeWhile(({ state }) => state !== 'ended', true)).subscribe((status) => {
   *   console.log(isReady(status), status.state, status.lagOffsets ?? '?');
   * });
   * processor.subscribe();
   * ```
   */
  readonly status$: Observable<ProcessStatus>;

  /**
   * Stops the present run: it begins nothing, finishes what is in flight, and completes. It takes at most `stopWithinMs`. Has no
   * effect unless the processor runs.
   */
  readonly stop: () => void;
}

/**
 * The status of a processor: plain JSON, for a health endpoint.
 *
 * @category Processing
 */
export interface ProcessStatus {
  /** The name of the processor; absent without a store. */
  readonly processor?: string;
  /**
   * `'leader'` if the processor holds its name and works; `'standby'` if another processor holds the name, and this one
   * could continue with the stored cursor; `'starting'` if neither is known: at the start, while the store or the
   * ledger cannot be reached, and unless the processor is subscribed to.
   */
  readonly role: ProcessorRole;
  /**
   * `'waiting'` unless the processor is the leader; `'paused'` if it waits until `canton-rx processors resume`, and commits nothing
   * until then. A leader is `'caughtUp'` if everything that the ledger was known to have
   * has been handled, and `'catchingUp'` otherwise. `'ended'` after the processor has completed, failed or was unsubscribed.
   */
  readonly state: 'waiting' | 'paused' | 'catchingUp' | 'caughtUp' | 'ended';
  /** Why the processor ended, if it failed. */
  readonly error?: string;
  /**
   * The offset up to which everything has been handled; for a standby, the offset of the cursor when it began to wait.
   * Absent until it is known.
   */
  readonly offset?: Offset;
  /** The last known ledger end; absent until it has been read. */
  readonly ledgerEnd?: Offset;
  /**
   * The number of offsets between `offset` and `ledgerEnd`. Not every offset is an update, or one that the request
   * selects. Absent if it is not known: unless the processor is the leader, and while the ledger end cannot be read.
   */
  readonly lagOffsets?: number;
  /**
   * The time since which the ledger end is known to be after `offset`, in milliseconds since the epoch; absent
   * otherwise.
   */
  readonly behindSince?: number;
  /** When the ledger end was last read, in milliseconds since the epoch; absent until then. */
  readonly seenAt?: number;
  /** The latest record time of all handled updates. */
  readonly recordTime?: Timestamp;
  /**
   * The age of `recordTime` in milliseconds, by the clock of the machine. On a quiet ledger it grows until the next
   * checkpoint of the participant, usually for at most a minute.
   */
  readonly recordTimeLagMs?: number;
  /** The number of updates handled since the processor was subscribed. */
  readonly handled: number;
  /** The number of updates handled per second, over the last ten seconds. */
  readonly updatesPerSecond: number;
  /**
   * The number of updates that are parked; absent while it cannot be read, and unless `onHandlerFailure` is `'park'` and the
   * store has `parked`.
   */
  readonly parked?: number;
  /** When the processor last committed, in milliseconds since the epoch; absent before the first commit. */
  readonly committedAt?: number;
  /** When this status was taken, in milliseconds since the epoch. */
  readonly at: number;
}

/**
 * The conditions under which a processor counts as ready.
 *
 * @category Processing
 */
export interface ReadyOptions {
  /**
   * The maximum lag, in offsets, of a ready processor that has not caught up.
   *
   * @defaultValue 0
   */
  readonly maxLagOffsets?: number | undefined;
  /**
   * The maximum age, in milliseconds, of the last reading of the ledger end.
   *
   * @defaultValue 60000
   */
  readonly maxAgeMs?: number | undefined;
  /**
   * The maximum time, in milliseconds, for which the ledger end may have been after the handled updates. On a quiet
   * ledger the cursor follows the ledger end within a minute.
   *
   * @defaultValue `maxAgeMs`
   */
  readonly maxBehindMs?: number | undefined;
  /**
   * Whether a standby counts as ready.
   *
   * @defaultValue true
   */
  readonly isStandbyReady?: boolean | undefined;
}

/**
 * Returns whether a processor is ready, for a readiness probe: it knows the ledger end, and has caught up, lags a
 * little, or is a standby; a paused one counts as a standby. A processor that is starting is not ready: it has not reached its store, or could not check
 * its cursor and its handler.
 *
 * @example
 * ```ts
 * import { isReady } from 'canton-rx/process';
 *
 * const seen = { role: 'leader',  ledgerEnd: 27, seenAt: Date.now(), handled: 3, updatesPerSecond: 0.3, at: Date.now() } as const;
 * isReady({ state: 'caughtUp', offset: 27, lagOffsets: 0, ...seen }); // true
 * isReady({ state: 'catchingUp', offset: 7, lagOffsets: 20, ...seen }); // false
 * ```
 *
 * @category Processing
 */
export const isReady = (status: ProcessStatus, options: ReadyOptions = {}): boolean =>
  whyNotReady(status, options) === undefined;

/** Returns why a processor is not ready, as {@link isReady} decides it, or `undefined`. */
export function whyNotReady(
  { role, state, error, offset = 0, ledgerEnd = Infinity, seenAt, behindSince }: ProcessStatus,
  { maxLagOffsets = 0, maxAgeMs = 60_000, maxBehindMs = maxAgeMs, isStandbyReady = true }: ReadyOptions,
): string | undefined {
  checkNotNegative({ maxLagOffsets, maxAgeMs, maxBehindMs });
  const now = asyncScheduler.now();
  // a status says how old its times are by `at`; a clock that was set since then makes them old until the next one
  const isOld = (time: number, maxMs: number): boolean => Math.abs(now - time) > maxMs;
  if (state === 'ended') return error === undefined ? 'it has ended' : 'it has failed';
  if (role === 'starting') return 'it starts: its store or the ledger has not answered';
  if (seenAt === undefined) return 'the ledger end has not been read';
  if (isOld(seenAt, maxAgeMs)) return `the ledger end has not been read for more than ${maxAgeMs} ms`;
  if (role === 'standby' && isStandbyReady) return undefined;
  if (role === 'standby') return state === 'paused' ? 'it is paused' : 'another processor is the leader';
  if (ledgerEnd - offset <= maxLagOffsets) return undefined;
  if (state !== 'caughtUp') return 'it has not caught up';
  return behindSince !== undefined && isOld(behindSince, maxBehindMs)
    ? `the ledger end has been after its offset for more than ${maxBehindMs} ms`
    : undefined;
}
