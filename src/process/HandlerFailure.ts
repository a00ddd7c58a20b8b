/** How far a handler has come with some updates. */
export interface Done {
  /** How many are done with. */
  readonly done: number;
  /** How many of those it was given. */
  readonly handled: number;
  /** What the one behind them has failed with. */
  readonly failure?: HandlerFailure;
}

/** A handler has failed; what it did in a transaction is to be rolled back. */
export class HandlerFailure extends Error {
  /** The class's name. */
  override readonly name = 'HandlerFailure';

  constructor(
    /** Why. */
    override readonly cause: unknown,
    /** How long it took to fail, in milliseconds. */
    readonly tookMs: number,
    /** What was done with before; absent where it is not known which of them it was. */
    readonly before?: Done,
  ) {
    super('a handler failed', { cause });
  }
}
