import type { JetStreamManager, StoredMsg, StreamInfo } from '@nats-io/jetstream';
import { Offset } from '../codecs/Offset.js';
import type { End } from './End.js';
import { offsetHeader } from './messageOf.js';
import { orUndefined } from './orUndefined.js';
import { RelayError } from './RelayError.js';

/** A stream that a relay alone writes to, made by it or by an operator. */
export interface RelayStream {
  readonly stream: string;
  readonly subject: string;
  readonly replicas: number;
}

/** Makes the stream where it is missing, unless it is known to have been there; checks one that is there. */
export async function prepared(
  { streams }: JetStreamManager,
  { stream, subject, replicas }: RelayStream,
  wasThere: boolean,
): Promise<StreamInfo> {
  const found = await orUndefined(streams.info(stream));
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
  known: End | undefined,
): Promise<End> {
  if (state.last_seq === 0) return { sequence: 0, offset: 0 };
  const last = await orUndefined(streams.getMessage(stream, { last_by_subj: subject }));
  if (last) return { sequence: Math.max(last.seq, state.last_seq), offset: offsetOf(stream, last) };
  if (known?.sequence === state.last_seq) return known;
  throw new RelayError('end', stream, 'all its messages were removed, also some behind the last cursor that was saved');
}

function offsetOf(stream: string, { seq, header }: StoredMsg): Offset {
  const offset = Number(header.get(offsetHeader) || NaN);
  if (!Offset.is(offset)) throw new RelayError('stream', stream, `message ${seq} is not from a relay`);
  return offset;
}
