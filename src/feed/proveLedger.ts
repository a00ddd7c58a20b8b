import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  endWith,
  first,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  repeat,
  throwError,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { isLedgerError, isTransient } from '../errors/LedgerError.js';
import { LedgerResetError } from '../errors/feed.js';
import { decodeWith, exchange } from '../http/exchange.js';
import { retryTransient } from '../http/retry.js';
import type { Evidence } from './Continuity.js';
import type { AnyFeed } from './LedgerFeed.js';
import type { FeedElement, Page } from './Page.js';
import { isUnavailable } from './ledgerEnd.js';
import { noteOutage, requestPage, resetIfBeyondEnd } from './pageRequest.js';
import { reportWithout, type Service } from './Service.js';

/**
 * Emits each step of a feed. After an outage, first proves that the ledger is still the one that the feed reads: nothing
 * of another ledger is emitted. Fails with a `LedgerResetError` if it is another one, also if that one is pruned.
 */
export const proveAfterOutage =
  <A>(feed: AnyFeed): MonoTypeOperatorFunction<A> =>
  (source) => {
    const proven$ = defer(() => {
      const { isDoubtful, outages } = feed.continuity;
      return isDoubtful ? proveLedger(feed, outages).pipe(retryTransient(feed)) : EMPTY;
    });
    return source.pipe(
      catchError((error: unknown) => {
        if (!isLedgerError(error, 'PrunedError')) throw error;
        return concat(
          proven$,
          throwError(() => error),
        );
      }),
      concatMap((step) => (feed.continuity.isDoubtful ? proven$.pipe(endWith(step)) : [step])),
    );
  };

/**
 * Completes if the ledger is still the same.
 *
 * The proof is the last update that the feed has read: it is still at its offset, and no other one is between it and the
 * cursor. If the cursor is after it, another participant could have the same updates so far; then the ID of the
 * participant must be the same, too.
 */
const proveLedger = (feed: AnyFeed, outages: number): Observable<never> =>
  defer(() => {
    const { continuity } = feed;
    const { evidence, cursor } = continuity;
    const evidence$ = evidence === undefined ? of(undefined) : findEvidence(feed, evidence, cursor);
    return evidence$.pipe(
      concatMap((isFound) => {
        if (isFound === false && evidence !== undefined) throw new LedgerResetError(cursor, undefined, gone(evidence));
        const isCertain = isFound === true && evidence?.offset === cursor;
        return isCertain ? of(undefined) : compareParticipant(feed, isFound === true);
      }),
      map(() => {
        continuity.proven(outages);
      }),
      ignoreElements(),
    );
  });

const gone = (evidence: Evidence): string =>
  'updateId' in evidence
    ? `update ${evidence.updateId} is no longer at offset ${evidence.offset}, or others have come between it and the cursor`
    : `the contract that was created at offset ${evidence.offset} is no longer there`;

/** The delay before an update is looked up again, in milliseconds. */
const recheckDelayMs = 500;

/**
 * Emits whether the ledger still has something at its offset; `undefined` if that is pruned, or if nothing shows it. A
 * participant may leave out updates from a page, so an update counts as gone only if two requests do not find it.
 *
 * @param cursor - up to here, an update is the last one that matches the request. If there is another one now, the
 * ledger was restored, and has grown past the cursor
 */
export const findEvidence = (feed: AnyFeed, evidence: Evidence, cursor: Offset): Observable<boolean | undefined> => {
  const { offset } = evidence;
  const report = reportWithout(feed.report, 'PollSent', 'PageReceived');
  return defer(() => {
    const reach = 'updateId' in evidence ? Math.min(cursor - offset + 1, feed.service.learned.maxRange) : 1;
    const range = { beginExclusive: offset - 1, endInclusive: Math.max(offset, offset - 1 + reach) };
    // the range may be after the end of the request
    const request = { ...feed.request, endInclusive: range.endInclusive };
    // offset and ID are enough: a participant that was upgraded may send an update in a form that does not decode
    return requestPage({ ...feed, request, report, onUndecodable: 'emit' }, range, { limit: 2 });
  }).pipe(
    map((page) => {
      if (page.failure !== undefined) throw page.failure;
      return isIn(feed, page, evidence);
    }),
    repeat({ count: 2, delay: recheckDelayMs }),
    first((isFound) => isFound !== false, false),
    catchError((error: unknown): Observable<undefined> => {
      if (isLedgerError(error, 'PrunedError')) return of(undefined);
      throw error;
    }),
    resetIfBeyondEnd(feed.continuity.cursor),
  );
};

/**
 * Emits whether the ledger still has the last update of a page, which was requested before an outage. If there is no
 * update, that is unknown.
 *
 * @param reached - the end of what the page covers
 */
