import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  type OperatorFunction,
  takeWhile,
  tap,
  throwError,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import type { DiagnosticOf } from '../diagnostics/Diagnostic.js';
import { LedgerResetError } from '../errors/feed.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient } from '../errors/verdict.js';
import { bareOffset, type LedgerPosition } from '../codecs/LedgerPosition.js';
import { locate, type Place } from '../history/locate.js';
import { isRefusedAlone, readParticipantId } from '../history/participant.js';
import { jitter, retryTransient } from '../http/retry.js';
import type { AnyFeed, Position, Step } from './LedgerFeed.js';
import type { FeedElement } from './Page.js';
import { historyOf } from './historyOf.js';
import { catchingUp, catchUpOrFollow, withoutDensity } from './ledgerEnd.js';
import { isEndBeforeCursor, noteOutage, proofNear } from './pageRequest.js';

/**
 * Emits each step of a feed that is certainly of its ledger. After an outage, or if a page does not begin with the last
 * update, first finds the position of the feed on the participant that answers now, and continues from there. Nothing of another
 * ledger is emitted: fails with a `LedgerResetError`, also if that one is pruned.
 */
export const proveSteps =
  <A extends FeedElement>(feed: AnyFeed, position: Position): OperatorFunction<Step<A>, Step<A>> =>
  (source) =>
    defer(() => {
      // a transport emits many steps
      let current = position;
      return source.pipe(
        concatMap((step) => proveStep(feed, current, step)),
        tap((step) => {
          current = { ...step.position, phase: position.phase };
        }),
        // what a transport still pushes after that is of a position that the feed has left
        takeWhile((step) => step.position.phase._tag === 'Pushed', true),
        catchError((error: unknown) => {
          const { history } = feed;
          const isEnd = isEndBeforeCursor(error);
          if (isEnd) history.interrupted();
          if (!isEnd && !(history.isDoubtful && isLedgerError(error, 'PrunedError')))
            return passPruned(feed, current, error);
          return findPlace(feed).pipe(
            concatMap((place): Observable<Step<A>> => {
              const resumed = resumeAt(feed, current, place);
              if (resumed !== undefined) return afterMove(feed, resumed);
              return isEnd ? askAgain(feed, current) : passPruned(feed, current, error);
            }),
          );
        }),
      );
    });

/** Continues after what was pruned while a feed read again what it had read. Otherwise, fails with the error. */
const passPruned = (feed: AnyFeed, position: Position, error: unknown): Observable<Step<never>> =>
  isLedgerError(error, 'PrunedError') && feed.history.passPruned(error.earliestOffset)
    ? of(startAgain(feed, position, feed.history.cursor, 'back'))
    : throwError(() => error);

function proveStep<A extends FeedElement>(feed: AnyFeed, position: Position, step: Step<A>): Observable<Step<A>> {
  const { history } = feed;
  const proves = step.page?.proves;
  if (proves === 'no' || history.floors?.lacksRead(step.page?.updates ?? []) === true) history.interrupted();
  const isNews = (step.page?.updates.length ?? 0) > 0;
  if (!history.isDoubtful) return isNews && mustConfirm(feed, step) ? confirmStep(feed, position, step) : of(step);
  return findPlace(feed).pipe(
    concatMap((place) => {
      // a page that begins with the last update has everything after it
      const isComplete = proves === 'yes' && place._tag === 'Here' && history.isAddressed;
      const resumed = isComplete ? undefined : resumeAt(feed, position, place);
      if (resumed !== undefined) return afterMove(feed, resumed, proves === 'no');
      if (proves === 'no') return askAgain(feed, position);
      // another participant may have sent the page, before this one was found
      return history.mustConfirm && isNews ? of(repeat(feed, position)) : of(step);
    }),
  );
}

/**
 * Whether a page must be between two readings of the participant's ID: the first one after an outage, each one that no update
 * near it proves, and each one where several participants may answer. What a socket pushes is of one of them: its first page
 * shows of which.
 */
const mustConfirm = (
  feed: AnyFeed,
  {
    page,
    position,
    isFirst = position.phase._tag !== 'Pushed',
  }: Pick<Step<FeedElement>, 'page' | 'position' | 'isFirst'>,
): boolean => {
  const { source, history, onOtherNode } = feed;
  if (history.mustConfirm) return true;
  if (!history.isIdentified || !isFirst) return false;
  if (onOtherNode === 'relocate') return true;
  // what was read ahead is compared with what is before it
  const isUnproven = source.lookUp !== undefined && page?.proves === undefined && proofNear(feed) === undefined;
  // a participant may repeat the checkpoint at the cursor in each poll
  return isUnproven && (page?.updates ?? []).some(({ offset }) => offset > history.cursor);
};

