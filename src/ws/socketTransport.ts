import {
  catchError,
  concat,
  concatMap,
  concatWith,
  connect,
  defer,
  EMPTY,
  exhaustMap,
  map,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  type OperatorFunction,
  startWith,
  switchMap,
  takeUntil,
  takeWhile,
  tap,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import type { Offset } from '../codecs/scalars.js';
import { isLedgerError } from '../errors/LedgerError.js';
import { isTransient, verdict } from '../errors/verdict.js';
import { ConnectionError } from '../errors/request.js';
import { catchUpOrFollow, readLedgerEndOnce } from '../feed/ledgerEnd.js';
import type { AnyFeed, LedgerFeed, Position, Step, Transport } from '../feed/LedgerFeed.js';
import { checkOrder, decodeElements, type FeedElement, type Page } from '../feed/Page.js';
import { switchPath } from '../feed/adaptRequest.js';
import { pageReceived, proofNear } from '../feed/pageRequest.js';
import type { FeedPath } from '../client/Learned.js';
import type { LastUpdate } from '../codecs/LedgerPosition.js';
import { idOf } from '../history/positions.js';
import { openSocket, readList, type SocketMessage } from './openSocket.js';
import { SocketBackOff } from './SocketBackOff.js';
import type { SocketPort } from './SocketPort.js';
import { monotonicNow } from '../http/clock.js';

/** Follows the ledger over the WebSockets of a port; with polls while none may be opened. */
export const socketTransport = (port: SocketPort): Transport => ({
  _tag: 'Transport',
  over: (source) => ({
    ...source,
    follow: (feed, position) =>
      mayOpenSocket(feed, position) ? followBySocket(feed, position, port) : source.follow(feed, position),
  }),
  readList: (client, path, body) => readList(client, port, path, body),
});

/** Whether to follow over a socket: the feed has no end and has caught up, and no socket has just failed. */
const mayOpenSocket = ({ request, client }: AnyFeed, { hasCaughtUp }: Position): boolean =>
  hasCaughtUp && typeof request.endInclusive !== 'number' && !client.learned.of(SocketBackOff).isActive;

/** The maximum time without an element on a live socket, in milliseconds: checkpoints arrive after 75 000 ms at the latest. */
const stalledMs = 100_000;

/** The progress of a feed over a socket. */
interface SocketProgress {
  readonly path: FeedPath;
  /** Where the socket began. */
  readonly beginExclusive: Offset;
  /** The cursor of the feed, which checks over HTTP also move. */
  readonly cursor: Offset;
  /** The offset of the last element of the socket. */
  readonly last: Offset;
  /** The offset of its last element that is not a checkpoint. */
  readonly lastUpdate: Offset;
  /** When its last element arrived, in milliseconds. */
  readonly receivedAt: number;
  /** The number of its elements, without the proof. */
  readonly count: number;
  /** The update with which the socket must begin, until it has. */
  readonly proof: LastUpdate | undefined;
}

/**
 * Follows the ledger over a WebSocket: one step for each element that the participant pushes. However the socket ends,
 * the feed catches up over HTTP from its cursor, which also shows what is wrong.
 */
const followBySocket = <A extends FeedElement>(
  feed: LedgerFeed<A>,
  position: Position,
  port: SocketPort,
): Observable<Step<A>> =>
  defer(() => {
    const { source, client, report } = feed;
    const { field } = source;
    const path = source.path(client);
    const { cursor } = position;
    const proof = proofNear(feed);
    const beginExclusive = proof === undefined ? cursor : proof.offset - 1;
    let progress: SocketProgress = {
      path,
      beginExclusive,
      cursor,
      last: beginExclusive,
      lastUpdate: beginExclusive,
      receivedAt: monotonicNow(),
      count: 0,
      proof,
    };
    const current = (): Position => ({ ...position, cursor: progress.cursor });
    const following = (): Step<A> => ({
      position: { ...current(), phase: { _tag: 'Pushed' }, polls: { ...position.polls, limit: 1, idle: 0 } },
    });

    const body = source.body({ beginExclusive }, path);
    let hasMoved = false;
    const messages$ = client.located(path).pipe(
      concatMap((located) =>
        located.tokens.current$.pipe(concatMap((token) => openSocket(located, port, { path, body, field }, token))),
      ),
      // the checks over HTTP would read from another participant than the socket
      takeUntil(client.moved$.pipe(tap(() => (hasMoved = true)))),
    );
    const pushed$ = messages$.pipe(
      // updates have no end, whatever the participant reports
      concatWith(
        defer(() => {
          const reason = hasMoved ? 'the ledger has another address now' : 'the socket was closed with 1000';
          return throwError(() => socketError(feed, path, reason));
        }),
      ),
      mergeMap((message: SocketMessage) => {
        if (message._tag === 'Element') return [message.json];
        report(() => ({ _tag: 'SocketOpened', path, beginExclusive: cursor }));
        return [];
      }),
      timeout({
        each: stalledMs,
        with: () => throwError(() => socketError(feed, path, 'the socket delivered no element in time')),
      }),
      concatMap((json): Step<A>[] => {
        feed.history.answered();
        const received = receiveElement(feed, progress, json);
        ({ progress } = received);
        const { page } = received;
        if (page === undefined) return [];
        report(() => pageReceived(page, path));
        return [{ ...following(), page, ...(progress.count === 1 && { isFirst: true }) }];
      }),
      catchError((error: unknown) => [endSocket(feed, current(), progress, error)]),
    );

    const onHttpPage = (page: Page<A>): Step<A> => {
      if (page.proves === 'no') return endSocket(feed, current(), progress, socketError(feed, path, otherLedger));
      progress = { ...progress, cursor: page.last };
      if (page.updates.length === 0 && page.failure === undefined) return following();
      const cause = socketError(feed, path, 'the socket held back updates');
      // counts as empty, although it delivered elements
      return { ...endSocket(feed, current(), { ...progress, count: 0 }, cause), page };
    };

    return pushed$.pipe(
      connect((elements$) => merge(elements$, elements$.pipe(checkOverHttp(feed, current), map(onHttpPage)))),
      closeBeforeLast<A>(({ page, position: { phase } }) => page?.failure !== undefined || phase._tag !== 'Pushed'),
    );
  });

const socketError = ({ client }: AnyFeed, path: string, reason: string): ConnectionError =>
  new ConnectionError(path, reason, { host: client.host });

/** Why a socket is closed whose ledger is not certainly that of the feed. */
const otherLedger = 'the ledger does not begin with the last update';

/** Decodes a message to a page of one element. There is none for the update with which the socket begins. */
function receiveElement<A extends FeedElement>(
  feed: LedgerFeed<A>,
  progress: SocketProgress,
  json: unknown,
): { readonly page: Page<A> | undefined; readonly progress: SocketProgress } {
  const receivedAt = monotonicNow();
  const { proof } = progress;
  const elements = decodeElements(feed.source, progress.path, [json], feed.onUndecodable);
  const { updates, last, lastUpdate, failure = elements.failure } = checkOrder(elements.updates, progress, progress);
  if (proof !== undefined) {
    const isProven = updates[0]?.offset === proof.offset && idOf(updates[0]) === proof.updateId;
    if (!isProven) throw socketError(feed, progress.path, otherLedger);
    return { page: undefined, progress: { ...progress, last, lastUpdate, receivedAt, proof: undefined } };
  }
  const page: Page<A> = {
    updates,
    last,
    count: 1,
    isFull: false,
    tookMs: receivedAt - progress.receivedAt,
    ...(failure !== undefined && { failure }),
  };
  const cursor = Math.max(progress.cursor, last);
  return { page, progress: { ...progress, cursor, last, lastUpdate, receivedAt, count: progress.count + 1 } };
}

/**
 * Emits the steps up to the first for which `isLast` is true. Emits that one after the socket and the checks are
 * closed.
 */
const closeBeforeLast =
  <A extends FeedElement>(isLast: (step: Step<A>) => boolean): MonoTypeOperatorFunction<Step<A>> =>
  (source) =>
    defer(() => {
      let last: readonly Step<A>[] = [];
      const earlier$ = source.pipe(
        takeWhile((step) => {
          if (isLast(step)) last = [step];
          return last.length === 0;
        }),
      );
      return concat(
        earlier$,
        defer(() => last),
      );
    });

/** Reports the end of the socket. The feed catches up from its cursor. */
function endSocket(feed: AnyFeed, position: Position, { path, count }: SocketProgress, error: unknown): Step<never> {
  if (!isLedgerError(error)) throw error;
  feed.history.failed(error);
  const isPathSwitched = verdict(error) === 'switch' && switchPath(feed, path);
  const delivered = count > 0 ? 'delivered' : 'empty';
  const againInMs = feed.client.learned.of(SocketBackOff).ended(isPathSwitched ? 'pathSwitched' : delivered);
  feed.report(() => ({ _tag: 'SocketClosed', path, cause: error, againInMs }));
  return { position: { ...position, phase: catchUpOrFollow(feed) } };
}

/**
 * The silence of a socket without any element before a check over HTTP, and the time between checks, in
 * milliseconds.
 */
const newSocketCheckMs = 10_000;

/** The same for a socket that has delivered elements. Checkpoints arrive every 15 000 ms while the ledger grows. */
const provenSocketCheckMs = 20_000;

/**
 * Emits pages over HTTP while the socket delivers nothing: the participant, or a gateway in front of it, may withhold
 * elements and still answer pings. A failed check is ignored if it may succeed later: the socket may be healthy.
 */
const checkOverHttp =
  <A extends FeedElement>(feed: LedgerFeed<A>, current: () => Position): OperatorFunction<unknown, Page<A>> =>
  (elements$) =>
    elements$.pipe(
      startWith(undefined),
      // an element aborts the check, because it may be the missing one
      switchMap((_, count) => {
        const everyMs = count === 0 ? newSocketCheckMs : provenSocketCheckMs;
        return timer(everyMs, everyMs).pipe(
          exhaustMap(() => (feed.client.learned.hasLedgerEnd ? missedPage(feed, current()) : EMPTY)),
        );
      }),
    );

const missedPage = <A extends FeedElement>(feed: LedgerFeed<A>, position: Position): Observable<Page<A>> =>
  readLedgerEndOnce(feed, position).pipe(
    mergeMap(({ position: { phase, cursor: beginExclusive, target: endInclusive } }) =>
      phase._tag === 'CatchUp'
        ? feed.source.readRange(feed, { beginExclusive, endInclusive }, { limit: feed.maxPageSize })
        : EMPTY,
    ),
    catchError((error: unknown) => {
      if (isLedgerError(error) && (isTransient(error) || isLedgerError(error, 'LedgerResetError'))) return EMPTY;
      throw error;
    }),
  );
