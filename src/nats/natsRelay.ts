import { jetstream, type JetStreamClient, type PubAck } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { Update } from '../codecs/Update.js';
import { CursorError, StoreError, type StoreOperation } from '../errors/process.js';
import { checkPositive } from '../codecs/internal/numbers.js';
import { clampTimer } from '../http/retry.js';
import { type CheckpointStore, Cursor, decodeRecord } from '../process/CheckpointStore.js';
import { holdName } from '../process/memoryStore.js';
import type { BatchHandler, Work } from '../process/ProcessOptions.js';
import { checkName } from './natsFeed.js';
import { cursorBucket, isWrongSequence } from './CursorBucket.js';
import { callStore } from './natsStore.js';
import { findUnpublished, readAfter } from './published.js';
import { RelayError } from './RelayError.js';
import {
  bytesOf,
  checkSize,
  cursorAtEnd,
  ensureStream,
  idOf,
  isBefore,
  isOfSameFeed,
  readStreamEnd,
  RelayRecord,
  type RelayStream,
  type StreamEnd,
  toMessage,
} from './relayStream.js';

/**
 * Options of {@link natsRelay}.
 *
 * @category Transports
 */
export interface NatsRelayOptions {
  /** The connection, over any transport. It stays open when the relay ends. */
  readonly connection: NatsConnection;
  /**
   * The name of the stream, to which only relays of one processor may publish. A missing stream is created in files,
   * with the `limits`. An existing stream must have only the one subject and retain its messages by limits. A
   * key-value bucket, `<stream>-cursors`, keeps the cursors of the relay and of its readers.
   */
  readonly stream: string;
  /**
   * The subject of all messages of the stream.
   *
   * @defaultValue `<stream>.updates`
   */
  readonly subject?: string | undefined;
  /**
   * The number of servers of a cluster that keep a copy of the stream and of the bucket, if they are created.
   *
   * @defaultValue 1
   */
  readonly replicas?: number | undefined;
  /**
   * The limits of the stream, if it is created: beyond a limit, the server removes the oldest messages. A reader that has
   * not read them fails with a {@link RelayError}.
   *
   * @defaultValue no limits
   */
  readonly limits?:
    | {
        /** The age of the oldest message, in milliseconds. */
        readonly maxAgeMs?: number | undefined;
        /** The size of all messages, in bytes. */
        readonly maxBytes?: number | undefined;
        /** The number of messages. */
        readonly maxMessages?: number | undefined;
      }
    | undefined;
  /**
   * The time limit of one call of the server, in milliseconds. A call that takes longer has failed, and is retried.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
}

/**
 * The store and the handler of a relay, for one processor.
 *
 * @category Transports
 */
export interface NatsRelay {
  /** Saves the processor's cursor. */
  readonly store: CheckpointStore;
  /** Publishes the updates. */
  readonly handler: BatchHandler;
}

/**
 * Returns the store and the handler with which a processor publishes the updates of a ledger to a stream of NATS
 * JetStream, each once and in order, even after crashes. The relay reads from the stream itself which update is the
 * last one, so it leaves out updates that it receives again, even long after the duplicate window of JetStream. The
 * server accepts a message only directly after the previous one, so two relays of the same feed complement each other.
 * Use it with batches, which are published together.
 *
 * While the server does not respond, the processor retries for as long as its `storeRetry` allows, then ends with a
 * `StoreError`. It never skips an update for that, whatever its `onHandlerFailure`. It ends immediately with a {@link RelayError} if
 * the stream was deleted or created again, or if the connection is closed; and with a `CursorError` if the stream
 * belongs to another processor, or ends with an update that the ledger does not have at its offset: the ledger was
 * replaced or restored, and nothing of the new one is published. The same holds for an update that the stream does not
 * have, although it has got past its offset, as at a participant with lower offsets.
 *
 * A message is an element of the participant's response, `{"update": {...}}`, with two headers: `Nats-Msg-Id`, the ID
 * of the update, and `Canton-Offset`. A stream belongs to the name and the selection of its processor; another
 * processor needs another stream.
 *
 * @param options - the connection and the stream
 * @returns `store` and `handler`
 * @throws TypeError immediately for a name that JetStream rejects, and for a number out of range
 *
 * @example
 * ```ts
 * import type { NatsConnection } from '@nats-io/nats-core';
 * import { acsDelta, type Ledger } from 'canton-rx';
 * import { natsRelay } from 'canton-rx/nats';
 * import { processFeed, updatesFeed } from 'canton-rx/process';
 *
 * export function relay(ledger: Ledger, connection: NatsConnection) {
 *   const { handler, store } = natsRelay({ connection, stream: 'ledger' });
 *   const feed = updatesFeed(ledger, { beginExclusive: 0, updateFormat: acsDelta({ parties: 'any' }) });
 *   return processFeed(feed, handler, { name: 'relay', store, batch: { size: 100, withinMs: 0 } });
 * }
 * ```
 *
 * @category Transports
 */
export function natsRelay(options: NatsRelayOptions): NatsRelay {
  const { connection, stream, subject = `${stream}.updates`, replicas = 1, limits = {}, timeoutMs = 5000 } = options;
  checkName('stream', stream);
  checkPositive({ timeoutMs });
  checkPositive({ replicas }, true);
  const { maxAgeMs = Infinity, maxBytes = Infinity, maxMessages = Infinity } = limits;
  checkPositive({ maxAgeMs, maxBytes, maxMessages });
  const target = { stream, subject, replicas, limits };
  const js = jetstream(connection, { timeout: clampTimer(timeoutMs) });
  const bucket = cursorBucket({ connection, js, stream }, () => Promise.resolve(replicas));
  /** The name of the processor that has loaded its cursor. */
  let processor = '';
  /** The revision before the first record, which only one processor may write; `undefined` if there is a record. */
  let newRevision: number | undefined;
  const decoded = (stored: unknown): RelayRecord | undefined =>
    stored === undefined ? undefined : decodeRecord(RelayRecord, processor, stored);
  const readRecord = async (): Promise<RelayRecord | undefined> => decoded((await bucket.get('relay'))?.record);
  const readEnd = async (record: RelayRecord | undefined): Promise<StreamEnd> => {
    const jsm = await js.jetstreamManager(false);
    const hasExisted = record !== undefined && Math.max(acknowledgedSequence, record.end.sequence) > 0;
    const info = await ensureStream(jsm, target, hasExisted);
    return readStreamEnd(jsm, target, info, record?.end);
  };
  /** The end of the stream after the last publish; `undefined` during a publish, and after a failed one. */
  let knownEnd: StreamEnd | undefined;
  /** The sequence of the last message that the server has acknowledged or reported. */
  let acknowledgedSequence = 0;
  /** Whether the last update of the stream must be received again before others are published after it. */
  let mustReceiveEnd = false;
  const currentEnd = async (): Promise<StreamEnd> => {
    if (knownEnd !== undefined) return knownEnd;
    const record = await readRecord();
    const end = await readEnd(record);
    if (end.sequence < Math.max(acknowledgedSequence, record?.end.sequence ?? 0)) {
      throw new RelayError('end', stream, 'the stream has lost its newest messages: restart the processor');
    }
    return end;
  };

  /** Throws a {@link CursorError} if the stream does not end with an update of the same ledger. */
  const checkLedger = (updates: readonly Work[], { offset, id }: StreamEnd): void => {
    const received = updates.find((update) => update.offset === offset);
    const isOther = received !== undefined && id !== undefined && idOf(received) !== id;
    const isMissed = mustReceiveEnd && received === undefined && updates.some((update) => update.offset > offset);
    if (isOther || isMissed) {
      const last = `update ${id ?? '?'} at offset ${offset}, with which the stream ${stream} ends`;
      throw new CursorError('ledger', processor, `the relay did not receive ${last}: use another stream`);
    }
    if (received !== undefined) mustReceiveEnd = false;
  };

  /** Resolves to what was published after a saved cursor; `undefined` if that is too much. */
  const readSince = async (saved: unknown, end: StreamEnd): Promise<readonly Update[] | undefined> => {
    const cursor = Cursor.decode(saved);
    if (cursor._tag === 'Left' || cursor.right.offset >= end.offset) return [];
    return readAfter(await js.jetstreamManager(false), target, cursor.right.offset, end);
  };

  /** Throws a {@link CursorError} if updates that are not after the end of the stream are not in it. */
  const checkRepeated = async (updates: readonly Work[], end: StreamEnd): Promise<void> => {
    const maxBytes = connection.info?.max_payload ?? Infinity;
    // one that is too large may have been skipped
    const isPublishable = (update: Work): boolean =>
      bytesOf(toMessage(update, { stream, sequence: end.sequence })) <= maxBytes;
    const repeated = updates.filter((update) => update.offset <= end.offset && isPublishable(update));
    const jsm = await js.jetstreamManager(false);
    const { update, isUncertain } = await findUnpublished(jsm, target, repeated, end);
    if (update !== undefined) {
      const text = `update ${idOf(update)} at offset ${update.offset} is new, but the stream ${stream} has already got to offset ${end.offset}`;
      throw new CursorError(
        'ledger',
        processor,
        `${text}: the ledger has other offsets now, or its past is read: use another stream`,
      );
    }
    if (isUncertain && !repeated.some(({ offset }) => offset === end.offset)) mustReceiveEnd = true;
  };

  const publish = async (updates: readonly Work[]): Promise<void> => {
    let end = await currentEnd();
    for (;;) {
      const { offset: last } = end;
      const rest = updates.filter(({ offset }) => offset > last);
      if (rest.length < updates.length) await checkRepeated(updates, end);
      checkLedger(updates, end);
      knownEnd = undefined;
      const result = await append(connection, js, target, rest, end);
      if (result !== 'otherEnd') {
        knownEnd = result;
        acknowledgedSequence = result.sequence;
        return;
      }
      end = await currentEnd();
      if (end.offset === last) {
        throw new RelayError(
          'stream',
          stream,
          'the stream has messages that the relay did not publish: another client publishes to it',
        );
      }
    }
  };

  /**
   * Saves a record after another relay has begun with the stream at the same time. Unless it is one of the same feed, the processor
   * begins again, and finds that the stream is not its own.
   */
  const takeTurn = async (record: RelayRecord): Promise<void> => {
    const other = await readRecord();
    if (other !== undefined && !isOfSameFeed(other, record))
      throw new StoreError('hold', record.name, `another processor has begun with the stream ${stream}`);
    await bucket.put('relay', record);
  };

  const call = <A>(operation: StoreOperation, work: () => Promise<A>): Promise<A> =>
    callStore({ connection, stream }, operation, processor, work);

  return {
    handler: async (updates) => {
      checkBatch(updates);
      await call('publish', () => publish(updates));
    },
    store: {
      // a second run waits without a check as a standby: its load would change what the first one knows of the stream
      // whatever its name: what is known of the stream is that of one processor
      hold: () => holdName(js, stream),
      load: (name) =>
        call('load', async () => {
          processor = name;
          const stored = await bucket.get('relay');
          const record = decoded(stored?.record);
          newRevision = record === undefined ? (stored?.revision ?? 0) : undefined;
          if (record !== undefined && record.name !== name) {
            throw new CursorError('conflict', name, `the stream ${stream} belongs to the processor ${record.name}`);
          }
          const end = await readEnd(record);
          knownEnd = end;
          acknowledgedSequence = end.sequence;
          const cursor = record && cursorAtEnd(record, end, await readSince(record.cursor, end));
          mustReceiveEnd = end.offset > 0 && isBefore(cursor, end);
          return cursor;
        }),
      save: (name, cursor) =>
        call('save', async () => {
          const record: RelayRecord = { name, end: await currentEnd(), cursor };
          if ((await bucket.put('relay', record, newRevision)) === undefined) await takeTurn(record);
          newRevision = undefined;
        }),
    },
  };
}

/** Throws a TypeError for one update: despite the types, a processor without the option `batch` may call the handler. */
function checkBatch(updates: unknown): void {
  if (Array.isArray(updates)) return;
  const error = new TypeError('A relay publishes batches: set the option batch of processFeed.');
  // not a failure of the update, which a processor may skip
  throw Object.assign(error, { endsProcessor: true });
}

/** The end of the stream after appending, or `'otherEnd'` if the stream did not end where expected. */
type AppendResult = StreamEnd | 'otherEnd';

/**
 * Appends updates directly after an end. All are sent before the first is acknowledged. The server accepts each only
 * after the previous one, so that after a failure in between the first updates are stored, without a gap.
 */
async function append(
  connection: NatsConnection,
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  updates: readonly Work[],
  end: StreamEnd,
): Promise<AppendResult> {
  const messages = updates.map((update, index) => {
    const message = toMessage(update, { stream, sequence: end.sequence + index, update: updates[index - 1] });
    checkSize(stream, update, message, connection.info?.max_payload ?? Infinity);
    return message;
  });
  const results = await Promise.allSettled(messages.map(({ body, headers }) => js.publish(subject, body, { headers })));
  for (const [index, result] of results.entries()) {
    if (isStoredAt(result, end.sequence + index + 1)) continue;
    if (result.status === 'fulfilled' || isWrongSequence(result.reason)) return 'otherEnd';
    throw result.reason;
  }
  const last = updates.at(-1);
  return last === undefined ? end : { sequence: end.sequence + updates.length, offset: last.offset, id: idOf(last) };
}

/** Whether a message is stored at its sequence. If it is a duplicate, an earlier attempt stored it. */
const isStoredAt = (result: PromiseSettledResult<PubAck>, sequence: number): boolean =>
  result.status === 'fulfilled' && result.value.seq === sequence;
