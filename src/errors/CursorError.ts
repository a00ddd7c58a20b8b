import { hasTag } from './internal/hasTag.js';
import { lines } from './internal/lines.js';

/**
 * Why what is stored of a processor is refused: it cannot be read (`unreadable`), belongs to another participant (`participant`) or to a
 * request that selects other updates (`selection`), the ledger has another update where the cursor's last one stood
 * (`ledger`), or somebody else saved it meanwhile (`conflict`).
 */
export type CursorReason = 'unreadable' | 'participant' | 'selection' | 'ledger' | 'conflict';

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
