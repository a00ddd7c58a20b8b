import { formatProblem, type Problem } from '../codecs/Problem.js';
import type { Offset } from '../codecs/scalars.js';
import { printableProblems, quotable, type Retried, runbook, TaggedError } from './internal/message.js';

/**
 * A response cannot be decoded. The error says which field, and what was expected. It never contains the value.
 *
 * @category Errors
 */
export class DecodeError extends TaggedError<'DecodeError'> {
  /** The problems, at most 100. */
  readonly problems: readonly Problem[];
  /** The ID of the update that cannot be decoded, if it can be read. */
  readonly updateId?: string;

  constructor(
    /** The path of the request. For the payload of a contract, its template. */
    readonly path: string,
    problems: readonly Problem[],
    /** The offset of the update that cannot be decoded, if it can be read. */
    readonly offset?: Offset,
    id?: string,
  ) {
    // any other text in its place may be a payload
    const updateId = id !== undefined && /^[\da-f]+$/i.test(id) ? id : undefined;
    const details = {
      ...{ Offset: offset, Update: updateId, Path: path },
      Next: 'update canton-rx, or the codec if the path is a template; then read again',
      Runbook: runbook('decodeerror'),
    };
    super('DecodeError', 'The response cannot be decoded.', details, { lines: problems.map(formatProblem) });
    this.problems = printableProblems(problems);
    if (updateId !== undefined) this.updateId = updateId;
  }

  override get summary(): string {
    return 'This app cannot read the data of the ledger.';
  }
}

/**
 * The participant sent updates out of order, or a full page without progress. No update of that page was emitted.
 *
 * @category Errors
 */
export class OrderError extends TaggedError<'OrderError'> {
  constructor(
    /** The offset that is out of order. */
    readonly offset: Offset,
    /** The offset before it. */
    readonly previous: Offset,
  ) {
    super('OrderError', 'The updates are out of order.', { Offset: offset, After: previous });
  }

  override get summary(): string {
    return 'The data of the ledger is not in order.';
  }
}

/**
 * A page of one update is too large for the participant, or for the ledger's `maxResponseBytes`.
 *
 * @category Errors
 */
export class PageLimitError extends TaggedError<'PageLimitError'> {
  constructor(
    /** The cursor of the feed. */
    readonly cursor: Offset,
  ) {
    super('PageLimitError', 'A page of one update is too large.', {
      Cursor: cursor,
      Next: 'raise maxResponseBytes of the ledger, or the limits of the participant and its proxies; or request less of each update, for example without includeCreatedEventBlob; or pass this update with a new cursor after it',
      Runbook: runbook('pagelimiterror'),
    });
  }

  override get summary(): string {
    return 'The ledger sent more data than this app accepts.';
  }
}

/**
 * The participant has more active contracts than it lists in one response, and serves no pages of them. Before 3.5.1, only a WebSocket
 * serves a snapshot of more than 200 contracts: use the transport of `canton-rx/ws`, more specific types or fewer parties.
 *
 * @category Errors
 */
export class SnapshotLimitError extends TaggedError<'SnapshotLimitError'> {
  constructor(
    /** The number of contracts that the participant listed. There are more. */
    readonly limit: number,
    /** The offset of the snapshot. */
    readonly activeAtOffset: Offset,
  ) {
    super(
      'SnapshotLimitError',
      'The participant does not list all active contracts. Use the WebSockets of canton-rx/ws, more specific types or fewer parties.',
      { 'More than': limit, Offset: activeAtOffset },
    );
  }

  override get summary(): string {
    return 'The ledger has more contracts than it can list.';
  }
}

/**
 * The participant has pruned updates that the feed has not read. A feed that resumes from `earliestOffset` omits them. The
 * caller decides whether that is acceptable.
 *
 * @category Errors
 */
export class PrunedError extends TaggedError<'PrunedError'> {
  constructor(
    /** The path of the request. */
    readonly path: string,
    /** The smallest valid `beginExclusive`, if the participant reports it. */
    readonly earliestOffset?: Offset,
  ) {
    super('PrunedError', 'The ledger is pruned beyond the cursor.', {
      'Earliest offset': earliestOffset,
      Path: path,
      Next: 'the updates up to the earliest offset are lost here: resume after it with onGap, or begin again with the active contracts',
      Runbook: runbook('prunederror'),
    });
  }

  override get summary(): string {
    return 'The ledger has deleted the history that this app needs.';
  }
}

const beginAgain = 'begin again with the active contracts, or at offset 0';
const otherParticipantNext = `correct the address; or if both have the same history, continue there with onOtherNode: 'relocate'; or ${beginAgain}`;

/**
 * The ledger is no longer the one to which the cursor belongs, so its offsets belong to other updates. Either it ends before
 * the cursor and stays there, as after a restore from an older backup. Or it is another ledger, as after a reset of the
 * network or a change of the address: the last update that the feed has read is gone, or the participant is another one.
 *
 * Nothing of the other ledger was emitted. To continue, read the active contracts and resume after their offset, or read the
 * ledger from its beginning.
 *
 * @category Errors
 */
export class LedgerResetError extends TaggedError<'LedgerResetError'> {
  /** The number and the duration of the retries; absent if there were none. */
  declare readonly retried?: Retried;
  /** Whether the ledger ends before the cursor, or is another one that may have grown past the cursor. */
  readonly reason: 'endBeforeCursor' | 'anotherLedger';
  /** The evidence that it is another ledger; absent if it ends before the cursor. */
  readonly difference?: string;

  constructor(
    /** The cursor of the feed. */
    readonly cursor: Offset,
    /** The ledger end, if it is known. */
    readonly ledgerEnd?: Offset,
    difference?: string,
  ) {
    const summary =
      difference === undefined
        ? 'The cursor is beyond the ledger end.'
        : `This is another ledger: ${quotable(difference, [])}.`;
    super('LedgerResetError', summary, {
      Cursor: cursor,
      'Ledger end': ledgerEnd,
      Next: difference?.startsWith('the participant is') === true ? otherParticipantNext : beginAgain,
      Runbook: runbook('ledgerreseterror'),
    });
    this.reason = difference === undefined ? 'endBeforeCursor' : 'anotherLedger';
    if (difference !== undefined) this.difference = quotable(difference, []);
  }

  override get summary(): string {
    return 'The ledger was replaced, so earlier data may be out of date.';
  }
}
