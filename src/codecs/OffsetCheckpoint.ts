import * as t from 'io-ts';
import { isRecord } from './internal/Codec.js';
import { repeated } from './internal/collection.js';
import { defaulting, optional, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Offset, Timestamp } from './scalars.js';

/** How far a synchronizer's clock has come. */
export interface SynchronizerTime {
  /** The synchronizer. */
  readonly synchronizerId: string;
  /** Everything of this synchronizer up to this record time has been seen. */
  readonly recordTime: Timestamp;
}

/** Codec of `SynchronizerTime`. */
export const SynchronizerTime: t.Type<SynchronizerTime, unknown> = message<SynchronizerTime>('SynchronizerTime', {
  synchronizerId: text,
  recordTime: Timestamp,
});

/** How far a participant's ledger has come. */
export interface LedgerEnd {
  /** The offset of the last update; 0 on an empty ledger. */
  readonly offset: Offset;
  /** How far each synchronizer's clock has come; empty before 3.6. */
  readonly synchronizerTimes: readonly SynchronizerTime[];
}

const fields = message<LedgerEnd>('LedgerEnd', {
  offset: defaulting(Offset, 0),
  synchronizerTimes: repeated(SynchronizerTime),
});

/** The error of a proxy, say: taken for the end of an empty ledger, it would make a feed believe that the ledger was reset. */
const isSomethingElse = (u: unknown): boolean =>
  isRecord(u) && !('offset' in u) && Object.keys(u).some((key) => key !== 'synchronizerTimes');

/** Codec of `LedgerEnd`. */
export const LedgerEnd: t.Type<LedgerEnd, unknown> = new t.Type(
  fields.name,
  fields.is,
  (u, context) =>
    isSomethingElse(u) ? t.failure(u, t.appendContext(context, 'offset', Offset)) : fields.validate(u, context),
  fields.encode,
);

/** Everything that the request asks for up to `offset` has been sent: a place to resume from, though nothing matched. */
export interface OffsetCheckpoint {
  /** The variant. */
  readonly _tag: 'OffsetCheckpoint';
  /** At or after the offset of every update sent before; may equal it. */
  readonly offset: Offset;
  /** One entry per synchronizer; may be empty. */
  readonly synchronizerTimes: readonly SynchronizerTime[];
}

/** Codec of `OffsetCheckpoint`. */
export const OffsetCheckpoint: t.Type<OffsetCheckpoint, unknown> = message<OffsetCheckpoint>('OffsetCheckpoint', {
  _tag: tag('OffsetCheckpoint'),
  offset: Offset,
  synchronizerTimes: repeated(SynchronizerTime),
});

/** The W3C trace in which an update was submitted. */
export interface TraceContext {
  /** The `traceparent` header. */
  readonly traceparent?: string;
  /** The `tracestate` header. */
  readonly tracestate?: string;
}

/** Codec of `TraceContext`. */
export const TraceContext: t.Type<TraceContext, unknown> = message<TraceContext>('TraceContext', {
  traceparent: optional(text),
  tracestate: optional(text),
});
