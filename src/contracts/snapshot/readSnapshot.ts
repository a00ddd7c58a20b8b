import { concatMap, defer, type MonoTypeOperatorFunction, type Observable, retry, tap, timer } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { EventFormat } from '../../codecs/UpdateFormat.js';
import { isLedgerError, type LedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { isUnavailable } from '../../history/participant.js';
import { isGapError } from '../../feed/UpdatesOptions.js';
import { monotonicNow } from '../../http/clock.js';
import { clampTimer, retryAfterOf, RetryBudget, type RetrySettings } from '../../http/retry.js';
import type { ContractsSource } from '../ContractQuery.js';
import { readPairedAt, UnpairedError } from './pairHalves.js';
import { findOffset, type SnapshotPart } from './transports.js';

/** The snapshot to read. */
export interface SnapshotRequest {
  readonly eventFormat: EventFormat;
  /** `undefined` to read at the ledger end, and again at a later one if the snapshot cannot be completed. */
  readonly activeAtOffset?: Offset | undefined;
  /** The offset that the ledger end must have reached, because a replica may lag. */
  readonly notBefore?: Offset | undefined;
}

/**
 * Reads a snapshot: emits `SnapshotStarted`, entries, perhaps all of these again, and `SnapshotCompleted`. Then it
 * completes.
 *
 * A snapshot begins again if it cannot be continued: the participant rejects its token, or has pruned or lost its
 * offset; or if it has a contract in flight without its unassigned event. It then uses a later ledger end, unless the
 * request has an offset. It also begins again once if no transport
 * is available, or if a list without a limit takes too long. The retry policy limits the total time of all delays.
 */
export const readSnapshot = (
  source: ContractsSource,
  { eventFormat, activeAtOffset, notBefore }: SnapshotRequest,
): Observable<SnapshotPart> =>
  defer(() => {
    let offset = activeAtOffset;
    let hasToken = false;
    // whether a list without a limit took too long. That is an outage unless it happens twice
    let hasSlowList = false;
    // whether it has begun again because of such a list, or because no transport is available, which may be temporary
    let isRepeated = source.retry.giveUpAfterMs === 0;
    const isRestarted = (error: LedgerError): boolean => {
      // a socket was cut, and there is no token; requests that were retried as long as the policy allows have failed
      if (isTransient(error)) return !('retried' in error);
      // a ledger end that stays before the required offset has already been retried
      const isReset = isLedgerError(error, 'LedgerResetError') && error.cursor > 0 && error.cursor === notBefore;
      // the contract is no longer in flight at a later offset, within a minute unless the participant is cut off
      const isLater = isGapError(error) || error instanceof UnpairedError;
      const isLost = isLater && activeAtOffset === undefined && !isReset;
      const isTemporary = (hasSlowList || (isUnavailable(error) && !('retried' in error))) && !isRepeated;
      if (!isLost && !isTemporary && !isTokenRefused(error, hasToken)) return false;
      isRepeated ||= isTemporary;
      offset = activeAtOffset;
      return true;
    };
    return defer(() => (offset === undefined ? findOffset(source, notBefore) : [offset])).pipe(
      concatMap((found) => {
        offset = found;
        hasSlowList = false;
        const onSlowList = (): void => {
          hasSlowList = true;
        };
        const maxLagMs = activeAtOffset === undefined ? maxChosenLagMs : undefined;
        return readPairedAt({ source, eventFormat, offset, maxLagMs, onSlowList });
      }),
      tap(({ _tag }) => {
        hasToken = _tag === 'SnapshotEntries';
      }),
      restart(source, isRestarted),
      reportProgress(source),
    );
  });

/**
 * The time for which the ledger may end before an offset that was its end, until the snapshot begins again at another one. In
 * milliseconds.
 */
const maxChosenLagMs = 10_000;

/** The participant was upgraded, another node responds, or the token is corrupt. */
const isTokenRefused = (error: LedgerError, hasToken: boolean): boolean =>
  isLedgerError(error, 'ApiError') &&
  (error.code === 'INVALID_ACS_PAGE_TOKEN' ||
    error.code === 'INVALID_CONTINUATION_TOKEN' ||
    (error.code === 'INVALID_FIELD' && hasToken));

/**
 * Begins again after some errors, with the delays of the policy. Unlike in a feed, values do not renew its time, and
 * the time that single requests spent on retries counts.
 */
const restart =
  <A>(
    { retry: policy, report }: RetrySettings,
    isRestarted: (error: LedgerError) => boolean,
  ): MonoTypeOperatorFunction<A> =>
  (source) =>
    defer(() => {
      let budget = new RetryBudget(policy);
      const delay = (error: unknown): Observable<unknown> => {
        if (!isLedgerError(error)) throw error;
        if ('retried' in error) budget = budget.spend(error.retried.forMs);
        if (budget.leftMs <= 0 || !isRestarted(error)) throw error;
        const delayMs = budget.nextDelayMs(retryAfterOf(error));
        budget = budget.countFailure(delayMs);
        report(() => ({ _tag: 'SnapshotRestarted', cause: error, delayMs }));
        return timer(clampTimer(delayMs));
      };
      return source.pipe(retry({ delay }));
    });

/** Reports what was received of a snapshot, and its end. */
const reportProgress =
  ({ report }: RetrySettings): MonoTypeOperatorFunction<SnapshotPart> =>
  (source) =>
    defer(() => {
      let startedAt = 0;
      let receivedAt = 0;
      let total = 0;
      return source.pipe(
        tap((part) => {
          const now = monotonicNow();
          switch (part._tag) {
            case 'SnapshotStarted':
              startedAt = now;
              total = 0;
              break;
            case 'SnapshotEntries': {
              const count = part.entries.length;
              total += count;
              report(() => ({ _tag: 'SnapshotPageReceived', count, total, durationMs: now - receivedAt }));
              break;
            }
            case 'SnapshotCompleted':
              report(() => ({
                _tag: 'SnapshotCompleted',
                offset: part.offset,
                count: total,
                durationMs: now - startedAt,
              }));
          }
          receivedAt = now;
        }),
      );
    });
