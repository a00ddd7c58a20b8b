import type { Unknown } from './internal/oneOf.js';
import { unknownAt } from './internal/unknownAt.js';
import type { Offset } from './Offset.js';

/** An event of a kind that this version does not know: passed on as it came. */
export interface UnknownEvent {
  /** The kind of event. */
  readonly _tag: 'UnknownEvent';
  /** The wire's name of the kind. */
  readonly variant: string;
  /** The offset of the update that has the event. */
  readonly offset: Offset;
  /** What stands under that name, undecoded. */
  readonly value: unknown;
}

/** @internal */
export const unknownEvent: Unknown<UnknownEvent> = unknownAt('UnknownEvent');
