import { asyncScheduler, catchError, concatMap, defer, map, type Observable, of, tap } from 'rxjs';
import type { Client } from '../../client/Client.js';
import type { DeduplicationPeriod } from '../../codecs/ExecuteRequest.js';
import type { Offset } from '../../codecs/scalars.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { isTransient } from '../../errors/verdict.js';
import { RequestTimeoutError } from '../../errors/request.js';
import { readParticipantId } from '../../history/participant.js';
import { monotonicNow } from '../../http/clock.js';
import { timeoutWith } from '../../http/retry.js';
import type { Ledger } from '../../ledger/Ledger.js';
import { durationPeriod, offsetPeriod } from '../../submission/deduplication.js';
import type { OutboxRow } from './OutboxRows.js';

/**
 * How far an attempt looks back before its command was enqueued, in milliseconds. A database that has lost its last commits
 * forgets what was sent; and if a handler enqueues a command again, its first attempts were before that. It covers a backup of each night,
 * and is less than most participants keep.
 */
const maxMarginMs = 36 * 3_600_000;

/** Committed commands that are kept for a shorter time may be meant to be repeated soon, in milliseconds. */
const minKeepMs = 24 * 3_600_000;

/** How long the offset of a time is used, in milliseconds. */
const foundMs = 60_000;

/** The maximum duration of a search, in milliseconds. */
const searchMs = 60_000;

/** To what times are rounded down, in milliseconds, so that the commands of an outage share a search. */
const stepMs = 3_600_000;

/** Returns the deduplication periods of the attempts of commands. */
export interface LookBack {
  /** Emits the period of an attempt. Fails with an error that passes. */
  readonly periodOf: (row: OutboxRow<CommandsRequest>) => Observable<DeduplicationPeriod>;
  /**
   * Returns the period of another attempt, after one that was not committed because the participant has pruned what it looks back to.
   * `undefined` if it would not reach an earlier one that may be.
   *
   * @param earliest - the first offset that the participant accepts; `Infinity` if it is not named
   */
  readonly laterPeriodOf: (row: OutboxRow<CommandsRequest>, earliest: Offset) => DeduplicationPeriod | undefined;
}

/**
 * Returns the periods of an outbox. A database may have forgotten that a command was sent, so each attempt looks back to before that
 * could be. An offset that the request names stays the start.
 *
 * A first attempt names a duration: that needs no search, and the clocks of database and participant need not agree. A later one must
 * also reach an earlier attempt exactly, which only an offset does. It is searched by the time.
 *
 * @param keepMs - how long a command id is not used again. A commit before that is of no concern
 */
export function lookBack(ledger: Ledger, client: Client, keepMs: number): LookBack {
  const marginMs = keepMs < minKeepMs ? undefined : Math.min(maxMarginMs, keepMs / 2);
  const isOpen = (row: OutboxRow<CommandsRequest>): boolean => marginMs !== undefined && givenStart(row) === undefined;
  const search = searches(ledger, client);
  return {
    periodOf: (row) => {
      const start = periodStart(row);
      if (marginMs === undefined || !isOpen(row)) return of(offsetPeriod(start));
      // its clock may have been set back
      const reachMs = Math.max(0, row.ageMs) + marginMs;
      if (!row.mayBeCommitted) return of(durationPeriod(Math.ceil(reachMs / 1_000)));
      return search(row, asyncScheduler.now() - reachMs).pipe(map((found) => offsetPeriod(Math.min(start, found))));
    },
    laterPeriodOf: (row, earliest) => {
      if (!isOpen(row) || (row.mayBeCommitted && earliest > row.since)) return undefined;
      return offsetPeriod(earliest === Infinity ? row.since : earliest);
    },
  };
}

/** How often a search is repeated before a command is sent without it. */
const maxSearches = 20;

/** The start of the period of a command without looking back: before every attempt that is known, and not after that of its request. */
export const periodStart = (row: OutboxRow<CommandsRequest>): Offset =>
  Math.min(givenStart(row) ?? row.since, row.since);

const givenStart = ({ request: { deduplicationPeriod: period } }: OutboxRow<CommandsRequest>): Offset | undefined =>
  period != null && 'DeduplicationOffset' in period ? period.DeduplicationOffset.value : undefined;

/** Returns the function that searches the offset of a time, for the parties of a command. `Infinity` if nothing shows it. */
function searches(ledger: Ledger, client: Client) {
  let all: readonly { readonly key: string; readonly offset: Offset; readonly at: number }[] = [];
  return (row: OutboxRow<CommandsRequest>, time: number): Observable<Offset> =>
    defer(() => {
      const now = monotonicNow();
      const { actAs: parties } = row.request;
      const from = Math.floor(time / stepMs) * stepMs;
      const key = JSON.stringify([row.participant, parties, from]);
      all = all.filter(({ at }) => now - at < foundMs);
      const known = all.find((each) => each.key === key);
      if (known !== undefined) return of(known.offset);
      return defer(() => ledger.offsetAt(new Date(from), { parties })).pipe(
        timeoutWith(searchMs, () => new RequestTimeoutError('/v2/updates', searchMs, client.host)),
        catchError((error: unknown) => {
          // what is pruned is before everything that the participant can show
          if (isLedgerError(error, 'PrunedError')) return of(error.earliestOffset ?? Infinity);
          throw error;
        }),
        // one of several participants may have answered, with other offsets
        concatMap((offset) =>
          readParticipantId(client).pipe(map((id) => (id === row.participant ? offset : Infinity))),
        ),
        tap((offset) => {
          all = [...all, { key, offset, at: now }];
        }),
        catchError((error: unknown) => {
          if (isLedgerError(error) && isTransient(error) && row.failures < maxSearches) throw error;
          return of(Infinity);
        }),
      );
    });
}
