import type * as t from 'io-ts';
import { message } from './internal/message.js';
import { text } from './internal/text.js';
import { Timestamp } from './Timestamp.js';

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
