import type { Msg } from '@nats-io/nats-core';
import type * as t from 'io-ts';
import { integer } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { type Problem, problemsOf } from '../codecs/Problem.js';
import { Offset } from '../codecs/scalars.js';
import { headOfElement, type Update, UpdateElement } from '../codecs/Update.js';
import { DecodeError, OrderError } from '../errors/feed.js';
import type { FeedPosition } from '../process/CheckpointStore.js';
import type { FeedEntry } from '../process/Feed.js';
import type { Work } from '../process/ProcessOptions.js';
import { offsetIn } from './relayStream.js';

/**
 * A position in the stream of a relay.
 *
 * @category Transports
 */
export interface NatsPosition extends FeedPosition {
  /** The offset of the last message's update; 0 if it is not known. */
  readonly offset: Offset;
  /** The sequence number of the last message; 0 before the first one. */
  readonly sequence: number;
}

/**
 * Codec of `NatsPosition`.
 *
 * @category Transports
 */
export const NatsPosition: t.Type<NatsPosition, unknown> = message<NatsPosition>('NatsPosition', {
  offset: Offset,
  sequence: integer('Sequence', 0, Infinity, 'a whole number'),
});

/** A message of a consumer. */
export interface Delivery {
  readonly sequence: number;
  /** The number of further messages that the consumer had when it sent this one. */
  readonly pending: number;
  readonly message: Msg;
}

/**
 * Returns the update of the next message, or that it cannot be decoded. Throws an {@link OrderError} for an update that
 * is not after the previous one, and a {@link DecodeError} for a message without an update, unless such messages are
 * emitted.
 */
export function toEntry(
  stream: string,
  { sequence, message }: Delivery,
  previous: NatsPosition,
  emitUndecoded: boolean,
): FeedEntry<Work, NatsPosition> {
  const element = parseJson(message);
  const result = UpdateElement.decode(element);
  const content = result._tag === 'Right' && isWork(result.right) ? result.right : undefined;
  const offset = content?.offset ?? headOfElement(element).offset ?? offsetIn(message.headers);
  const problems = result._tag === 'Left' ? problemsOf(result.left) : notFromRelay;
  if (offset === undefined || (content === undefined && !emitUndecoded))
    throw new DecodeError(`${stream}/${sequence}`, problems, offset);
  if (offset <= previous.offset) throw new OrderError(offset, previous.offset);
  return { position: { offset, sequence }, content: content ?? { _tag: 'UndecodedUpdate', offset, problems } };
}

const isWork = (update: Update): update is Work => update._tag !== 'OffsetCheckpoint';

const notFromRelay: readonly Problem[] = [{ path: 'update', expected: 'an update of a relay' }];

/** Returns the JSON of a message; `undefined`, which is not an update, for any other text. */
function parseJson(message: Msg): unknown {
  try {
    return message.json<unknown>();
  } catch {
    return undefined;
  }
}
