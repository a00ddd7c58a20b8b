import * as t from 'io-ts';
import { isRecord } from './internal/Codec.js';
import { lenient, optional, repeated, tag, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Offset, Timestamp } from './scalars.js';

/**
 * The progress of one synchronizer.
 *
 * @category Updates
 */
export interface SynchronizerTime {
  /** The synchronizer. */
  readonly synchronizerId: string;
  /** The record time up to which the participant has processed everything of this synchronizer. */
  readonly recordTime: Timestamp;
}

/**
 * Codec of `SynchronizerTime`.
 *
 * @category Updates
 */
export const SynchronizerTime: t.Type<SynchronizerTime, unknown> = message<SynchronizerTime>('SynchronizerTime', {
  synchronizerId: text,
  recordTime: Timestamp,
});

/**
 * The end of a participant's ledger.
 *
 * @inline
 */
export interface LedgerEnd {
  /** The offset of the last update; 0 on an empty ledger. */
  readonly offset: Offset;
  /** The progress of the synchronizers that the request names with `synchronizer_id`; empty before 3.6. */
  readonly synchronizerTimes: readonly SynchronizerTime[];
}

const fields = message<LedgerEnd>('LedgerEnd', {
  offset: lenient(Offset, 0),
  synchronizerTimes: repeated(SynchronizerTime),
});

/**
 * Whether a response is not a ledger end but, for example, a proxy's error. A feed would read it as an empty ledger and
 * assume a reset.
 */
const isForeign = (u: unknown): boolean =>
  isRecord(u) && !('offset' in u) && Object.keys(u).some((key) => key !== 'synchronizerTimes');

/** Codec of `LedgerEnd`. */
export const LedgerEnd: t.Type<LedgerEnd, unknown> = new t.Type(
  fields.name,
  fields.is,
  (u, context) =>
    isForeign(u) ? t.failure(u, t.appendContext(context, 'offset', Offset)) : fields.validate(u, context),
  fields.encode,
);

/** The synchronizers to which a participant is connected. */
interface ConnectedSynchronizers {
  readonly connectedSynchronizers: readonly Pick<SynchronizerTime, 'synchronizerId'>[];
}

/** Codec of `ConnectedSynchronizers`. */
export const ConnectedSynchronizers: t.Type<ConnectedSynchronizers, unknown> = message<ConnectedSynchronizers>(
  'ConnectedSynchronizers',
  { connectedSynchronizers: repeated(message('ConnectedSynchronizer', { synchronizerId: text })) },
);

/**
 * The participant has sent everything up to `offset` that matches the request. A feed can resume after this offset,
 * even if nothing matched.
 *
 * @category Updates
 */
export interface OffsetCheckpoint {
  /** The variant. */
  readonly _tag: 'OffsetCheckpoint';
  /** An offset at or after that of every update sent before. */
  readonly offset: Offset;
  /** The progress of each synchronizer; may be empty. */
  readonly synchronizerTimes: readonly SynchronizerTime[];
}

/**
 * Codec of `OffsetCheckpoint`.
 *
 * @category Updates
 */
export const OffsetCheckpoint: t.Type<OffsetCheckpoint, unknown> = message<OffsetCheckpoint>('OffsetCheckpoint', {
  _tag: tag('OffsetCheckpoint'),
  offset: Offset,
  synchronizerTimes: repeated(SynchronizerTime),
});

/**
 * The W3C trace context of the submission that caused an update.
 *
 * @category Updates
 */
export interface TraceContext {
  /** The `traceparent` header. */
  readonly traceparent?: string;
  /** The `tracestate` header. */
  readonly tracestate?: string;
}

/**
 * Codec of `TraceContext`.
 *
 * @category Updates
 */
export const TraceContext: t.Type<TraceContext, unknown> = message<TraceContext>('TraceContext', {
  traceparent: optional(text),
  tracestate: optional(text),
});
