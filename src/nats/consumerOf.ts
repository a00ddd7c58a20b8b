import { AckPolicy, DeliverPolicy, type ConsumerInfo, type JetStreamClient } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import type { NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { orUndefined } from './orUndefined.js';
import type { Places } from './Places.js';
import { notePlace, readPlace, type ReaderPlace } from './ReaderPlace.js';
import { RelayError } from './RelayError.js';

/** A durable consumer, and up to where its messages were read. */
export interface Reader {
  readonly info: ConsumerInfo;
  readonly place: ReaderPlace;
}

/** The durable consumer. One that was deleted is made again where it stood, never at the beginning. */
export async function consumerOf(
  js: JetStreamClient,
  places: Places,
  { stream, durable, begin = 'start', ackWaitMs = 30_000 }: NatsUpdatesOptions,
): Promise<Reader> {
  const { streams, consumers } = await js.jetstreamManager(false);
  const there = await orUndefined(streams.info(stream));
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
    (await orUndefined(consumers.info(stream, durable))) ??
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
