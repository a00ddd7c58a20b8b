import type { Offset } from '../codecs/scalars.js';
import { errorMessage, hasTag, quotable } from './internal/message.js';
import type { Retried } from './verdict.js';

/**
 * Why the stored state of a processor is rejected: it cannot be read (`unreadable`), it belongs to another participant
 * (`participant`) or to a request that selects other updates (`selection`), the ledger has another update at the offset of
 * the cursor's last one (`ledger`), or another process has saved it in the meantime (`conflict`).
 *
 * @category Errors
 */
export type CursorReason = 'unreadable' | 'participant' | 'selection' | 'ledger' | 'conflict';

/**
 * The operation of a store.
 *
 * @category Errors
 */
export type StoreOperation = 'hold' | 'load' | 'save' | 'park' | 'unpark' | 'commit';

/**
 * A processor cannot resume from the cursor in its store, because updates would be missing or handled twice. Nothing was
 * handled. Use another name, or the store that belongs to this ledger and request. Or correct the data that is derived from
 * the updates, and save another cursor.
 *
 * @category Errors
 */
export class CursorError extends Error {
  /** The class's name. */
  override readonly name = 'CursorError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'CursorError' as const;

  constructor(
    /** The kind of problem. */
    readonly reason: CursorReason,
    /** The name of the processor in the store. */
    readonly processor: string,
    /** The problem in a few words. */
    readonly explanation: string,
  ) {
    super(
      errorMessage(`The stored state of the processor is rejected: ${explanation}.`, {
        Reason: reason,
        Processor: processor,
      }),
    );
  }
}

/**
 * Whether a value is a {@link CursorError}.
 *
 * @category Errors
 */
export const isCursorError = (u: unknown): u is CursorError => hasTag(u, 'CursorError');

/**
 * A handler of `processFeed` failed and is not retried. Every update before this one is committed; this one and later ones
 * are not. A processor that is started again begins with this update.
 *
 * @category Errors
 */
export class HandlerError extends Error {
  /** The class's name. */
  override readonly name = 'HandlerError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'HandlerError' as const;

  constructor(
    /** The offset of the update. */
    readonly offset: Offset,
    /** The id of the update, if it has one. */
    readonly updateId: string | undefined,
    /** The number of attempts. */
    readonly attempts: number,
    /** The last error of the handler. The message quotes its text. */
    cause: unknown,
  ) {
    const reason = cause instanceof Error ? quotable(cause.message, []) : undefined;
    super(
      errorMessage(`The handler failed${reason === undefined ? '.' : `: ${reason}`}`, {
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

/**
 * Whether a value is a {@link HandlerError}.
 *
 * @category Errors
 */
export const isHandlerError = (u: unknown): u is HandlerError => hasTag(u, 'HandlerError');

/**
 * The store of a processor failed or did not answer in time. The processor retries the operation for a limited time.
 *
 * @category Errors
 */
export class StoreError extends Error {
  /** The class's name. */
  override readonly name = 'StoreError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'StoreError' as const;
  /** How many times and for how long the operation was retried; absent if it was not. */
  declare readonly retried?: Retried;

  constructor(
    /** The operation that failed. */
    readonly operation: StoreOperation,
    /** The name of the processor in the store. */
    readonly processor: string,
    /** The reason, in a few words. */
    readonly reason: string,
    /** The error that the store threw. */
    cause?: unknown,
  ) {
    super(errorMessage(`The store failed: ${reason}`, { Operation: operation, Processor: processor }), { cause });
  }
}

/**
 * Whether a value is a {@link StoreError}.
 *
 * @category Errors
 */
export const isStoreError = (u: unknown): u is StoreError => hasTag(u, 'StoreError');
