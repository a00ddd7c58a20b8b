import { AckPolicy, DeliverPolicy, type ConsumerInfo, type JetStreamClient } from '@nats-io/jetstream';
import { nanos } from '@nats-io/nats-core';
import type { NatsUpdatesOptions } from './NatsUpdatesOptions.js';
import { orUndefined } from './orUndefined.js';
import type { Places } from './Places.js';
import { placeOf, readerPlace } from './readerPlace.js';
import { RelayError } from './RelayError.js';

/** A durable consumer, and up to where its messages were read. */
export interface Reader {
  readonly info: ConsumerInfo;
  /** The sequence number of the last message that was read, or before which it began. */
  readonly sequence: number;
}

/** The durable consumer: made if it never was, never made anew. */
export async function consumerOf(
  js: JetStreamClient,
  places: Places,
  { stream, durable, begin = 'start', ackWaitMs = 30_000 }: NatsUpdatesOptions,
): Promise<Reader> {
  const { streams, consumers } = await js.jetstreamManager(false);
  const place = placeOf(await places.get(readerPlace(durable)));
  const found = await orUndefined(consumers.info(stream, durable));
  if (found !== undefined) {
    const { ack_policy, max_ack_pending, opt_start_seq } = found.config;
    if (ack_policy !== AckPolicy.Explicit || max_ack_pending !== 1 || opt_start_seq === undefined) {
      throw new RelayError('durable', stream, `the consumer ${durable} is of another kind`);
    }
    return { info: found, sequence: place ?? opt_start_seq - 1 };
  }
  if (place !== undefined) {
    throw new RelayError('durable', stream, `the consumer ${durable} was deleted: take another name to begin anew`);
  }
  const there = await orUndefined(streams.info(stream));
  if (there === undefined) throw new RelayError('stream', stream, 'it is not there');
  const { first_seq, last_seq } = there.state;
  const opt_start_seq = { start: 1, earliest: Math.max(first_seq, 1), new: last_seq + 1 }[begin];
  const made = consumers.add(stream, {
    durable_name: durable,
    ack_policy: AckPolicy.Explicit,
    ack_wait: nanos(ackWaitMs),
    // with more, what comes again would come behind what came after it
    max_ack_pending: 1,
    deliver_policy: DeliverPolicy.StartSequence,
    opt_start_seq,
  });
  // another replica may have made it meanwhile, with another start
  const info = await made.catch(() => consumers.info(stream, durable));
  const sequence = (info.config.opt_start_seq ?? 1) - 1;
  // behind the consumer: of one that was made and not noted it is known where it began
  await places.put(readerPlace(durable), { sequence });
  return { info, sequence };
}