/** Emits a step if the participant is still the one on which the position was found. Otherwise, finds the position again. */
const confirmStep = <A extends FeedElement>(feed: AnyFeed, position: Position, step: Step<A>): Observable<Step<A>> => {
  const { history, client, onOtherNode } = feed;
  const isNeeded = history.sought.lastUpdate === undefined && (history.mustConfirm || onOtherNode === 'relocate');
  return readParticipantId(client).pipe(
    // a gateway may block the path, and would do so again; any other failure is an outage
    noteOutage(feed, (error) => !isNeeded && isRefusedAlone(error)),
    catchError(() => of(undefined)),
    concatMap((participantId) => {
      const { participantId: expected } = history.position;
      history.participantIs(participantId);
      if (history.isDoubtful) return proveStep(feed, position, step);
      // before anything was read, another one has taken the place of the first
      if (history.cursor === 0 && history.position.participantId !== expected) return askAgain(feed, position);
      history.confirmed();
      return of(step);
    }),
  );
};

/** Finds the position of a feed on the participant that answers, and records that the ledger is the same. */
const findPlace = (feed: AnyFeed): Observable<Place> =>
  defer(() => {
    const { history } = feed;
    let { outages } = history;
    const onAttempt = (): void => {
      ({ outages } = history);
    };
    return placeOf(feed, history.sought, onAttempt).pipe(
      map((place) => {
        history.proven(outages);
        history.found();
        // in descending order, what was not read is the earlier part
        if (place._tag === 'Here' && feed.request.descendingOrder !== true) history.leaveOutRead();
        if (place._tag === 'Here' && !place.isProven && history.unproven())
          feed.report(() => ({ _tag: 'LedgerUnproven', cursor: history.cursor }));
        // what was read after the last update with an ID must not be read again
        const isLast = history.position.lastUpdate !== undefined;
        return place._tag === 'Here' && !isLast ? { _tag: 'Here' as const, isProven: place.isProven } : place;
      }),
    );
  });

/** Returns a step from where the feed continues; `undefined` if that is its cursor. */
function resumeAt(feed: AnyFeed, position: Position, place: Place): Step<never> | undefined {
  const { history, request, report } = feed;
  const { cursor } = position;
  const { participantId } = history.position;
  const isBounded = typeof request.endInclusive === 'number';
  if (place._tag === 'Here') {
    const { after = history.position.offset } = place;
    const isAhead = after < cursor && request.descendingOrder !== true;
    if (!isAhead && history.isAddressed) return undefined;
    // back from other offsets, before what was read had been passed there
    const moved = history.isAddressed ? 'back' : 'elsewhere';
    history.goOnAfter(after);
    const to = addressOf(after, participantId);
    report(() => ({ _tag: 'PositionMoved', reason: 'outage', from: addressOf(cursor, participantId), to }));
    return startAgain(feed, position, after, moved);
  }
  // its end is an offset of before
  if (isBounded && place.isReordered !== true)
    throw new LedgerResetError(cursor, undefined, 'its updates are at other offsets now');
  history.moveTo(place);
  const reason = participantId === place.participantId ? 'restored' : 'relocated';
  const to = addressOf(place.start, place.participantId);
  report(() => ({ _tag: 'PositionMoved', reason, from: addressOf(cursor, participantId), to }));
  return startAgain(feed, position, place.start, 'elsewhere');
}

const addressOf = (offset: Offset, participantId: string | undefined): DiagnosticOf<'PositionMoved'>['from'] => ({
  offset,
  ...(participantId !== undefined && { participantId }),
});

const startAgain = (feed: AnyFeed, position: Position, cursor: Offset, moved: Step['moved']): Step<never> => ({
  position: {
    ...position,
    phase: catchUpOrFollow(feed),
    cursor,
    target: feed.request.endInclusive ?? cursor,
    ledgerEndReadAt: 0,
    pages: withoutDensity(position),
  },
  ...(moved !== undefined && { moved }),
});

