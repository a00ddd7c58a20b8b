import { formatProblem, type Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { hasTag, lines } from './internal/message.js';
import type { Retried } from './verdict.js';

/** The service answered what this version cannot read. It says where and what was expected, never what was found. */
export class DecodeError extends Error {
  /** The class's name. */
  override readonly name = 'DecodeError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'DecodeError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The places that do not decode, of a list about a hundred at most. */
    readonly problems: readonly Problem[],
    /** The offset of the update that does not decode, where it can be read. */
    readonly offset?: Offset,
  ) {
    super(
      [lines('The answer does not decode.', { Offset: offset, Path: path }), ...problems.map(formatProblem)].join('\n'),
    );
  }
}

/** Whether a value is a {@link DecodeError}. */
export const isDecodeError = (u: unknown): u is DecodeError => hasTag(u, 'DecodeError');

/** The service sent updates out of order, or a full page that leads nowhere. Nothing of that page was emitted. */
export class OrderError extends Error {
  /** The class's name. */
  override readonly name = 'OrderError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'OrderError' as const;

  constructor(
    /** The offset that came where it must not. */
    readonly offset: Offset,
    /** The offset before it. */
    readonly previous: Offset,
  ) {
    super(lines('The updates are out of order.', { Offset: offset, After: previous }));
  }
}

/** Whether a value is an {@link OrderError}. */
export const isOrderError = (u: unknown): u is OrderError => hasTag(u, 'OrderError');

/** Even a page of one update is too large: for the service, or for the ledger's `maxAnswerBytes`. */
export class PageLimitError extends Error {
  /** The class's name. */
  override readonly name = 'PageLimitError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'PageLimitError' as const;

  constructor(
    /** Where the feed stands. */
    readonly cursor: Offset,
  ) {
    super(lines('A page of one update is too large.', { Cursor: cursor }));
  }
}

/** Whether a value is a {@link PageLimitError}. */
export const isPageLimitError = (u: unknown): u is PageLimitError => hasTag(u, 'PageLimitError');

/**
 * The participant has deleted updates that the feed has not seen. Going on from `earliestOffset` leaves them out for
 * good; whether that may be is for the caller to say.
 */
export class PrunedError extends Error {
  /** The class's name. */
  override readonly name = 'PrunedError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'PrunedError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The smallest `beginExclusive` that is still valid, where the ledger says it. */
    readonly earliestOffset?: Offset,
  ) {
    super(lines('The ledger is pruned beyond the cursor.', { 'Earliest offset': earliestOffset, Path: path }));
  }
}

/** Whether a value is a {@link PrunedError}. */
export const isPrunedError = (u: unknown): u is PrunedError => hasTag(u, 'PrunedError');

/**
 * The place to resume from is beyond the end of the ledger, and stays there: the participant was restored from an older
 * backup, or is another one. Its offsets mean something else now.
 */
export class LedgerResetError extends Error {
  /** The class's name. */
  override readonly name = 'LedgerResetError' as const;
  /** Tells the errors apart. */
  readonly _tag = 'LedgerResetError' as const;
  /** How often and how long a feed has asked again before it gave up with this error; absent otherwise. */
  declare readonly retried?: Retried;

  constructor(
    /** Where the feed stands. */
    readonly cursor: Offset,
    /** Where the ledger ends, where it is known. */
    readonly ledgerEnd?: Offset,
  ) {
    super(lines('The cursor is beyond the ledger end.', { Cursor: cursor, 'Ledger end': ledgerEnd }));
  }
}

/** Whether a value is a {@link LedgerResetError}. */
export const isLedgerResetError = (u: unknown): u is LedgerResetError => hasTag(u, 'LedgerResetError');
