import { JetStreamApiCodes, JetStreamApiError, type JetStreamClient, type PubAck } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/nats-core';
import type { Work } from '../process/Handler.js';
import type { End } from './End.js';
import { checkSize, messageOf } from './messageOf.js';
import type { RelayStream } from './relayStream.js';

/** How appending ended: with all of it behind the end that was known, or with another end than was known. */
export type Appended = End | 'elsewhere';

/**
 * Appends updates right behind an end. All are sent before the first is acknowledged; each is taken only behind the one
 * before it, so that of a failure somewhere in between a beginning is stored, never a part with a hole.
 */
export async function append(
  connection: NatsConnection,
  js: JetStreamClient,
  { stream, subject }: RelayStream,
  updates: readonly Work[],
  end: End,
): Promise<Appended> {
  const messages = updates.map((update, index) => {
    const message = messageOf(update, { stream, sequence: end.sequence + index, update: updates[index - 1] });
    checkSize(stream, update, message, connection.info?.max_payload ?? Infinity);
    return message;
  });
  const results = await Promise.allSettled(messages.map(({ body, headers }) => js.publish(subject, body, { headers })));
  for (const [index, result] of results.entries()) {
    if (isAt(result, end.sequence + index + 1)) continue;
    if (result.status === 'fulfilled' || isElsewhere(result.reason)) return 'elsewhere';
    throw result.reason;
  }
  return { sequence: end.sequence + updates.length, offset: updates.at(-1)?.offset ?? end.offset };
}

/** A duplicate is as good where it stands in its place: an earlier try has stored it. */
const isAt = (result: PromiseSettledResult<PubAck>, sequence: number): boolean =>
  result.status === 'fulfilled' && result.value.seq === sequence;

const isElsewhere = (error: unknown): boolean => error instanceof JetStreamApiError && wrongEnds.includes(error.code);

/** The last is that of a wrong message id. */
const wrongEnds: readonly number[] = [
  JetStreamApiCodes.StreamWrongLastSequence,
  JetStreamApiCodes.StreamWrongLastSequenceUnknown,
  10070,
];
