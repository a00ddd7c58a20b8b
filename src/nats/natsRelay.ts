import { jetstream, type JetStreamClient, type PubAck } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import { CursorError } from '../errors/process.js';
import type { CheckpointStore } from '../process/CheckpointStore.js';
import { Cursor } from '../process/Cursor.js';
import type { BatchHandler, Work } from '../process/ProcessOptions.js';
import { isWrongEnd, placesOf } from './consumer.js';
import { checkNames } from './NatsUpdatesOptions.js';
import { RelayError } from './RelayError.js';
import {
  checkSize,
  type StreamEnd,
  endOf,
  idHeader,
  messageOf,
  prepared,
  RelayPlace,
  type RelayStream,
} from './relayStream.js';

/** Where a relay publishes. */
export interface NatsRelayOptions {
  /** The connection, of any transport. It stays open when the relay ends. */
  readonly connection: NatsConnection;
  /**
   * The stream, to which nobody else publishes. One that is missing is made, without limits, in files; one that is there must
   * have the one subject and keep its messages by limits. `<stream>-places` beside it keeps where relay and readers stand.
   */
  readonly stream: string;
  /**
   * The subject of all its messages.
   *
   * @defaultValue `<stream>.updates`
   */
  readonly subject?: string | undefined;
  /**
   * Of how many servers of a cluster each keeps a copy, where the streams are made.
   *
   * @defaultValue 1
   */
  readonly replicas?: number | undefined;
  /**
   * How long the server may take for one call, in milliseconds, before it is taken for failed, and asked again.
   *
   * @defaultValue 5000
   */
  readonly timeoutMs?: number | undefined;
}

/** The two halves of a relay, for one processor. */
export interface NatsRelay {
  /** Keeps the processor's place. */
  readonly store: CheckpointStore;
  /** Publishes. */
  readonly handler: BatchHandler;
}

/**
 * Publishes a ledger's updates into a stream of NATS JetStream: each once and in order, whatever crashes. The stream
 * itself tells how far it has come: what is handed over once more is left out, also long after JetStream's own window
 * for duplicates; and a message is taken only right behind the one before it, so that of two relays of the same feed each
 * adds what the other has not. To be used with batches, which are published together.
 *
 * A message is an element of the ledger's answer, `{"update": {...}}`, with the headers `Nats-Msg-Id`, the update's id, and
 * `Canton-Offset`. A stream is bound to the processor's name and selection; others have streams of their own.
 *
 * @param options - the connection and the stream
 * @returns `store` and `handler`, which fail with a {@link RelayError} or with NATS's own errors; a `CursorError` says that the
 * stream belongs to another processor
 * @throws TypeError at once for a name that JetStream does not take
 *
 * @example
 * ```ts
 * import type { NatsConnection } from '@nats-io/nats-core';
 * import type { BatchProcessOptions } from 'canton-rx';
 * import { natsRelay } from 'canton-rx/nats';
 *
 * // for ledger.process(request, handler, options)
 * export function relayed(connection: NatsConnection) {
 *   const { handler, store } = natsRelay({ connection, stream: 'ledger' });
 *   const options: BatchProcessOptions = { name: 'relay', store, batch: { size: 100, withinMs: 0 } };
 *   return { handler, options };
 * }
 * ```
 */