export const isConfirmed = (feed: AnyFeed, { updates }: Page<FeedElement>, reached: Offset): Observable<boolean> => {
  const last: FeedElement | undefined = updates.findLast((update) => 'updateId' in update);
  if (last?.updateId === undefined) return of(false);
  return findEvidence(feed, { offset: last.offset, updateId: last.updateId }, reached).pipe(
    catchError((error: unknown) => {
      // the ledger ends before the page
      if (!isLedgerError(error, 'LedgerResetError')) throw error;
      return of(false);
    }),
    map((isFound) => isFound === true),
  );
};

/** Whether a page has what a ledger had at an offset, and no other update with an ID after it. */
function isIn({ source }: AnyFeed, { updates, last }: Page<FeedElement>, evidence: Evidence): boolean | undefined {
  if ('contractId' in evidence) {
    const isCreated = updates.some(
      (update) =>
        'events' in update &&
        Array.isArray(update.events) &&
        update.events.some((event: object) => createdId(event) === evidence.contractId),
    );
    return isCreated || (updates.some(({ _tag }) => _tag === 'UndecodedUpdate') ? undefined : false);
  }
  // the participant may have been slow
  if (!source.hasEnd && last < evidence.offset) return undefined;
  // an update whose ID is not readable may be the one, or not
  if (updates.some((update) => update._tag === 'UndecodedUpdate' && update.updateId === undefined)) return undefined;
  const ids = updates.flatMap((update) => ('updateId' in update ? update.updateId : []));
  // the other path for completions also sends those of other users
  return (ids.length === 1 || !source.hasEnd) && ids[0] === evidence.updateId;
}

function createdId(event: object): string | undefined {
  const created: object = 'createdEvent' in event ? (event.createdEvent as object) : event;
  return 'contractId' in created ? String(created.contractId) : undefined;
}

/** Completes if the participant is the one to which the offsets belong, or if nothing shows whether it is. */
const compareParticipant = ({ service, continuity, report }: AnyFeed, isUpdateFound: boolean): Observable<void> =>
  (continuity.participantId === undefined ? of(undefined) : readParticipantId(service)).pipe(
    catchError((error: unknown) => {
      // a gateway may block only this path
      if (isUpdateFound) return of(undefined);
      throw error;
    }),
    map((participantId) => {
      const { participantId: expected, cursor } = continuity;
      if (participantId !== undefined && participantId !== expected)
        throw new LedgerResetError(cursor, undefined, `the participant is ${participantId}, not ${expected ?? '?'}`);
      const isShown = isUpdateFound || participantId !== undefined;
      if (!isShown && continuity.unproven()) report(() => ({ _tag: 'LedgerUnproven', cursor }));
    }),
  );

/**
 * Reads the ID of the participant before a poll, once for each feed. A feed whose cursor is at an update needs it only
 * after a checkpoint has moved the cursor on.
 */
export const learnParticipant = (feed: AnyFeed): Observable<never> =>
  defer(() => {
    const { service, continuity } = feed;
    if (!continuity.needsParticipant || continuity.isDoubtful) return EMPTY;
    return readParticipantId(service, participantTimeoutMs).pipe(
      noteOutage(feed),
      map((participantId) => {
        continuity.participantIs(participantId);
      }),
      ignoreElements(),
      catchError((error: unknown) => {
        // after a passing failure, the next poll tries again, unless it would wait again; a gateway may block the path
        const isPassing = isLedgerError(error) && isTransient(error) && error._tag !== 'RequestTimeoutError';
        if (!isPassing) continuity.participantIs(undefined);
        return EMPTY;
      }),
    );
  });

/** How long a feed waits for the ID of the participant before a poll, in milliseconds. */
const participantTimeoutMs = 5_000;

const path = '/v2/parties/participant-id';

const ParticipantId = message<{ readonly participantId: string }>('ParticipantId', { participantId: text });

/** Emits the ID of the participant; `undefined` if the participant does not report it, or not to this user. */
export const readParticipantId = (
  { link }: Service,
  timeoutMs = link.requestTimeoutMs,
): Observable<string | undefined> =>
  exchange(link, { method: 'GET', path, timeoutMs }, decodeWith(path, ParticipantId)).pipe(
    map(({ participantId }) => participantId),
    catchError((error: unknown) => {
      const isRefused = isLedgerError(error, 'UnauthorizedError') || isLedgerError(error, 'ApiError');
      if (isLedgerError(error, 'DecodeError') || isUnavailable(error) || (isRefused && !isTransient(error)))
        return of(undefined);
      throw error;
    }),
  );
