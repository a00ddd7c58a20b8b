import type { NatsConnection } from '@nats-io/nats-core';
import { asyncScheduler, concatMap, defer, forkJoin, map, type Observable, of, Subject } from 'rxjs';
import type { Diagnostic, Report } from '../diagnostics/Diagnostic.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { type RetryPolicy, retryPolicy } from '../http/retry.js';
import type { LastUpdate } from '../codecs/LedgerPosition.js';
import type { Feed, FeedReader, FeedRun } from '../process/Feed.js';
import type { Work } from '../process/ProcessOptions.js';
import { cursorBucket } from './CursorBucket.js';
import { natsStore } from './natsStore.js';
import { NatsPosition } from './NatsPosition.js';
import { natsStream, type NatsStream, readBounds, readHead, readReplicas } from './NatsStream.js';
import { pages } from './pages.js';
import { createdAgainError } from './RelayError.js';

/**
 * Options of {@link natsFeed}.
 *
 * @category Transports
 */
export interface NatsFeedOptions {
  /** The connection, over any transport. It stays open when a processor ends. */
  readonly connection: NatsConnection;
  /** The name of the relay's stream. */
  readonly stream: string;
  /**
   * The name under which the server keeps the cursor of a processor whose options have no store, in the bucket
   * `<stream>-cursors`. The replicas of a service share it: one of them works, and another one continues when it ends.
   *
   * @defaultValue none: without a store, each subscription starts where `begin` says
   */
  readonly durable?: string | undefined;
  /**
   * Where a processor without a cursor begins: at the first message of the stream, which must still exist (`'start'`);
   * at the first message that exists (`'earliest'`); or after the last message (`'new'`).
   *
   * @defaultValue 'start'
   */
  readonly begin?: 'start' | 'earliest' | 'new' | undefined;
  /**
   * The silence of the active replica, in milliseconds, after which another one takes over the durable. Must be the
   * same for all replicas.
   *
   * @defaultValue 30000
   */
  readonly ackWaitMs?: number | undefined;
  /**
   * The time limit of one call of the server, in milliseconds. A call that takes longer has failed, and is retried.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
  /**
   * The retry policy if the server does not respond and, by default, the store and the handler.
   *
   * @defaultValue up to 250 ms before the first retry, and up to twice as long before each further one, at most 30000
   * ms; for at most 300000 ms
   */
  readonly retry?: RetryPolicy | undefined;
  /**
   * The maximum number of updates in a page. About three pages are in memory at a time.
   *
   * @defaultValue 500
   */
  readonly maxPageSize?: number | undefined;
}

/**
 * Returns the updates that a relay has published to a stream as a feed for `processFeed` of `canton-rx/process`. The
 * updates are in order, and the handlers, retries, status and diagnostics are those of a ledger feed.
 *
 * With a store, the store saves the position in the stream: with `postgresStore`, each update takes effect once.
 * Without a store, the cursor is kept on the NATS server under the name of the `durable`, and each update is handled at
 * least once: the updates since the last commit may be handled again after a crash. Of the replicas that share a
 * durable, one works and the others wait. When it is stopped, another one continues immediately; when it has crashed or is
 * silent, another one continues about `ackWaitMs` after its last write was seen. The same applies to a replica that is
 * started alone after a crash.
 *
 * The feed survives a restart of the server as long as the connection does: to wait without a limit, connect with
 * `maxReconnectAttempts: -1`. To notice in time that a network drops the packets of the connection, connect with
 * `pingInterval: 20_000`. After a processor has ended, `drain` the connection instead of closing it.
 *
 * A processor fails with a {@link RelayError} if messages were removed before they were read, if the stream was deleted
 * or created again, or if the connection is closed. It fails with a `CursorError` for a cursor of another stream; with a
 * `DecodeError` or an `OrderError` for a message that is not from the relay; with a `ConnectionError`, or a `StoreError`
 * for the cursor of a durable, if the server does not respond for longer than `retry` allows; and with errors of NATS.
 *
 * @param options - the connection, the stream and the durable
 * @throws TypeError for a number out of range, and for a name that JetStream or its key-value buckets reject
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
  const { connection, stream, durable, begin = 'start', ackWaitMs = 30_000, timeoutMs = 5_000 } = options;
  const { maxPageSize = 500 } = options;
  checkName('stream', stream);
  if (durable !== undefined) checkName('durable', durable);
  checkPositive({ ackWaitMs, timeoutMs });
  checkPositive({ maxPageSize }, true);
  // JavaScript callers may pass anything
  if (!['start', 'earliest', 'new'].includes(begin)) throw new TypeError("begin must be 'start', 'earliest' or 'new'");
  const retry = retryPolicy(options.retry);
  const { diagnostics$, reportForNewRun } = createDiagnostics();
  const streamFor = (report: Report, policy = retry): NatsStream =>
    natsStream({ connection, stream, timeoutMs, retrying: { retry: policy, report } });
  const streamOnce = streamFor(() => undefined, { ...retry, giveUpAfterMs: 0 });
  const bucket = cursorBucket(streamOnce, () => readReplicas(streamOnce));
  return {
    retry,
    ...(durable !== undefined && { defaultStore: { name: durable, store: natsStore(streamOnce, bucket, ackWaitMs) } }),
    diagnostics$,
    end$: defer(() => readHead(streamOnce, { last_by_subj: '>' })).pipe(map((last) => last?.offset ?? 0)),
    open: (run) => openReader(streamFor(reportForNewRun(run.name)), begin, maxPageSize, run),
  };
}

/** Throws a TypeError if an option is not a name that JetStream and its key-value buckets accept. */
export function checkName(option: string, name: string): void {
  if (!/^[-\w]+$/.test(name)) throw new TypeError(`${option} must be a name of letters, digits, '-' and '_'`);
}

