import type { JetStreamManager, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import { headers, type MsgHdrs, nanos } from '@nats-io/nats-core';
import * as t from 'io-ts';
import { integer, optional, text } from '../codecs/internal/field.js';
import { message } from '../codecs/internal/message.js';
import { Offset } from '../codecs/scalars.js';
import { UpdateElement } from '../codecs/Update.js';
import type { LastUpdate } from '../codecs/LedgerPosition.js';
import { advance, type Read } from '../history/positions.js';
import { Cursor } from '../process/CheckpointStore.js';
import type { Work } from '../process/ProcessOptions.js';
import { RelayError, undefinedIfMissing } from './RelayError.js';

/** A stream to which only a relay publishes, created by the relay or by an operator. */
export interface RelayStream {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
  readonly limits: {
    readonly maxAgeMs?: number | undefined;
    readonly maxBytes?: number | undefined;
    readonly maxMessages?: number | undefined;
  };
}

/** The last message of a stream, or the last one that a reader has read. */
export interface StreamEnd {
  /** The sequence number of the message; 0 before the first. */
  readonly sequence: number;
  /** The offset of its update; 0, which is before every update, if there is no message. */
  readonly offset: number;
  /** The ID under which its update was published; absent if there is no message. */
  readonly id?: string | undefined;
}

/** The header by which JetStream recognizes duplicates within a time window. */
export const idHeader = 'Nats-Msg-Id';

/** The message that must be the last one when the next is published. */
interface Predecessor {
  readonly stream: string;
  readonly sequence: number;
  /** Its update, if it was sent in the same batch. */
  readonly update?: Work | undefined;
}

/** An update as a message. */
interface Message {
  readonly body: Uint8Array;
  readonly headers: MsgHdrs;
}

/** The header with the update's offset. */
const offsetHeader = 'Canton-Offset';

/** Returns the offset in the headers of a message; `undefined` for a message that is not from a relay. */
export function offsetIn(hdrs: MsgHdrs | undefined): Offset | undefined {
  const text = hdrs?.get(offsetHeader) ?? '';
  const offset = text === '' ? NaN : Number(text);
  return Offset.is(offset) ? offset : undefined;
}

/** Returns the message of an update. The server rejects it if it does not directly follow its predecessor. */
export function toMessage(update: Work, { stream, sequence, update: before }: Predecessor): Message {
  const body = new TextEncoder().encode(JSON.stringify(UpdateElement.encode(update)));
  const fields = {
    [idHeader]: idOf(update),
    [offsetHeader]: String(update.offset),
    'Nats-Expected-Stream': stream,
    'Nats-Expected-Last-Sequence': String(sequence),
    // the sequence alone would also match a message of another publisher instead of the predecessor
    ...(before && { 'Nats-Expected-Last-Msg-Id': idOf(before) }),
  };
  const hdrs = headers();
  for (const [key, value] of Object.entries(fields)) hdrs.set(key, value);
  return { body, headers: hdrs };
}

/** Returns the ID of a message. An update of a variant that this version does not know may have no ID. */
export const idOf = (update: Work): string => ('updateId' in update ? update.updateId : `offset-${update.offset}`);

/** Returns the last update of a stream, if it has an ID by which a ledger can be recognized. */
const lastUpdateOf = ({ offset, id }: StreamEnd): LastUpdate | undefined =>
  id === undefined || id.startsWith('offset-') ? undefined : { offset, updateId: id };

/** Throws a {@link RelayError} for a message that the server would reject, before any message of a batch is sent. */
export function checkSize(stream: string, update: Work, message: Message, maxBytes: number): void {
  const bytes = bytesOf(message);
  if (bytes <= maxBytes) return;
  const sizes = `${bytes} bytes, but the server accepts at most ${maxBytes} in a message`;
  throw new RelayError('size', stream, `the update at offset ${update.offset} has ${sizes}: raise max_payload`);
}

/** The size of a message, in bytes. */
export function bytesOf({ body, headers }: Message): number {
  const head = ['NATS/1.0', ...headers.keys().map((key) => `${key}: ${headers.get(key)}`), '', ''];
  return body.length + new TextEncoder().encode(head.join('\r\n')).length;
}

/** Creates the stream if it is missing and never existed. Checks the configuration of an existing one. */
export async function ensureStream(
  { streams }: JetStreamManager,
  { stream, subject, replicas, limits }: RelayStream,
  hasExisted: boolean,
): Promise<StreamInfo> {
  const found = await undefinedIfMissing(streams.info(stream));
  if (found === undefined && hasExisted) {
    throw new RelayError(
      'stream',
      stream,
      `the stream was deleted: to start over, delete the bucket ${stream}-cursors, too`,
    );
  }
  const info =
    found ??
    (await streams.add({
      name: stream,
      subjects: [subject],
      num_replicas: replicas,
      ...(limits.maxAgeMs !== undefined && { max_age: nanos(limits.maxAgeMs) }),
      ...(limits.maxBytes !== undefined && { max_bytes: limits.maxBytes }),
      ...(limits.maxMessages !== undefined && { max_msgs: limits.maxMessages }),
    }));
  const { subjects, retention, mirror, sources, no_ack } = info.config;
  const hasOnlySubject = subjects.length === 1 && subjects[0] === subject && mirror === undefined && !sources?.length;
  if (hasOnlySubject && retention === 'limits' && !no_ack) return info;
  throw new RelayError(
    'stream',
    stream,
    `the stream must have ${subject} as its only subject, retention by limits, and acknowledgements`,
  );
}

/**
 * Resolves to the end of the stream. `known` is an earlier end, for a stream whose messages have all been removed
 * since.
 */
export async function readStreamEnd(
  { streams }: JetStreamManager,
  { stream, subject }: RelayStream,
  { state }: StreamInfo,
  known: StreamEnd | undefined,
): Promise<StreamEnd> {
  if (state.last_seq === 0) {
    if (known === undefined || known.sequence === 0) return { sequence: 0, offset: 0 };
    const explanation = `the stream was created again: to start over, delete the bucket ${stream}-cursors, too`;
    throw new RelayError('stream', stream, explanation);
  }
  const last = await undefinedIfMissing(streams.getMessage(stream, { last_by_subj: subject }));
  if (last) {
    const id = last.header.get(idHeader);
    return { sequence: Math.max(last.seq, state.last_seq), offset: offsetOfMessage(stream, last), id };
  }
  if (known?.sequence === state.last_seq) return known;
  throw new RelayError(
    'end',
    stream,
    'all messages of the stream were removed, including some after the last saved cursor',
  );
}

function offsetOfMessage(stream: string, { seq, header }: StoredMsg): Offset {
  const offset = offsetIn(header);
  if (offset === undefined) throw new RelayError('stream', stream, `message ${seq} is not from a relay`);
  return offset;
}

const count = (name: string): t.Type<number, unknown> => integer(name, 0, Infinity, 'a whole number');

/** Codec of `StreamEnd`. */
export const StreamEnd: t.Type<StreamEnd, unknown> = message<StreamEnd>('End', {
  sequence: count('Sequence'),
  offset: count('Offset'),
  id: optional(text),
});

/** The record of a relay. */
export interface RelayRecord {
  /** The name of the relay's processor. */
  readonly name: string;
  /** The end of the stream when the cursor was saved. */
  readonly end: StreamEnd;
  /** The processor's cursor. */
  readonly cursor: unknown;
}

/** Codec of `RelayRecord`. */
export const RelayRecord: t.Type<RelayRecord, unknown> = message<RelayRecord>('RelayRecord', {
  name: t.string,
  end: StreamEnd,
  cursor: t.unknown,
});

/** Whether two records are of relays of the same feed, which complement each other. */
export function isOfSameFeed(one: RelayRecord, other: RelayRecord): boolean {
  const [a, b] = [one, other].map(({ cursor }) => Cursor.decode(cursor));
  if (one.name !== other.name || a?._tag !== 'Right' || b?._tag !== 'Right') return false;
  return a.right.participantId === b.right.participantId && a.right.selection === b.right.selection;
}

/**
 * Returns the cursor of a record, moved to the end of the stream, with the last update of the stream: the processor then
 * verifies that the ledger still has that update. It moves forward if the relay ended after a publish and before its
 * save, and back if the stream has lost its newest messages since, as can happen to a stream without replicas after a
 * power loss.
 *
 * @param since - what was published after the cursor; `undefined` if that is not known
 */
export function cursorAtEnd(
  { end: savedEnd, cursor: saved }: RelayRecord,
  end: StreamEnd,
  since: readonly Read[] | undefined,
): unknown {
  const decoded = Cursor.decode(saved);
  // the processor reports an unreadable cursor
  if (decoded._tag === 'Left') return saved;
  const cursor = decoded.right;
  const isComplete = end.sequence >= savedEnd.sequence;
  const lastUpdate = lastUpdateOf(end);
  const isAfterEnd = cursor.offset > end.offset;
  // of a feed from the stream of another relay: the offset alone would no longer belong to its message there
  if ('sequence' in cursor) return isAfterEnd && !isComplete ? Cursor.encode({ ...cursor, ...streamStart }) : saved;
  if (isAfterEnd && isComplete) return Cursor.encode({ ...cursor, lastUpdate: cursor.lastUpdate ?? lastUpdate });
  // without an ID, the relay compares the update when it receives it again
  if (!isAfterEnd && lastUpdate === undefined) return saved;
  // what was lost must be read again, and it is not known what was read of each synchronizer before that
  const { recordTimes } = isAfterEnd || since === undefined ? { recordTimes: {} } : advance(cursor, since);
  return Cursor.encode({ ...cursor, offset: end.offset, lastUpdate, recordTimes });
}

/** The beginning of a stream. What a relay gets again from there is compared, and not published again. */
const streamStart = { offset: 0, sequence: 0, lastUpdate: undefined, recordTimes: {} };

/** Whether a saved cursor is before the end of the stream. If there is none, the feed begins anywhere. */
export const isBefore = (saved: unknown, { offset }: StreamEnd): boolean => {
  const cursor = Cursor.decode(saved);
  return cursor._tag === 'Left' || cursor.right.offset < offset;
};
