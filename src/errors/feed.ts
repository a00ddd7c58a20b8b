import { formatProblem, type Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { errorMessage, hasTag } from './internal/message.js';
import type { Retried } from './verdict.js';

/**
 * A response cannot be decoded. The error says which field, and what was expected. It never contains the value.
 *
 * @category Errors
 */
export class DecodeError extends Error {
  /** The class's name. */
  override readonly name = 'DecodeError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'DecodeError' as const;

  constructor(
    /** The path of the request. For the payload of a contract, its template. */
    readonly path: string,
    /** The problems: at most about a hundred for each list. */
    readonly problems: readonly Problem[],
    /** The offset of the update that cannot be decoded, if it can be read. */
    readonly offset?: Offset,
  ) {
    super(
      [
        errorMessage('The response cannot be decoded.', { Offset: offset, Path: path }),
        ...problems.map(formatProblem),
      ].join('\n'),
    );
  }
}

/**
 * Whether a value is a {@link DecodeError}.
 *
 * @category Errors
 */
export const isDecodeError = (u: unknown): u is DecodeError => hasTag(u, 'DecodeError');

/**
 * The participant sent updates out of order, or a full page without progress. No update of that page was emitted.
 *
 * @category Errors
 */
export class OrderError extends Error {
  /** The class's name. */
  override readonly name = 'OrderError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'OrderError' as const;

  constructor(
    /** The offset that is out of order. */
    readonly offset: Offset,
    /** The offset before it. */
    readonly previous: Offset,
  ) {
    super(errorMessage('The updates are out of order.', { Offset: offset, After: previous }));
  }
}

/**
 * Whether a value is an {@link OrderError}.
 *
 * @category Errors
 */
export const isOrderError = (u: unknown): u is OrderError => hasTag(u, 'OrderError');

/**
 * A page of one update is too large for the participant, or for the ledger's `maxAnswerBytes`.
 *
 * @category Errors
 */
export class PageLimitError extends Error {
  /** The class's name. */
  override readonly name = 'PageLimitError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'PageLimitError' as const;

  constructor(
    /** The cursor of the feed. */
    readonly cursor: Offset,
  ) {
    super(errorMessage('A page of one update is too large.', { Cursor: cursor }));
  }
}

/**
 * Whether a value is a {@link PageLimitError}.
 *
 * @category Errors
 */
export const isPageLimitError = (u: unknown): u is PageLimitError => hasTag(u, 'PageLimitError');

/**
 * The participant has more active contracts than it lists at once, serves no pages of them, and is pruned, so that they cannot
 * be derived from its updates either. Before 3.5.1, only a WebSocket serves a snapshot of more than 200 contracts.
 *
 * @category Errors
 */
export class SnapshotLimitError extends Error {
  /** The class's name. */
  override readonly name = 'SnapshotLimitError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'SnapshotLimitError' as const;

  constructor(
    /** The number of contracts that the participant listed. There are more. */
    readonly limit: number,
    /** The offset of the snapshot. */
    readonly activeAtOffset: Offset,
  ) {
    super(
      errorMessage(
        'The participant does not list all active contracts. Use the WebSockets of canton-rx/ws, more specific types or fewer parties.',
        { 'More than': limit, Offset: activeAtOffset },
      ),
    );
  }
}

/**
 * Whether a value is a {@link SnapshotLimitError}.
 *
 * @category Errors
 */
export const isSnapshotLimitError = (u: unknown): u is SnapshotLimitError => hasTag(u, 'SnapshotLimitError');

/**
 * The participant has pruned updates that the feed has not read. A feed that resumes from `earliestOffset` omits them. The
 * caller decides whether that is acceptable.
 *
 * @category Errors
 */
export class PrunedError extends Error {
  /** The class's name. */
  override readonly name = 'PrunedError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'PrunedError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The smallest valid `beginExclusive`, if the participant reports it. */
    readonly earliestOffset?: Offset,
  ) {
    super(errorMessage('The ledger is pruned beyond the cursor.', { 'Earliest offset': earliestOffset, Path: path }));
  }
}

/**
 * Whether a value is a {@link PrunedError}.
 *
 * @category Errors
 */
export const isPrunedError = (u: unknown): u is PrunedError => hasTag(u, 'PrunedError');

/**
 * The cursor is beyond the ledger end and stays there: the participant was restored from an older backup, or is a different
 * one. Its offsets now belong to other updates.
 *
 * @category Errors
 */
export class LedgerResetError extends Error {
  /** The class's name. */
  override readonly name = 'LedgerResetError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'LedgerResetError' as const;
  /** How many times and for how long the request was retried; absent if it was not. */
  declare readonly retried?: Retried;

  constructor(
    /** The cursor of the feed. */
    readonly cursor: Offset,
    /** The ledger end, if it is known. */
    readonly ledgerEnd?: Offset,
  ) {
    super(errorMessage('The cursor is beyond the ledger end.', { Cursor: cursor, 'Ledger end': ledgerEnd }));
  }
}

/**
 * Whether a value is a {@link LedgerResetError}.
 *
 * @category Errors
 */
export const isLedgerResetError = (u: unknown): u is LedgerResetError => hasTag(u, 'LedgerResetError');
