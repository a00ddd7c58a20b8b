import {
  catchError,
  concatMap,
  defer,
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
import type { SubmittedTransaction } from '../codecs/Transaction.js';
import { LedgerResetError } from '../errors/feed.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { advance } from '../history/positions.js';
import { seenParticipantId } from '../history/participant.js';
import type { Client } from '../client/Client.js';
import { monotonicNow } from '../http/clock.js';
import { areDifferent, type LedgerStart, readStart, startAgain } from './LedgerStart.js';

/** How long to wait for the start, in milliseconds. It must not delay a submission for long. */
const startTimeoutMs = 5_000;

/**
 * The start of all changes that a ledger submits for some parties. It is read once, and again after an attempt whose outcome
 * was unknown, because another ledger may have taken the place of the first. If it is still the same, its start is kept, so that
 * a change that is submitted again is found.
 */
export class LedgerStarts {
  #shared$: Observable<LedgerPosition> | undefined;
  #last: LedgerPosition | undefined;
  /** The last commit that is known, and the start before there is one. */
  #latest: LedgerPosition | undefined;
  /** The start is not after this offset: since then, changes were committed. */
  #atMost: Offset;

  /**
   * @param parties - those whose updates show that the ledger is the same; none for signed changes
   * @param atMost - the start is not after this offset
   */
  constructor(
    private readonly parties: readonly string[],
    atMost: Offset = Infinity,
  ) {
    this.#atMost = atMost;
  }

  /** The start is not after this offset; `Infinity` if nothing is known of it. */
  get offset(): Offset {
    return Math.min(this.#last?.offset ?? Infinity, this.#atMost);
  }

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
        map((start): LedgerStart => ({ ...start, latest: this.#latest })),
        catchError(() => [{ ...bareOffset(0), isUnread: true, participantId }]),
        tap((start) => {
          if (!areDifferent(start.participantId, participantId)) return;
          const difference = `the participant is ${start.participantId}, not ${participantId}`;
          throw new LedgerResetError(start.offset, undefined, difference);
        }),
      );
    });
  }

  /** Reads the start again for the next change. */
  forget(): void {
    this.#shared$ = undefined;
  }

  /** Begins later, because the participant has pruned the start. */
  prunedTo(offset: Offset): void {
    if (this.#last === undefined || this.#last.offset >= offset) return;
    this.#keep({ ...this.#last, offset });
  }

  /** A change was committed. It shows later changes that the ledger is the same. */
  committed(transaction: SubmittedTransaction): void {
    if (this.#latest === undefined || this.#latest.offset >= transaction.offset) return;
    const { participantId } = this.#latest;
    // of other synchronizers, what is before it was not read
    this.#latest = advance({ ...bareOffset(transaction.offset), participantId }, [transaction]);
  }

  /**
   * Begins before a commit that is not after the start: the start belongs to a ledger that was restored or replaced, and its
   * offset protects nothing. The commits of the present ledger are found from here on.
   */
  contradictedBy(offset: Offset, client: Client): void {
    if (this.#last !== undefined && this.#last.offset < offset) return;
    this.#atMost = Math.min(this.#atMost, offset - 1);
    this.#last = undefined;
    this.#shared$ = this.#read(client);
  }

  /** Begins before a commit of this ledger whose change had another start, so that a later call finds it. */
  precede(offset: Offset): void {
    if (this.#last === undefined) this.#atMost = Math.min(this.#atMost, offset - 1);
    else if (this.#last.offset >= offset) this.#keep(atMost(this.#last, offset - 1));
  }

  #keep(start: LedgerPosition): void {
    this.#last = start;
    if (this.#shared$ !== undefined) this.#shared$ = of(start);
  }

  /** Reads the start once for all changes that need it meanwhile or later, unless that fails. */
  #read(client: Client): Observable<LedgerPosition> {
    const shared$ = readStart(client, this.parties).pipe(
      concatMap((now) => {
        const last = this.#last;
        return (last === undefined ? of(now) : startAgain(client, this.parties, last, now)).pipe(
          tap((start) => {
            // a later commit is only known of the same ledger
            if (start !== last) this.#latest = now;
          }),
        );
      }),
      map((start) => atMost(start, this.#atMost)),
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

/** A position that is not after an offset. What was read after that offset proves nothing of it. */
const atMost = (position: LedgerPosition, offset: Offset): LedgerPosition =>
  position.offset <= offset ? position : { ...bareOffset(offset), participantId: position.participantId };

/** Returns the starts of the changes of some parties at a participant. */
export type StartsOf = (client: Client, parties: readonly string[]) => LedgerStarts;

/** The number of starts that are kept whole, however long they are not used. One has about two kilobytes. */
const maxKept = 1_000;

/** How long the others are kept whole after their last use, in milliseconds: much longer than a submission takes. */
const keptMs = 3_600_000;

/** Into how many offsets the starts that are not kept whole are gathered at most. */
const maxOffsets = 2 ** 20;

/**
 * The starts of the participants of a ledger. Those of one participant mean nothing at another one.
 *
 * Of parties that have not submitted for long, only the offset stays, for what they submit again: it may be the earliest one of
 * several such parties.
 */
export function ledgerStarts(): StartsOf {
  /** In the order of their last use. */
  const all = new Map<string, { readonly starts: LedgerStarts; readonly usedAt: number }>();
  const offsets = new Map<number, Offset>();
  const atMostOf = (key: string): Offset => offsets.get(placeOf(key)) ?? Infinity;
  const gather = (now: number): void => {
    for (const [key, { starts, usedAt }] of all) {
      if (all.size <= maxKept || now - usedAt < keptMs) return;
      all.delete(key);
      if (starts.offset < atMostOf(key)) offsets.set(placeOf(key), starts.offset);
    }
  };
  return ({ address = '' }, actAs) => {
    // the ledger knows a change by the set of its parties, whatever their order
    const parties = [...new Set(actAs)].sort();
    const key = JSON.stringify([address, ...parties]);
    const starts = all.get(key)?.starts ?? new LedgerStarts(parties, atMostOf(key));
    const usedAt = monotonicNow();
    // last in the order
    all.delete(key);
    all.set(key, { starts, usedAt });
    gather(usedAt);
    return starts;
  };
}

function placeOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % maxOffsets;
}
