import type { Attributes } from '@opentelemetry/api';
import type { Offset } from '../codecs/Offset.js';
import type { Timestamp } from '../codecs/Timestamp.js';

/** How far a feed without an end has come. */
export interface Follower {
  /** Its processor, if it has one with a name. */
  readonly attributes: Attributes;
  cursor: Offset | undefined;
  /** The newest record time of each synchronizer. */
  readonly recordTimes: Map<string, Timestamp>;
}
