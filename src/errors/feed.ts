import { formatProblem, type Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { errorMessage, hasTag } from './internal/message.js';
import type { Retried } from './verdict.js';

/** An answer of the service cannot be decoded. The error says where and what was expected, and never contains the value. */
export class DecodeError extends Error {
  /** The class's name. */
  override readonly name = 'DecodeError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'DecodeError' as const;

  constructor(
    /** The path of the request; for the payload of a contract its template. */
    readonly path: string,
    /** The problems, at most about a hundred per list. */
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

/** Whether a value is a {@link DecodeError}. */
export const isDecodeError = (u: unknown): u is DecodeError => hasTag(u, 'DecodeError');

/** The service sent updates out of order, or a full page without progress. Nothing of that page was emitted. */
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

/** Whether a value is an {@link OrderError}. */
export const isOrderError = (u: unknown): u is OrderError => hasTag(u, 'OrderError');

/** A page of one update is too large: for the service, or for the ledger's `maxAnswerBytes`. */
export class PageLimitError extends Error {
  /** The class's name. */
  override readonly name = 'PageLimitError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'PageLimitError' as const;

  constructor(
    /** The position of the feed. */
    readonly cursor: Offset,
  ) {
    super(errorMessage('A page of one update is too large.', { Cursor: cursor }));
  }
}

/** Whether a value is a {@link PageLimitError}. */
export const isPageLimitError = (u: unknown): u is PageLimitError => hasTag(u, 'PageLimitError');

/**
 * There are more active contracts than the service lists at once, it serves no pages of them, and it is pruned, so that its
 * updates do not tell them either. Before 3.5.1 only a WebSocket brings a snapshot of more than 200 contracts.
 */
export class SnapshotLimitError extends Error {
  /** The class's name. */
  override readonly name = 'SnapshotLimitError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'SnapshotLimitError' as const;

  constructor(
    /** The number of contracts that the service has listed. There are more. */
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

/** Whether a value is a {@link SnapshotLimitError}. */
export const isSnapshotLimitError = (u: unknown): u is SnapshotLimitError => hasTag(u, 'SnapshotLimitError');

/**
 * The participant has pruned updates that the feed has not read. A feed that resumes from `earliestOffset` omits them; the
 * caller decides whether that is acceptable.
 */
export class PrunedError extends Error {
  /** The class's name. */
  override readonly name = 'PrunedError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'PrunedError' as const;

  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The smallest valid `beginExclusive`, if the ledger reports it. */
    readonly earliestOffset?: Offset,
  ) {
    super(errorMessage('The ledger is pruned beyond the cursor.', { 'Earliest offset': earliestOffset, Path: path }));
  }
}

/** Whether a value is a {@link PrunedError}. */
export const isPrunedError = (u: unknown): u is PrunedError => hasTag(u, 'PrunedError');

/**
 * The cursor is beyond the end of the ledger and stays there: the participant was restored from an older backup, or is a
 * different one. Its offsets now belong to other updates.
 */
export class LedgerResetError extends Error {
  /** The class's name. */
  override readonly name = 'LedgerResetError' as const;
  /** Identifies the error in the union. */
  readonly _tag = 'LedgerResetError' as const;
  /** How many times and for how long the request was retried; absent if it was not. */
  declare readonly retried?: Retried;

  constructor(
    /** The position of the feed. */
    readonly cursor: Offset,
    /** The ledger end, if it is known. */
    readonly ledgerEnd?: Offset,
  ) {
    super(errorMessage('The cursor is beyond the ledger end.', { Cursor: cursor, 'Ledger end': ledgerEnd }));
  }
}

/** Whether a value is a {@link LedgerResetError}. */
export const isLedgerResetError = (u: unknown): u is LedgerResetError => hasTag(u, 'LedgerResetError');