function openReader(
  stream: NatsStream,
  begin: NonNullable<NatsFeedOptions['begin']>,
  maxPageSize: number,
  { emitUndecoded }: FeedRun,
): FeedReader<Work, NatsPosition> {
  return {
    report: stream.retrying.report,
    path: stream.stream,
    maxPageSize,
    start$: readBounds(stream).pipe(
      map(({ first, last }) => ({ start: 0, earliest: Math.max(first - 1, 0), new: last })[begin]),
      concatMap((sequence) => positionOf(stream, sequence)),
    ),
    identity$: of({ selection: `nats:${stream.stream}` }),
    position: NatsPosition,
    compare: (a, b) => a.sequence - b.sequence,
    hasUpdate: (update, at) => hasUpdate(stream, update, at),
    batches: (after, ready$) => pages({ stream, maxPageSize, emitUndecoded }, after, ready$),
  };
}

/** Emits the position of a message; its offset is 0 if the stream does not have the message. */
const positionOf = (stream: NatsStream, sequence: number): Observable<NatsPosition> =>
  sequence === 0
    ? of({ offset: 0, sequence })
    : readHead(stream, { seq: sequence }).pipe(map((head) => ({ offset: head?.offset ?? 0, sequence })));

/**
 * Emits `true` if the stream still has the last update at its position, or had it and has removed it since. Fails with
 * a {@link RelayError} otherwise.
 */
const hasUpdate = (stream: NatsStream, { offset, updateId }: LastUpdate, at: NatsPosition): Observable<boolean> =>
  forkJoin([readHead(stream, { seq: at.sequence }), readBounds(stream)]).pipe(
    map(([head, { last }]) => {
      // the message there has no update ID if it cannot be decoded
      const isSame = head?.offset === at.offset && (offset !== at.offset || head.id === updateId);
      // one that was removed since, and one without an offset, which was skipped or parked, cannot be compared
      const isFound = head === undefined ? last >= at.sequence : isSame || head.offset === undefined;
      if (!isFound) throw createdAgainError(stream.stream, at.sequence, last);
      return true;
    }),
  );

/** The diagnostics of a feed. */
interface Diagnostics {
  readonly diagnostics$: Observable<Diagnostic>;
  /** Numbers a run, and returns its report function. Without a subscriber, no diagnostic is created. */
  readonly reportForNewRun: (processor: string | undefined) => Report;
}

function createDiagnostics(): Diagnostics {
  const diagnostics = new Subject<Diagnostic>();
  let runs = 0;
  return {
    diagnostics$: diagnostics.asObservable(),
    reportForNewRun: (processor) => {
      const from = { feed: (runs += 1), ...(processor !== undefined && { processor }) };
      return (body) => {
        if (diagnostics.observed) diagnostics.next({ ...body(), at: asyncScheduler.now(), ...from });
      };
    },
  };
}
