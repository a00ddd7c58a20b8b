import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';
import type { Retried } from './Retried.js';

/** What a store was asked for when it failed. */
export type StoreOperation = 'hold' | 'load' | 'save' | 'park' | 'unpark' | 'commit';

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
