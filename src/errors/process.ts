import type { Offset } from '../codecs/scalars.js';
import { hasTag, lines, quotable } from './internal/message.js';
import type { Retried } from './verdict.js';

/**
 * Why what is stored of a processor is refused: it cannot be read (`unreadable`), belongs to another participant (`participant`) or to a
 * request that selects other updates (`selection`), the ledger has another update where the cursor's last one stood
 * (`ledger`), or somebody else saved it meanwhile (`conflict`).
 */
export type CursorReason = 'unreadable' | 'participant' | 'selection' | 'ledger' | 'conflict';

/** What a store was asked for when it failed. */
export type StoreOperation = 'hold' | 'load' | 'save' | 'park' | 'unpark' | 'commit';

/**
 * A processor must not go on from the cursor in its store: updates would be missing, or come twice. Nothing was handled.
 * Use another name, or the store that belongs to this ledger and request; or, once what was made of the updates is
 * put right, save another cursor.
 */
export class CursorError extends Error {
  /** The class's name. */
  override readonly name = 'CursorError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'CursorError' as const;

  constructor(
    /** What is wrong with it, in a word. */
    readonly reason: CursorReason,
    /** By which name the store knows the processor. */
    readonly processor: string,
    /** The same in a few words. */
    readonly explanation: string,
  ) {
    super(
      lines(`What is stored of the processor is refused: ${explanation}.`, { Reason: reason, Processor: processor }),
    );
  }
}

/** Whether a value is a {@link CursorError}. */
export const isCursorError = (u: unknown): u is CursorError => hasTag(u, 'CursorError');

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

/** The store of a processor failed, or did not answer in time. It is asked again for a while. */
export class StoreError extends Error {
  /** The class's name. */
  override readonly name = 'StoreError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'StoreError' as const;
  /** How often and how long it was asked again before this error was delivered; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** What it was asked for. */
    readonly operation: StoreOperation,
    /** By which name the store knows the processor. */
    readonly processor: string,
    /** Why it failed, in a few words. */
    readonly reason: string,
    /** The store's own error. */
    cause?: unknown,
  ) {
    super(lines(`The store failed: ${reason}`, { Operation: operation, Processor: processor }), { cause });
  }
}

/** Whether a value is a {@link StoreError}. */
export const isStoreError = (u: unknown): u is StoreError => hasTag(u, 'StoreError');
