import type { NatsConnection } from '@nats-io/nats-core';
import { asyncScheduler, concatMap, defer, map, type Observable, of, Subject } from 'rxjs';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import { retryPolicy } from '../http/retry.js';
import { timesOf } from '../operators/internal/times.js';
import type { LastUpdate } from '../process/Cursor.js';
import { type Feed, type FeedPlace, type FeedReader, type FeedRun, orderBy } from '../process/Feed.js';
import type { Work } from '../process/ProcessOptions.js';
import { durablePlace } from './durablePlace.js';
import { durableSource, type MessageSource, readAckFloor, temporarySource } from './messageSource.js';
import { type NatsFeedOptions, type NatsFeedSettings, natsFeedSettings } from './NatsFeedOptions.js';
import { NatsPosition } from './NatsPosition.js';
import { natsStream, type NatsStream, readBounds, readHead, readReplicas } from './NatsStream.js';
import { pages } from './pages.js';
import { placeBucket } from './PlaceBucket.js';

/**
 * Returns the updates that a relay has published to a stream as a feed for `processFeed` of `canton-rx/process`. The
 * updates are in order, and the handlers, retries, status and diagnostics are those of a ledger feed.
 *
 * With a store, the store saves the position in the stream: with `postgresStore`, each update takes effect once.
 * Without a store, the cursor is kept on the NATS server under the name of the `durable`, and each update is handled at
 * least once: the updates since the last commit may be handled again after a crash. Of the replicas that share a
 * durable, one works and the others wait. When it is stopped, another one continues at once; when it has crashed or is
 * silent, another one continues about `ackWaitMs` after its last write was seen. The same applies to a replica that is
 * started alone after a crash. Each commit is also acknowledged to the server, so that its tools show the lag of the
 * durable.
 *
 * The feed survives a restart of the server as long as the connection does: to wait without a limit, connect with
 * `maxReconnectAttempts: -1`. After a processor has ended, `drain` the connection instead of closing it.
 *
 * A processor fails with a {@link RelayError} if messages were removed before they were read, if the durable was
 * deleted while it was read or has different settings, if the stream was created again while it was read, or if the
 * connection is closed. It fails with a `CursorError` if the stream was created again before; with a `DecodeError` or
 * an `OrderError` for a message that is not from the relay; with a `ConnectionError` if the server does not respond for
 * longer than `retry` allows; and with errors of NATS.
 *
 * @param options - the connection, the stream and the durable
 * @throws TypeError for a number out of range, and for a name that JetStream rejects
 * @example
 * ```ts
 * import type { NatsConnection } from '@nats-io/nats-core';
 * import { natsFeed } from 'canton-rx/nats';
 * import { processFeed } from 'canton-rx/process';
 *
 * const book = (offset: number): Promise<void> => Promise.resolve(console.log(offset));
 *
 * export const billing = (connection: NatsConnection) =>
 *   processFeed(natsFeed({ connection, stream: 'ledger', durable: 'billing' }), ({ offset }) => book(offset));
 * ```
 *
 * @category Transports
 */
export function natsFeed(options: NatsFeedOptions): Feed<Work, NatsPosition> {
  const settings = natsFeedSettings(options);
  const { connection, stream, durable, timeoutMs } = settings;
  const retry = retryPolicy(options.retry);
  const { diagnostics$, reportForNewRun } = createDiagnostics();
  const streamFor = (report: Report, policy = retry): NatsStream =>
    natsStream({ connection, stream, timeoutMs, retrying: { retry: policy, report } });
  return {
    retry,
    needsStore: durable === undefined,
    diagnostics$,
    end$: defer(() =>
      readHead(
        streamFor(() => undefined, { ...retry, giveUpAfterMs: 0 }),
        { last_by_subj: '>' },
      ),
    ).pipe(map((last) => last?.offset ?? 0)),
    open: (run) => openReader(streamFor(reportForNewRun()), settings, run),
  };
}

