import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  share,
  takeUntil,
  tap,
  throwIfEmpty,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { bareHistory } from '../feed/historyOf.js';
import { ledgerEnd } from '../feed/ledgerEnd.js';
import { locate } from '../history/locate.js';
import { isUnavailable, readParticipantId, seenParticipantId } from '../history/participant.js';
import type { Client } from '../client/Client.js';
import type { Kind } from './codes.js';

/** A point of a ledger before all attempts to submit a change. Attempts that were committed have a later offset. */
export interface LedgerStart {
  readonly since: Offset;
  /** The participant to which the offset belongs, if it is known. */
  readonly participantId?: string | undefined;
  /** Whether the caller names it. */
  readonly isGiven?: boolean;
  /** Whether it could not be read, so that it is the beginning of the ledger. */
  readonly isUnread?: boolean;
}

/** How long to wait for the start, in milliseconds. It must not delay a submission for long. */
const startTimeoutMs = 5_000;

/**
 * The start of all changes that a ledger submits. It is read once, and again after an attempt whose outcome was unknown,
 * because another ledger may have taken the place of the first. If it is still the same, its start is kept, so that a
 * change that is submitted again is found.
 */
export class LedgerStarts {
  #shared$: Observable<LedgerStart> | undefined;
  #last: LedgerStart | undefined;
  /** The start is not after this offset: since then, changes were committed. */
  #atMost = Infinity;

  /**
   * Emits the start of a new change. Without a ledger end, it is the beginning of the ledger. Fails with a `LedgerResetError` if
   * another participant answers than the one that feeds and submissions had seen when the change began.
   */
  read(client: Client): Observable<LedgerStart> {
    return defer(() => {
      const participantId = seenParticipantId(client);
      // a feed has noticed another participant since then
      if (areDifferent(this.#last?.participantId, participantId)) this.forget();
      return (this.#shared$ ??= this.#read(client)).pipe(
        catchError(() => [{ since: 0, isUnread: true, participantId }]),
        tap((start) => {
          if (!areDifferent(start.participantId, participantId)) return;
          const difference = `the participant is ${start.participantId}, not ${participantId}`;
          throw new LedgerResetError(start.since, undefined, difference);
        }),
      );
    });
  }

  /** Reads the start again for the next change. */
  forget(): void {
    this.#shared$ = undefined;
  }

  /** Begins later, because the participant has pruned the start. */
  prunedTo(since: Offset): void {
    if (this.#last === undefined || this.#last.since >= since) return;
    this.#last = { ...this.#last, since };
    if (this.#shared$ !== undefined) this.#shared$ = of(this.#last);
  }

  /**
   * Begins before a commit that is not after the start: the start belongs to a ledger that was restored or replaced, and its
   * offset protects nothing. The commits of the present ledger are found from here on.
   */
  contradictedBy(offset: Offset, client: Client): void {
    if (this.#last !== undefined && this.#last.since < offset) return;
    this.#atMost = Math.min(this.#atMost, offset - 1);
    this.#last = undefined;
    this.#shared$ = this.#read(client);
  }

  /** Begins before a commit of this ledger whose change had another start, so that a later call finds it. */
  precede(offset: Offset): void {
    if (this.#last === undefined) {
      this.#atMost = Math.min(this.#atMost, offset - 1);
    } else if (this.#last.since >= offset) {
      this.#last = { ...this.#last, since: offset - 1 };
      if (this.#shared$ !== undefined) this.#shared$ = of(this.#last);
    }
  }

  /** Reads the start once for all changes that need it meanwhile or later, unless that fails. */
  #read(client: Client): Observable<LedgerStart> {
    const shared$ = readStart(client).pipe(
      map((now) => {
        if (this.#last !== undefined && isSameLedger(this.#last, now)) return this.#last;
        return { ...now, since: Math.min(now.since, this.#atMost) };
      }),
      tap((start) => {
        this.#last = start;
        this.#atMost = Infinity;
        // unless it was forgotten while it was read
        if (this.#shared$ === shared$) this.#shared$ = of(start);
      }),
      takeUntil(timer(startTimeoutMs)),
      throwIfEmpty(),
      share(),
    );
    return shared$;
  }
}

/** Whether two participants are known, and not the same. */
const areDifferent = (one: string | undefined, other: string | undefined): boolean =>
  one !== undefined && other !== undefined && one !== other;

const isSameLedger = (last: LedgerStart, now: LedgerStart): boolean =>
  now.since >= last.since && now.participantId === last.participantId;

const readStart = (client: Client): Observable<LedgerStart> =>
  ledgerEnd(client).pipe(
    concatMap((since) => readParticipantId(client).pipe(map((participantId) => ({ since, participantId })))),
  );

/** A start whose ledger must still be there, and what is known of the change that began at it. */
interface Begun {
  readonly client: Client;
  readonly start: LedgerStart;
  /** Whose attempts stay at one participant. */
  readonly change: { participantId: string | undefined };
  readonly strategy: { readonly kind: Kind };
}

/**
 * Completes if the ledger is still the one of a start. A deduplication period that begins at an offset of another ledger
 * does not protect. Fails with a `LedgerResetError` if the ledger ends before the start, or belongs to another participant.
 * If the participant of the start is unknown, the one that answers now is that of the change from now on.
 */
export const proveStart = ({ client, start, change, strategy }: Begun): Observable<never> =>
  defer(() => {
    const { since, participantId = change.participantId } = start;
    // all participants of a party accept its signed bytes
    const mustLearn = participantId === undefined && strategy.kind === 'hosted';
    const learned$ = readParticipantId(client).pipe(
      tap((id) => {
        change.participantId = id;
      }),
    );
    const reader = bareHistory(client);
    // no ledger ends before its beginning, so that its end need not be known
    const history = since === 0 ? { ...reader, ledgerEnd$: of(undefined) } : reader;
    return concat(
      mustLearn ? learned$ : EMPTY,
      locate(history, { offset: since, participantId, recordTimes: {} }, false),
    );
  }).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      // a gateway may block the paths
      if (isUnavailable(error) || (isLedgerError(error, 'ApiError') && !isTransient(error))) return [];
      throw error;
    }),
  );

/** Why a submission is not sent: it would be to another ledger than the one that its client has seen. */
export const replacement = ({ difference = 'it ends earlier' }: LedgerResetError): string =>
  `another ledger has taken the place of the first: ${difference}`;

/** Returns the starts of a participant. */
export type StartsOf = (client: Client) => LedgerStarts;

/** The starts of the participants of a ledger. Those of one participant mean nothing at another one. */
export function ledgerStarts(): StartsOf {
  const all = new Map<string, LedgerStarts>();
  return ({ address = '' }) => {
    const starts = all.get(address) ?? new LedgerStarts();
    all.set(address, starts);
    return starts;
  };
}
