import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, type Observable, of, tap } from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { ledgerEffects } from '../codecs/UpdateFormat.js';
import { LedgerResetError } from '../errors/feed.js';
import { RequestTimeoutError } from '../errors/request.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { bareHistory, historyOf } from '../feed/historyOf.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import type { AnyFeed } from '../feed/LedgerFeed.js';
import { positionAt } from '../feed/positionAt.js';
import { createLedgerFeed } from '../feed/UpdatesOptions.js';
import type { LedgerPosition } from '../codecs/LedgerPosition.js';
import { locate, type Place } from '../history/locate.js';
import { isUnavailable, readParticipantId, seenParticipantId } from '../history/participant.js';
import type { Client } from '../client/Client.js';
import { timeoutWith } from '../http/retry.js';
import type { Kind } from './codes.js';

/** A position before all attempts to submit a change. Attempts that were committed have a later offset. */
export interface LedgerStart extends LedgerPosition {
  /** What is known of the ledger when the change is first sent. It may be later than the start. */
  readonly latest?: LedgerPosition | undefined;
  /** Whether the caller names it. */
  readonly isGiven?: boolean;
  /** Whether the caller names an offset only. A commit before that is of no concern. */
  readonly isBare?: boolean;
  /** Whether it could not be read, so that it is the beginning of the ledger. */
  readonly isUnread?: boolean;
}

/**
 * Emits the present end of a ledger, with the last updates that the parties see there. The participant is the same before and
 * after, so that end and updates belong to it.
 */
export const readStart = (client: Client, parties: readonly string[]): Observable<LedgerPosition> =>
  defer(() => {
    const seen = seenParticipantId(client);
    return seen === undefined ? readParticipantId(client) : of(seen);
  }).pipe(
    concatMap((participantId) =>
      ledgerEnd(client).pipe(
        concatMap((offset) => readAt(client, parties, offset, participantId)),
        concatMap((start) =>
          readParticipantId(client).pipe(
            concatMap((now = participantId) => (now === participantId ? of(start) : readStart(client, parties))),
          ),
        ),
      ),
    ),
  );

/**
 * Emits where the changes begin that began at a position before: there, if the ledger is the same; where that is now, if the ledger was
 * restored from a backup; at the present end of another ledger.
 */
export const startAgain = (
  client: Client,
  parties: readonly string[],
  last: LedgerPosition,
  now: LedgerPosition,
): Observable<LedgerPosition> => {
  if (now.offset < last.offset || areDifferent(now.participantId, last.participantId)) return of(now);
  const { participantId = now.participantId } = last;
  // attempts stay at a participant that serves its ID by now
  const same = participantId === last.participantId ? last : { ...last, participantId };
  return locate(historyAt(client, parties, last), last, false).pipe(
    concatMap((place) => (place._tag === 'Here' ? of(same) : readAt(client, parties, place.start, participantId))),
    catchError((error: unknown) => {
      if (isLedgerError(error, 'LedgerResetError', 'PrunedError')) return of(now);
      throw error;
    }),
  );
};

/** Whether two participants are known, and not the same. */
export const areDifferent = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

/** A start whose ledger must still be there, and what is known of the change that began at it. */
interface Begun {
  readonly client: Client;
  readonly start: LedgerStart;
  /** Whose attempts stay at one participant. */
  readonly change: { participantId: string | undefined };
  readonly strategy: { readonly kind: Kind };
  readonly submission: { readonly actAs: readonly string[] };
}

/**
 * Emits where the start of a change is on the participant that answers now; `undefined` if nothing shows it. Fails with a
 * `LedgerResetError` if the ledger ends before the start, or belongs to another participant. If the participant of the start is
 * unknown, the one that answers now is that of the change from now on.
 */
export const locateStart = ({ client, start, change, strategy, submission }: Begun): Observable<Place | undefined> =>
  defer(() => {
    const known = start.latest ?? start;
    const { participantId = change.participantId } = known;
    // all participants of a party accept its signed bytes
    const mustLearn = participantId === undefined && strategy.kind === 'hosted';
    const learned$ = readParticipantId(client).pipe(
      tap((id) => {
        change.participantId = id;
      }),
      ignoreElements(),
    );
    const history = historyAt(client, submission.actAs, known);
    return concat(mustLearn ? learned$ : EMPTY, locate(history, { ...known, participantId }, false));
  }).pipe(
    catchError((error: unknown) => {
      // it is no longer at its offset, and what would show where it is has been pruned
      if (isLedgerError(error, 'PrunedError')) throw movedFrom(start);
      // a gateway may block the paths
      if (isUnavailable(error) || (isLedgerError(error, 'ApiError') && !isTransient(error))) return of(undefined);
      throw error;
    }),
  );

/**
 * Completes if the ledger is still the one of a start, at the same offsets. A deduplication period that begins at an offset of
 * another ledger does not protect. Fails with a `LedgerResetError` otherwise.
 */
export const proveStart = (begun: Begun): Observable<never> =>
  locateStart(begun).pipe(
    tap((place) => {
      if (place?._tag === 'Elsewhere') throw movedFrom(begun.start);
    }),
    ignoreElements(),
  );

/** The error of a change whose ledger was restored. The participant does not recognize what it committed after its backup. */
export const movedFrom = ({ offset }: LedgerStart): LedgerResetError =>
  new LedgerResetError(offset, undefined, 'it was restored from a backup, and its updates have other offsets');

/** Why a submission is not sent: it would be to another ledger than the one that its client has seen. */
export const replacement = ({ difference = 'it ends earlier' }: LedgerResetError): string =>
  `another ledger has taken the place of the first: ${difference}`;

/** How long to read what parties see at a start, in milliseconds. */
const readTimeoutMs = 2_000;

/** In how many updates before a start the last one of each synchronizer is looked for. */
const maxUpdates = 10;

/** Emits the position at an offset, with the last updates that the parties see there. Without them, it proves less. */
const readAt = (
  client: Client,
  parties: readonly string[],
  offset: Offset,
  participantId: string | undefined,
): Observable<LedgerPosition> => {
  const none: LedgerPosition = { offset, participantId, recordTimes: {} };
  if (parties.length === 0) return of(none);
  const feed = feedOf(client, parties, offset);
  const path = feed.source.path(client);
  return positionAt(feed, { offset, participantId, begin: Math.max(0, offset - 1), maxUpdates }).pipe(
    timeoutWith(readTimeoutMs, () => new RequestTimeoutError(path, readTimeoutMs, client.host)),
    catchError(() => of(none)),
  );
};

/** What the participant shows of a position. Without an update, its end is enough: no ledger ends before its beginning. */
const historyAt = (client: Client, parties: readonly string[], { offset, lastUpdate }: LedgerPosition) => {
  if (lastUpdate !== undefined) return historyOf(feedOf(client, parties, offset));
  const history = bareHistory(client);
  return offset === 0 ? { ...history, ledgerEnd$: of(undefined) } : history;
};

/** The updates of some parties, of which each is read once. */
const feedOf = (client: Client, parties: readonly string[], beginExclusive: Offset): AnyFeed =>
  createLedgerFeed(
    client,
    { beginExclusive, updateFormat: ledgerEffects({ parties, topology: false }) },
    { retry: { giveUpAfterMs: 0 } },
    undefined,
    () => undefined,
  );
