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
import { undefinedIfMissing, RelayError } from './RelayError.js';
import { StreamEnd } from './relayStream.js';

/** Up to where those who share a durable have read, and the revision of the record that says so. */
export interface ReaderPlace extends StreamEnd {
  readonly revision: number;
}

/** A durable consumer, and up to where its messages were read. */
export interface Reader {
  readonly info: ConsumerInfo;
  readonly place: ReaderPlace;
}

/** A record as it was found. */
interface Noted {
  readonly record: unknown;
  /** Ascends with each change. */
  readonly revision: number;
}

/**
 * Where a relay and its readers stand: one small record each, the latest only. In a stream of their own beside that of
 * the updates, whose limits must not remove them.
 */
export interface PlaceBucket {
  /** The record of a name; `undefined` where there is none. */
  get(name: string): Promise<Noted | undefined>;
  /** Replaces it, and gives the revision of the new one; with the revision of the old one only that, else nothing is given. */
  put(name: string, record: unknown, revision?: number): Promise<number | undefined>;
}

/** What was noted last; nothing of a durable that is new. */
export async function readPlace(places: PlaceBucket, durable: string): Promise<ReaderPlace | undefined> {
  const noted = await places.get(nameOf(durable));
  const end = StreamEnd.decode(noted?.record);
  return noted && end._tag === 'Right' ? { ...end.right, revision: noted.revision } : undefined;
}

/** Notes a place, unless one as far or further is noted meanwhile: the place of one who fell silent must not go back. */
export async function notePlace(
  places: PlaceBucket,
  durable: string,
  end: StreamEnd,
  revision: number,
): Promise<ReaderPlace> {
  const { sequence, offset } = end;
  for (let expected = revision; ;) {
    const written = await places.put(nameOf(durable), { sequence, offset }, expected);
    if (written !== undefined) return { sequence, offset, revision: written };
    const found = await readPlace(places, durable);
    if (found !== undefined && found.sequence >= sequence) return found;
    expected = found?.revision ?? 0;
  }
}

/** The durable consumer. One that was deleted is made again where it stood, never at the beginning. */
export async function consumerOf(
  js: JetStreamClient,
  places: PlaceBucket,
  { stream, durable, begin = 'start', ackWaitMs = 30_000 }: NatsUpdatesOptions,
): Promise<Reader> {
  const { streams, consumers } = await js.jetstreamManager(false);
  const there = await undefinedIfMissing(streams.info(stream));
  if (there === undefined)
    throw new RelayError('stream', stream, 'there is no such stream: start its relay first, or correct the name');
  const { first_seq, last_seq } = there.state;
  const noted = await readPlace(places, durable);
  const first = { start: 1, earliest: Math.max(first_seq, 1), new: last_seq + 1 }[begin];
  const make = (): Promise<ConsumerInfo> =>
    consumers.add(stream, {
      durable_name: durable,
      ack_policy: AckPolicy.Explicit,
      ack_wait: nanos(ackWaitMs),
      // with more, what comes again would come behind what came after it
      max_ack_pending: 1,
      deliver_policy: DeliverPolicy.StartSequence,
      opt_start_seq: noted === undefined ? first : noted.sequence + 1,
    });
  const info =
    (await undefinedIfMissing(consumers.info(stream, durable))) ??
    // another replica may have made it meanwhile, with another start
    (await make().catch(() => consumers.info(stream, durable)));
  const { ack_policy, max_ack_pending, opt_start_seq } = info.config;
  if (ack_policy !== AckPolicy.Explicit || max_ack_pending !== 1 || opt_start_seq === undefined) {
    throw new RelayError('durable', stream, `the consumer ${durable} is of another kind`);
  }
  // behind the consumer: of one that was made and not noted it is known where it began
  const place = noted ?? (await notePlace(places, durable, { sequence: opt_start_seq - 1, offset: 0 }, 0));
  if (first_seq > place.sequence + 1) throw gapOf(stream, place.sequence + 1, first_seq);
  return { info, place };
}

/** Messages from one up to before another that nobody has read, and nobody can. */
export const gapOf = (stream: string, from: number, before: number): RelayError =>
  new RelayError('gap', stream, `messages from ${from} on, before ${before}, were removed before they were read`);

/** The last is that of another message's id. */
const codes: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  10070,
];

/** Whether a message was refused since it would not have stood behind what it was to stand behind. */
export const isWrongEnd = (error: unknown): boolean => error instanceof JetStreamApiError && codes.includes(error.code);

/** The records beside a stream; `replicas` is for those of a stream that has none yet. */
export function placesOf(js: JetStreamClient, stream: string, replicas: () => Promise<number>): PlaceBucket {
  const name = `${stream}-places`;
  const make = async (): Promise<void> => {
    const { streams } = await js.jetstreamManager(false);
    if ((await undefinedIfMissing(streams.info(name))) !== undefined) return;
    const num_replicas = await replicas();
    await streams.add({ name, subjects: [`${name}.>`], max_msgs_per_subject: 1, num_replicas });
  };
  // a stream that is there stays; one that cannot be made is tried again
  let isMade = false;
  const made = async (): Promise<void> => {
    if (!isMade) await make();
    isMade = true;
  };
  return {
    get: async (place) => {
      const { streams } = await js.jetstreamManager(false);
      const message = await undefinedIfMissing(streams.getMessage(name, { last_by_subj: `${name}.${place}` }));
      return message ? { record: message.json<unknown>(), revision: message.seq } : undefined;
    },
    put: async (place, record, revision) => {
      await made();
      const expect = revision === undefined ? {} : { lastSubjectSequence: revision };
      return js.publish(`${name}.${place}`, JSON.stringify(record), { expect }).then(
        ({ seq }) => seq,
        (error: unknown) => {
          if (isWrongEnd(error)) return undefined;
          throw error;
        },
      );
    },
  };
}

const nameOf = (durable: string): string => `reader.${durable}`;
