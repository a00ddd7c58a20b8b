import type { Offset } from '../codecs/Offset.js';

/** What happens to a processor, beside what happens to its feed. */
export type ProcessHappening = HandlerFailed | UpdateSkipped | UpdateParked;

/** A handler failed, and is tried again. */
export interface HandlerFailed {
  /** Tells the events apart. */
  readonly _tag: 'HandlerFailed';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times in a row it has failed. */
  readonly failures: number;
  /** How long the processor waits before it tries again, in milliseconds. */
  readonly delayMs: number;
  /** The handler's own error. */
  readonly cause: unknown;
}

/** An update could not be handled, and the processor went on without it. */
export interface UpdateSkipped {
  /** Tells the events apart. */
  readonly _tag: 'UpdateSkipped';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times it was tried; 1 for one that does not decode. */
  readonly attempts: number;
  /** The handler's own error, or why the update does not decode. */
  readonly cause: unknown;
}

/** An update could not be handled, and was put aside in the store. */
export interface UpdateParked {
  /** Tells the events apart. */
  readonly _tag: 'UpdateParked';
  /** Where the update stands. */
  readonly offset: Offset;
  /** How many times it was tried; 1 for one that does not decode. */
  readonly attempts: number;
  /** The handler's own error, or why the update does not decode. */
  readonly cause: unknown;
}
