import type { JetStreamManager, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import { headers, type MsgHdrs } from '@nats-io/nats-core';
import * as t from 'io-ts';
import { whole } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import { UpdateElement } from '../codecs/Update.js';
import type { Work } from '../process/ProcessOptions.js';
import { undefinedIfMissing, RelayError } from './RelayError.js';

/** A stream that a relay alone writes to, made by it or by an operator. */
export interface RelayStream {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
}

/** What a stream has last, or a reader has read last. */
export interface StreamEnd {
  /** The message's sequence number; 0 before the first. */
  readonly sequence: number;
  /** Its update's offset; 0, before every update, where there is none. */
  readonly offset: number;
}

/** The header by which JetStream tells messages apart for a while. */
export const idHeader = 'Nats-Msg-Id';

/** Behind what a message is to stand, or nowhere. */
interface Behind {
  readonly stream: string;
  readonly sequence: number;
  /** The update sent before it; without one, what has that number is known. */
  readonly update?: Work | undefined;
}

/** An update as a message. */
interface Message {
  readonly body: Uint8Array;
  readonly headers: MsgHdrs;
}

/** The header with the update's offset. */
const offsetHeader = 'Canton-Offset';

/** The message of an update. */
export function messageOf(update: Work, { stream, sequence, update: before }: Behind): Message {
  const body = new TextEncoder().encode(JSON.stringify(UpdateElement.encode(update)));
  const fields = {
    [idHeader]: idOf(update),
    [offsetHeader]: String(update.offset),
    'Nats-Expected-Stream': stream,
    'Nats-Expected-Last-Sequence': String(sequence),
    // the number alone would also be that of a message which somebody else put in its predecessor's place
    ...(before && { 'Nats-Expected-Last-Msg-Id': idOf(before) }),
  };
  const hdrs = headers();
  for (const [key, value] of Object.entries(fields)) hdrs.set(key, value);
  return { body, headers: hdrs };
}

/** An update of a variant that this version does not know may have no id. */
const idOf = (update: Work): string => ('updateId' in update ? update.updateId : `offset-${update.offset}`);

/** Refuses a message that the server would not take, before any of a batch is sent. */
export function checkSize(stream: string, update: Work, message: Message, maxBytes: number): void {
  const head = ['NATS/1.0', ...message.headers.keys().map((key) => `${key}: ${message.headers.get(key)}`), '', ''];
  const bytes = message.body.length + new TextEncoder().encode(head.join('\r\n')).length;
  if (bytes <= maxBytes) return;
  const sizes = `${bytes} bytes, of which the server takes ${maxBytes} in a message`;
  throw new RelayError('size', stream, `the update at offset ${update.offset} has ${sizes}: raise max_payload`);
}

/** Makes the stream where it is missing, unless it is known to have been there; checks one that is there. */
export async function prepared(
  { streams }: JetStreamManager,
  { stream, subject, replicas }: RelayStream,
  wasThere: boolean,
): Promise<StreamInfo> {
  const found = await undefinedIfMissing(streams.info(stream));
  if (found === undefined && wasThere) {
    throw new RelayError('stream', stream, `it was deleted; to begin anew, delete ${stream}-places as well`);
  }
  const info = found ?? (await streams.add({ name: stream, subjects: [subject], num_replicas: replicas }));
  const { subjects, retention, mirror, sources, no_ack } = info.config;
  const isOurs = subjects.length === 1 && subjects[0] === subject && mirror === undefined && !sources?.length;
  if (isOurs && retention === 'limits' && !no_ack) return info;
  throw new RelayError('stream', stream, `it must have the subject ${subject} alone, retention by limits, and acks`);
}

/** What the stream has last; `known` is what it had at a time, for a stream whose messages have all been removed since. */
export async function endOf(
  { streams }: JetStreamManager,
  { stream, subject }: RelayStream,
  { state }: StreamInfo,
  known: StreamEnd | undefined,
): Promise<StreamEnd> {
  if (state.last_seq === 0) return { sequence: 0, offset: 0 };
  const last = await undefinedIfMissing(streams.getMessage(stream, { last_by_subj: subject }));
  if (last) return { sequence: Math.max(last.seq, state.last_seq), offset: offsetOf(stream, last) };
  if (known?.sequence === state.last_seq) return known;
  throw new RelayError('end', stream, 'all its messages were removed, also some behind the last cursor that was saved');
}

function offsetOf(stream: string, { seq, header }: StoredMsg): Offset {
  const offset = Number(header.get(offsetHeader) || NaN);
  if (!Offset.is(offset)) throw new RelayError('stream', stream, `message ${seq} is not from a relay`);
  return offset;
}

const counted = (name: string): t.Type<number, unknown> => whole(name, 0, Infinity, 'a whole number');

/** Codec of `End`. */
export const StreamEnd: t.Type<StreamEnd, unknown> = message<StreamEnd>('End', {
  sequence: counted('Sequence'),
  offset: counted('Offset'),
});

/** What a relay remembers of itself. */
export interface RelayPlace {
  /** The processor whose relay it is. */
  readonly name: string;
  /** The end of the stream as it was when the cursor was saved. */
  readonly end: StreamEnd;
  /** The processor's cursor. */
  readonly cursor: unknown;
}

/** Codec of `RelayPlace`. */
export const RelayPlace: t.Type<RelayPlace, unknown> = message<RelayPlace>('RelayPlace', {
  name: t.string,
  end: StreamEnd,
  cursor: t.unknown,
});
