import {
  AckPolicy,
  type ConsumerInfo,
  DeliverPolicy,
  JetStreamApiCodes,
  JetStreamApiError,
  type JetStreamClient,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import type { NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { RelayError, undefinedIfMissing } from './RelayError.js';
import { StreamEnd } from './relayStream.js';

/** The last message that the subscribers of a durable have read, and the revision of that record. */
export interface ReaderPlace extends StreamEnd {
  readonly revision: number;
}

/** A durable consumer, and the last message that its subscribers have read. */
export interface Reader {
  readonly info: ConsumerInfo;
  readonly place: ReaderPlace;
}

/** A record of a {@link PlaceBucket}. */
interface StoredRecord {
  readonly record: unknown;
  /** Increases with each change. */
  readonly revision: number;
}

/**
 * The positions of a relay and of its readers: one small record each, of which only the latest is kept. They are in a stream
 * of their own, so that the limits of the relay's stream do not remove them.
 */
export interface PlaceBucket {
  /** The record of a name; `undefined` if there is none. */
  get(name: string): Promise<StoredRecord | undefined>;
  /**
   * Replaces the record of a name, and resolves to the new revision. With a `revision`, replaces only that one, and
   * otherwise resolves to `undefined`.
   */
  put(name: string, record: unknown, revision?: number): Promise<number | undefined>;
}

/** The saved place of a durable; `undefined` for a new one. */
export async function readPlace(places: PlaceBucket, durable: string): Promise<ReaderPlace | undefined> {
  const saved = await places.get(recordName(durable));
  const end = StreamEnd.decode(saved?.record);
  return saved && end._tag === 'Right' ? { ...end.right, revision: saved.revision } : undefined;
}

/**
 * Saves the place of a durable, unless another subscriber has saved one as far or further: a subscriber that was silent for
 * a while must not move the place back.
 */
export async function savePlace(
  places: PlaceBucket,
  durable: string,
  end: StreamEnd,
  revision: number,
): Promise<ReaderPlace> {
  const { sequence, offset } = end;
  for (let expected = revision; ;) {
    const written = await places.put(recordName(durable), { sequence, offset }, expected);
    if (written !== undefined) return { sequence, offset, revision: written };
    const current = await readPlace(places, durable);
    if (current !== undefined && current.sequence >= sequence) return current;
    expected = current?.revision ?? 0;
  }
}

const recordName = (durable: string): string => `reader.${durable}`;

/** The durable consumer, created if it is missing. One that was deleted continues at its place, never at the beginning. */
export async function ensureConsumer(
  js: JetStreamClient,
  places: PlaceBucket,
  { stream, durable, begin = 'start', ackWaitMs = 30_000 }: NatsUpdatesOptions,
): Promise<Reader> {
  const { streams, consumers } = await js.jetstreamManager(false);
  const streamInfo = await undefinedIfMissing(streams.info(stream));
  if (streamInfo === undefined)
    throw new RelayError('stream', stream, 'the stream does not exist: start its relay first, or correct the name');
  const { first_seq, last_seq } = streamInfo.state;
  const saved = await readPlace(places, durable);
  const first = { start: 1, earliest: Math.max(first_seq, 1), new: last_seq + 1 }[begin];
  const create = (): Promise<ConsumerInfo> =>
    consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      // with more than one, a message that is delivered again would come after later ones
      max_ack_pending: 1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: saved === undefined ? first : saved.sequence + 1,
    });
  const info =
    (await undefinedIfMissing(consumers.info(stream, durable))) ??
    // another replica may have created it in the meantime, with another start
    (await create().catch(() => consumers.info(stream, durable)));
  const { ack_policy, max_ack_pending, opt_start_seq } = info.config;
  if (ack_policy !== AckPolicy.Explicit || max_ack_pending !== 1 || opt_start_seq === undefined) {
    throw new RelayError('durable', stream, `the consumer ${durable} has other settings than natsUpdates needs`);
  }
  // saved after the consumer is created: one without a saved place shows where it began
  const place = saved ?? (await savePlace(places, durable, { sequence: opt_start_seq - 1, offset: 0 }, 0));
  if (first_seq > place.sequence + 1) throw gapError(stream, place.sequence + 1, first_seq);
  return { info, place };
}

/** The error for messages, from one up to the one before another, that were removed before they were read. */
export const gapError = (stream: string, from: number, before: number): RelayError =>
  new RelayError('gap', stream, `messages ${from} to ${before - 1} were removed before they were read`);

/** The error codes of an unexpected last sequence; 10070 is that of an unexpected last message id. */
const wrongSequenceCodes: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  10070,
];

/** Whether a message was rejected because it would not directly follow its predecessor. */
export const isWrongSequence = (error: unknown): boolean =>
  error instanceof JetStreamApiError && wrongSequenceCodes.includes(error.code);

/** The places of a stream; `replicas` is used when their stream is created. */
export function placeBucket(js: JetStreamClient, stream: string, replicas: () => Promise<number>): PlaceBucket {
  const name = `${stream}-places`;
  const create = async (): Promise<void> => {
    const { streams } = await js.jetstreamManager(false);
    if ((await undefinedIfMissing(streams.info(name))) !== undefined) return;
    const num_replicas = await replicas();
    await streams.add({ name, subjects: [`${name}.>`], max_msgs_per_subject: 1, num_replicas });
  };
  // set only on success, so that a stream that could not be created is tried again
  let isCreated = false;
  const ensureCreated = async (): Promise<void> => {
    if (!isCreated) await create();
    isCreated = true;
  };
  return {
    get: async (place) => {
      const { streams } = await js.jetstreamManager(false);
      const message = await undefinedIfMissing(streams.getMessage(name, { last_by_subj: `${name}.${place}` }));
      return message ? { record: message.json<unknown>(), revision: message.seq } : undefined;
    },
    put: async (place, record, revision) => {
      await ensureCreated();
      const expect = revision === undefined ? {} : { lastSubjectSequence: revision };
      return js.publish(`${name}.${place}`, JSON.stringify(record), { expect }).then(
        ({ seq }) => seq,
        (error: unknown) => {
          if (isWrongSequence(error)) return undefined;
          throw error;
        },
      );
    },
  };
}