export function natsRelay(options: NatsRelayOptions): NatsRelay {
  const { connection, stream, subject = `${stream}.updates`, replicas = 1, timeoutMs = 5000 } = options;
  checkNames({ stream });
  const target = { stream, subject, replicas };
  const js = jetstream(connection, { timeout: timeoutMs });
  const places = placesOf(js, stream, () => Promise.resolve(replicas));
  const readPlace = async (): Promise<RelayPlace | undefined> => {
    const place = RelayPlace.decode((await places.get('relay'))?.record);
    return place._tag === 'Right' ? place.right : undefined;
  };
  const readEnd = async (place: RelayPlace | undefined): Promise<StreamEnd> => {
    const jsm = await js.jetstreamManager(false);
    const info = await prepared(jsm, target, (place?.end.sequence ?? 0) > 0);
    return endOf(jsm, target, info, place?.end);
  };
  // of a publish that has not ended well nothing is known, but what was acknowledged before
  let known: StreamEnd | undefined;
  let acknowledged = 0;
  const end = async (): Promise<StreamEnd> => {
    if (known !== undefined) return known;
    const place = await readPlace();
    const found = await readEnd(place);
    if (found.sequence < Math.max(acknowledged, place?.end.sequence ?? 0)) {
      throw new RelayError('end', stream, 'the stream has lost its newest messages: start the processor again');
    }
    return found;
  };

  const publish = async (updates: readonly Work[]): Promise<void> => {
    let before = await end();
    for (;;) {
      const last = before.offset;
      const rest = updates.filter(({ offset }) => offset > last);
      known = undefined;
      const after = await append(connection, js, target, rest, before);
      if (after !== 'elsewhere') {
        known = after;
        acknowledged = after.sequence;
        return;
      }
      before = await end();
      if (before.offset === last) {
        throw new RelayError(
          'stream',
          stream,
          'it ends elsewhere than the relay left it: somebody else publishes to it',
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
        known = await readEnd(place);
        acknowledged = known.sequence;
        return place && rewindCursor(js, target, place, known);
      },
      save: async (name, cursor) => {
        const place: RelayPlace = { name, end: await end(), cursor };
        return places.put('relay', place);
      },
    },
  };
}

/** How appending ended: with all of it behind the end that was known, or with another end than was known. */
type Appended = StreamEnd | 'elsewhere';

/**
 * Appends updates right behind an end. All are sent before the first is acknowledged; each is taken only behind the one
 * before it, so that of a failure somewhere in between a beginning is stored, never a part with a hole.
 */
async function append(
  connection: NatsConnection,
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  updates: readonly Work[],
  end: StreamEnd,
): Promise<Appended> {
  const messages = updates.map((update, index) => {
    const message = messageOf(update, { stream, sequence: end.sequence + index, update: updates[index - 1] });
    checkSize(stream, update, message, connection.info?.max_payload ?? Infinity);
    return message;
  });
  const results = await Promise.allSettled(messages.map(({ body, headers }) => js.publish(subject, body, { headers })));
  for (const [index, result] of results.entries()) {
    if (isAt(result, end.sequence + index + 1)) continue;
    if (result.status === 'fulfilled' || isWrongEnd(result.reason)) return 'elsewhere';
    throw result.reason;
  }
  return { sequence: end.sequence + updates.length, offset: updates.at(-1)?.offset ?? end.offset };
}

/** A duplicate is as good where it stands in its place: an earlier try has stored it. */
const isAt = (result: PromiseSettledResult<PubAck>, sequence: number): boolean =>
  result.status === 'fulfilled' && result.value.seq === sequence;

/**
 * The cursor of a place; moved back to the stream's last update where the stream has lost its newest messages since, as one
 * without replicas may when the power fails.
 */
async function rewindCursor(
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  place: RelayPlace,
  end: StreamEnd,
): Promise<unknown> {
  const cursor = Cursor.decode(place.cursor);
  const isWhole = end.sequence >= place.end.sequence;
  if (isWhole || cursor._tag === 'Left' || cursor.right.offset <= end.offset) return place.cursor;
  const { streams } = await js.jetstreamManager(false);
  const last = await streams.getMessage(stream, { last_by_subj: subject });
  if (last === null) throw new RelayError('stream', stream, 'it has lost messages that it had');
  const updateId = last.header.get(idHeader);
  // an update of an unknown variant has no id by which the ledger would be known again
  const lastUpdate = updateId.startsWith('offset-') ? undefined : { offset: end.offset, updateId };
  return Cursor.encode({ ...cursor.right, offset: end.offset, lastUpdate });
}