function openReader(
  stream: NatsStream,
  { durable, begin, ackWaitMs, maxPageSize }: NatsFeedSettings,
  { hasStore, emitInvalid }: FeedRun,
): FeedReader<Work, NatsPosition> {
  const keeper = hasStore || durable === undefined ? storeKeeper(stream) : durableKeeper(stream, durable, ackWaitMs);
  const { place, source, acknowledgements, floor$ } = keeper;
  const first$ = readBounds(stream).pipe(
    map(({ first, last }) => ({ start: 0, earliest: Math.max(first - 1, 0), new: last })[begin]),
  );
  return {
    report: stream.retrying.report,
    path: stream.stream,
    maxPageSize,
    ...(place !== undefined && { place }),
    start$: floor$.pipe(
      concatMap((floor) => (floor === undefined ? first$ : of(floor))),
      concatMap((sequence) => positionOf(stream, sequence)),
    ),
    identity$: of({ selection: `nats:${stream.stream}` }),
    position: NatsPosition,
    order: orderBy(({ sequence }) => sequence),
    hasUpdate: (update, at) => hasUpdate(stream, update, at),
    pages: (after, ready$) =>
      defer(() => {
        acknowledgements?.clear();
        const onDelivery = acknowledgements?.add;
        return pages({ stream, source, maxPageSize, emitInvalid, onDelivery }, after, ready$);
      }),
    timesOf,
  };
}

/** Keeps the cursor of a processor, and delivers its messages. */
interface Keeper {
  readonly source: MessageSource;
  /**
   * Emits the sequence number of the message after which a durable without a cursor begins; `undefined` if it does not
   * exist.
   */
  readonly floor$: Observable<number | undefined>;
  /** Absent if a store keeps the cursor. */
  readonly place?: FeedPlace;
  readonly acknowledgements?: Acknowledgements;
}

const storeKeeper = (stream: NatsStream): Keeper => ({ source: temporarySource(stream), floor$: of(undefined) });

function durableKeeper(stream: NatsStream, durable: string, ackWaitMs: number): Keeper {
  const acknowledgements = createAcknowledgements(stream.connection);
  const places = placeBucket(stream.js, stream.stream, () => readReplicas(stream));
  const place = durablePlace(stream, places, { durable, ackWaitMs, onSaved: acknowledgements.sendUpTo });
  return {
    source: durableSource(stream, durable, place.held$),
    floor$: readAckFloor(stream, durable),
    place,
    acknowledgements,
  };
}

/** Emits the position of a message; its offset is 0 if the stream does not have the message. */
const positionOf = (stream: NatsStream, sequence: number): Observable<NatsPosition> =>
  sequence === 0
    ? of({ offset: 0, sequence })
    : readHead(stream, { seq: sequence }).pipe(map((head) => ({ offset: head?.offset ?? 0, sequence })));

/** Emits whether the stream still has the last update at its position, or had it and has removed it since. */
const hasUpdate = (stream: NatsStream, { offset, updateId }: LastUpdate, at: NatsPosition): Observable<boolean> =>
  readHead(stream, { seq: at.sequence }).pipe(
    concatMap((head) => {
      if (head === undefined) return readBounds(stream).pipe(map(({ last }) => last >= at.sequence));
      // the message there has no update ID if it cannot be decoded
      const isSame = head.offset === at.offset && (offset !== at.offset || head.id === updateId);
      // a message without an offset, which was skipped or parked, cannot be compared
      return of(isSame || head.offset === undefined);
    }),
  );

/** The messages that have not been acknowledged, by the offsets of their updates. */
interface Acknowledgements {
  readonly add: (offset: number, reply: string) => void;
  /**
   * Acknowledges the last message up to an offset, and with it all earlier ones. This only serves tools that show the
   * durable.
   */
  readonly sendUpTo: (offset: number) => void;
  readonly clear: () => void;
}

function createAcknowledgements(connection: NatsConnection): Acknowledgements {
  let waiting: { readonly offset: number; readonly reply: string }[] = [];
  return {
    add: (offset, reply) => {
      waiting.push({ offset, reply });
    },
    sendUpTo: (offset) => {
      const count = waiting.findIndex((each) => each.offset > offset);
      const last = waiting.splice(0, count === -1 ? waiting.length : count).at(-1);
      if (last !== undefined && !connection.isClosed()) connection.publish(last.reply, '+ACK');
    },
    clear: () => {
      waiting = [];
    },
  };
}

/** The diagnostics of a feed. */
interface Diagnostics {
  readonly diagnostics$: Observable<Diagnostic>;
  /** Numbers a run, and returns its report function. Without a subscriber, no diagnostic is created. */
  readonly reportForNewRun: () => Report;
}

function createDiagnostics(): Diagnostics {
  const diagnostics = new Subject<Diagnostic>();
  let runs = 0;
  return {
    diagnostics$: diagnostics.asObservable(),
    reportForNewRun: () => {
      const feed = (runs += 1);
      return (body) => {
        if (diagnostics.observed) diagnostics.next({ ...body(), at: asyncScheduler.now(), feed });
      };
    },
  };
}
