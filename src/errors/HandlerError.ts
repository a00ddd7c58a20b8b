import type { Offset } from '../codecs/Offset.js';
import { hasTag } from './internal/hasTag.js';
import { quotable } from './internal/quotable.js';
import { lines } from './internal/lines.js';

/**
 * A handler of `process` failed for good. Everything before its update is committed, and nothing of it or behind it: a
 * processor that is started again begins with it.
 */
export class HandlerError extends Error {
  /** The class's name. */
  override readonly name = 'HandlerError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'HandlerError' as const;

  constructor(
    /** Where the update stands. */
    readonly offset: Offset,
    /** The update's id, where it has one. */
    readonly updateId: string | undefined,
    /** How many times it was tried. */
    readonly attempts: number,
    /** What the handler failed with, the last time. It is the handler's own, and so are its words in the message. */
    cause: unknown,
  ) {
    const reason = cause instanceof Error ? quotable(cause.message, []) : undefined;
    super(
      lines(`An update could not be handled${reason === undefined ? '.' : `: ${reason}`}`, {
        Offset: offset,
        Update: updateId,
        Attempts: attempts,
      }),
      {
        cause,
      },
    );
  }
}

/** Whether a value is a {@link HandlerError}. */
export const isHandlerError = (u: unknown): u is HandlerError => hasTag(u, 'HandlerError');
