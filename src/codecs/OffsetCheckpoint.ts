import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { repeated } from './internal/repeated.js';
import { tag } from './internal/tag.js';
import { Offset } from './Offset.js';
import { SynchronizerTime } from './SynchronizerTime.js';

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