/** The shortest delay before a request whose answer contradicts the ledger is sent again, in milliseconds. */
const minDelayMs = 50;

/** Sends a request again whose answer contradicts what the ledger has just proven. */
const askAgain = (feed: AnyFeed, position: Position): Observable<Step<never>> =>
  timer(delayAfterContradiction(feed, 0)).pipe(map(() => repeat(feed, position)));

/** Returns a step that begins again where a feed is. A restored ledger may end before the target: its end is read again. */
const repeat = (feed: AnyFeed, position: Position): Step<never> => {
  if (position.phase._tag !== 'CatchUp') return { position };
  const { descendingOrder, endInclusive } = feed.request;
  if (descendingOrder === true) return { position: { ...position, phase: catchingUp } };
  const target = endInclusive ?? position.cursor;
  return { position: { ...position, phase: catchUpOrFollow(feed), target, ledgerEndReadAt: 0 } };
};

/**
 * Emits a step where a feed continues: at once, unless the feed has just come from other offsets, or from an answer without its
 * last update.
 */
const afterMove = (feed: AnyFeed, step: Step<never>, isContradiction = false): Observable<Step<never>> => {
  if (step.moved !== 'elsewhere' && !isContradiction) return of(step);
  const delayMs = delayAfterContradiction(feed, 1);
  return delayMs === 0 ? of(step) : timer(delayMs).pipe(map(() => step));
};

/**
 * Returns how long to wait after an answer that contradicts the ones before, in milliseconds: several participants may answer
 * in turn. Fails when that has lasted too long.
 *
 * @param free - how many in a row cause no delay
 */
function delayAfterContradiction({ history, retry }: AnyFeed, free: number): number {
  const { count, forMs } = history.contradicted();
  if (forMs > retry.giveUpAfterMs)
    throw new LedgerResetError(history.position.offset, undefined, 'several participants answer in turn');
  return count <= free ? 0 : minDelayMs + jitter(count, retry);
}

/**
 * Finds a position on the participant that answers. Waits for a ledger that ends before it.
 *
 * @param feed - any feed with the same request
 * @param onAttempt - called before each attempt
 */
export const placeOf = (feed: AnyFeed, position: LedgerPosition, onAttempt?: () => void): Observable<Place> => {
  const reader = historyOf(feed);
  return defer(() => {
    onAttempt?.();
    return locate(reader, position, feed.onOtherNode === 'relocate');
  }).pipe(retryTransient(feed));
};

/**
 * Finds a position that was read with another request, whose updates a feed with the present one may not see. What it does not
 * see is not missing: then only the participant's ID shows the ledger, which must have reached the position.
 */
export const placeOfOthers = (feed: AnyFeed, position: LedgerPosition): Observable<Place> => {
  const reader = { ...historyOf(feed), completeAfter: Infinity };
  const { offset, participantId } = position;
  return defer(() => locate(reader, position, feed.onOtherNode === 'relocate')).pipe(
    catchError((error: unknown) => {
      if (participantId === undefined || !isLedgerError(error, 'LedgerResetError')) throw error;
      return locate(reader, { ...bareOffset(offset), participantId }, false);
    }),
    retryTransient(feed),
  );
};

/** How long a feed waits for the ID of the participant before a poll, in milliseconds. */
const participantTimeoutMs = 5_000;

/**
 * Reads the ID of the participant before a poll: at first, and from time to time if it is known. If it has changed, the feed is
 * in doubt. A failure to read it again is ignored if the poll proves the ledger.
 */
export const learnParticipant = (feed: AnyFeed): Observable<never> =>
  defer(() => {
    const { client, history, onOtherNode } = feed;
    if (history.isDoubtful || !history.mustReadParticipant(onOtherNode === 'relocate')) return EMPTY;
    // the poll shows the same
    const isProven = proofNear(feed) !== undefined && history.position.participantId !== undefined;
    return readParticipantId(client, participantTimeoutMs).pipe(
      noteOutage(feed, () => isProven),
      map((participantId) => {
        history.participantIs(participantId);
      }),
      ignoreElements(),
      catchError((error: unknown) => {
        // after a passing failure, the next poll tries again, unless it would wait again; a gateway may block the path
        const isPassing = isLedgerError(error) && isTransient(error) && error._tag !== 'RequestTimeoutError';
        if (!isPassing || isProven) history.participantIs(undefined);
        return EMPTY;
      }),
    );
  });
