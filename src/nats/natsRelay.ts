import { jetstream, type JetStreamClient, type PubAck } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { CursorError } from '../errors/process.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { Cursor } from '../process/Cursor.js';
import type { BatchHandler, Work } from '../process/ProcessOptions.js';
import { checkName } from './NatsFeedOptions.js';
import { isWrongSequence, placeBucket } from './PlaceBucket.js';
import { RelayError } from './RelayError.js';
import {
  checkSize,
  ensureStream,
  idHeader,
  readStreamEnd,
  RelayPlace,
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
   * without limits. An existing stream must have only the one subject and retain its messages by limits. A second
   * stream, `<stream>-places`, keeps the cursors of the relay and of its readers.
   */
  readonly stream: string;
  /**
   * The subject of all messages of the stream.
   *
   * @defaultValue `<stream>.updates`
   */
  readonly subject?: string | undefined;
  /**
   * The number of servers of a cluster that keep a copy of the streams, if they are created.
   *
   * @defaultValue 1
   */
  readonly replicas?: number | undefined;
  /**
   * How long one call of the server may take, in milliseconds. A call that takes longer has failed, and is retried.
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
 * A message is an element of the participant's response, `{"update": {...}}`, with two headers: `Nats-Msg-Id`, the ID
 * of the update, and `Canton-Offset`. A stream belongs to the name and the selection of its processor; another
 * processor needs another stream.
 *
 * @param options - the connection and the stream
 * @returns `store` and `handler`. They fail with a {@link RelayError} or with an error of NATS, and with a
 * `CursorError` if the stream belongs to another processor
 * @throws TypeError at once for a name that JetStream rejects
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
  const { connection, stream, subject = `${stream}.updates`, replicas = 1, timeoutMs = 5000 } = options;
  checkName('stream', stream);
  const target = { stream, subject, replicas };
  const js = jetstream(connection, { timeout: timeoutMs });
  const places = placeBucket(js, stream, () => Promise.resolve(replicas));
  const readPlace = async (): Promise<RelayPlace | undefined> => {
    const place = RelayPlace.decode((await places.get('relay'))?.record);
    return place._tag === 'Right' ? place.right : undefined;
  };
  const readEnd = async (place: RelayPlace | undefined): Promise<StreamEnd> => {
    const jsm = await js.jetstreamManager(false);
    const info = await ensureStream(jsm, target, (place?.end.sequence ?? 0) > 0);
    return readStreamEnd(jsm, target, info, place?.end);
  };
  /** The end of the stream after the last publish; `undefined` during a publish, and after a failed one. */
  let knownEnd: StreamEnd | undefined;
  /** The sequence of the last message that the server has acknowledged or reported. */
  let acknowledgedSequence = 0;
  const currentEnd = async (): Promise<StreamEnd> => {
    if (knownEnd !== undefined) return knownEnd;
    const place = await readPlace();
    const end = await readEnd(place);
    if (end.sequence < Math.max(acknowledgedSequence, place?.end.sequence ?? 0)) {
      throw new RelayError('end', stream, 'the stream has lost its newest messages: restart the processor');
    }
    return end;
  };

  const publish = async (updates: readonly Work[]): Promise<void> => {
    let end = await currentEnd();
    for (;;) {
      const { offset: last } = end;
      const rest = updates.filter(({ offset }) => offset > last);
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

  return {
    handler: publish,
    store: {
      load: async (name) => {
        const place = await readPlace();
        if (place !== undefined && place.name !== name) {
          throw new CursorError('conflict', name, `the stream ${stream} belongs to the processor ${place.name}`);
        }
        knownEnd = await readEnd(place);
        acknowledgedSequence = knownEnd.sequence;
        return place && rewindCursor(js, target, place, knownEnd);
      },
      save: async (name, cursor) => {
        const place: RelayPlace = { name, end: await currentEnd(), cursor };
        return places.put('relay', place);
      },
    },
  };
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
  return { sequence: end.sequence + updates.length, offset: updates.at(-1)?.offset ?? end.offset };
}

/** Whether a message is stored at its sequence. If it is a duplicate, an earlier attempt stored it. */
const isStoredAt = (result: PromiseSettledResult<PubAck>, sequence: number): boolean =>
  result.status === 'fulfilled' && result.value.seq === sequence;

/**
 * Returns the cursor of a place. It moves back to the last update of the stream if the stream has lost its newest
 * messages since, as can happen to a stream without replicas after a power loss.
 */
async function rewindCursor(
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  place: RelayPlace,
  end: StreamEnd,
): Promise<unknown> {
  const cursor = Cursor.decode(place.cursor);
  const isComplete = end.sequence >= place.end.sequence;
  if (isComplete || cursor._tag === 'Left' || cursor.right.offset <= end.offset) return place.cursor;
  const { streams } = await js.jetstreamManager(false);
  const last = await streams.getMessage(stream, { last_by_subj: subject });
  if (last === null) throw new RelayError('stream', stream, 'the stream has lost messages');
  const updateId = last.header.get(idHeader);
  // an update of an unknown variant has no ID to verify the ledger with
  const lastUpdate = updateId.startsWith('offset-') ? undefined : { offset: end.offset, updateId };
  return Cursor.encode({ ...cursor.right, offset: end.offset, lastUpdate });
}
