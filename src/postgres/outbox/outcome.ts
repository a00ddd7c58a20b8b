import { asyncScheduler } from 'rxjs';
import type { Offset } from '../../codecs/scalars.js';
import type { LedgerPosition } from '../../codecs/LedgerPosition.js';
import type { CommandsRequest } from '../../codecs/SubmissionRequest.js';
import type { SubmittedTransaction } from '../../codecs/Transaction.js';
import type { DiagnosticBody } from '../../diagnostics/Diagnostic.js';
import { verdictOf } from '../../dispatch/verdict.js';
import { LedgerResetError } from '../../errors/feed.js';
import { isLedgerError } from '../../errors/LedgerError.js';
import { textOf } from '../../errors/textOf.js';
import { toStorableText } from '../projection/tables.js';
import { periodStart } from './lookBack.js';
import type { OutboxRow, RowChange } from './OutboxRows.js';

/**
 * The command of a {@link Submitted}.
 *
 * @inline
 */
interface OutboxCommand {
  /** The number of the command in the outbox. */
  readonly id: number;
  /** The command id. */
  readonly commandId: string;
  /** The key, if the command has one. */
  readonly key?: string;
}

/**
 * What happened to a command of an outbox. It is recorded before it is emitted.
 *
 * - `Committed`: the ledger has committed it. `isRepeated` if an earlier attempt or process had done so.
 * - `Rejected`: it was not committed, or not decided. It is sent again at `retryAt`, or parked.
 * - `Unknown`: it may have been committed. It is looked for again at `retryAt`, or parked, because the participant has pruned
 *   the time of the attempt, or is another one.
 * - `Dropped`: the function that decides it found nothing to do. It was not committed, and will not be.
 *
 * @category Outbox
 */
export type Submitted =
  | (OutboxCommand & {
      /** The discriminant. */
      readonly _tag: 'Committed';
      /** The offset of the transaction. */
      readonly offset: Offset;
      /** The transaction; absent if it can no longer be read. */
      readonly transaction?: SubmittedTransaction;
      /** Whether an earlier attempt or process had committed it. */
      readonly isRepeated: boolean;
    })
  | (OutboxCommand & {
      /** The discriminant. */
      readonly _tag: 'Dropped';
    })
  | (OutboxCommand & {
      /** The discriminant. */
      readonly _tag: 'Rejected' | 'Unknown';
      /** An error of the submission, or a `LedgerResetError` if the participant is another one. */
      readonly error: unknown;
      /** When it is sent or looked for again, in milliseconds since the epoch; absent if it is parked. */
      readonly retryAt?: number;
    });

/** What an attempt to decide or to send a command means. */
export interface Outcome extends Omit<RowChange, 'delayMs'> {
  /** Absent if the transaction is not known. */
  readonly transaction?: SubmittedTransaction;
  readonly cause?: unknown;
}

/** The ledger committed the command. */
export const commitOf = (transaction: SubmittedTransaction): Outcome => {
  const { updateId, offset } = transaction;
  return { state: 'committed', mayBeCommitted: false, updateId, offset, transaction };
};

/**
 * Returns what an error means. Only a command that is known not to be committed is sent again as if for the first time.
 *
 * @param row - the command, as it was before the attempt
 */
export function failureOf(error: unknown, row: OutboxRow<CommandsRequest>): Outcome {
  const failed = { cause: error, error: storedText(error) };
  const verdict = verdictOf(error);
  switch (verdict.kind) {
    case 'committed':
      return { state: 'committed', mayBeCommitted: false, offset: verdict.offset };
    case 'unknown': {
      // time does not bring back what is pruned
      const state = verdict.isReset || verdict.prunedTo !== undefined ? 'parked' : 'pending';
      const reason = verdict.isReset ? 'replaced' : 'unknown';
      return { ...failed, state, mayBeCommitted: true, reason, sentAfter: sentAfter(error, row) };
    }
    case 'refused': {
      const { reason, concernsAll } = verdict;
      // the caller's own start is kept, whatever is pruned
      const forgetsSince = verdict.earliest !== undefined && periodStart(row) === row.since;
      // other contracts may be chosen next time
      const isDecidedAgain = row.decide !== undefined && reason === 'inactiveContract';
      const isLimited = isDecidedAgain || verdict.mayBePermanent;
      const isOver = isLimited && row.refusals >= maxRefusals;
      const passes = forgetsSince || ((isDecidedAgain || verdict.passes) && !isOver);
      const state = passes ? 'pending' : 'parked';
      return { ...failed, state, mayBeCommitted: false, reason, concernsAll, isLimited, forgetsSince };
    }
    case 'other':
      if (isLedgerError(error, 'InvalidRequestError'))
        return { ...failed, state: 'parked', mayBeCommitted: row.mayBeCommitted, reason: 'invalid' };
      // the program's own code failed, at a moment that is not known
      return { ...failed, state: 'pending', mayBeCommitted: true, reason: 'unknown' };
  }
}

/**
 * How often a command is sent or decided again after a refusal that looks as if it passed, and may be permanent: for about a
 * quarter of an hour. A function that always chooses archived contracts must not hold up the later commands of its key indefinitely.
 */
const maxRefusals = 20;

/** Where the first attempt of a command was sent, if that is known now. */
const sentAfter = (error: unknown, { mayBeCommitted }: OutboxRow): LedgerPosition | undefined => {
  if (mayBeCommitted || !isLedgerError(error, 'OutcomeUnknownError')) return undefined;
  return error.submission.position;
};

/** Returns the outcome of a command that may have been sent to another ledger than the present one; `undefined` for others. */
export function replacementOf(
  { mayBeCommitted, participant, since }: OutboxRow,
  { participantId }: LedgerPosition,
): Outcome | undefined {
  if (!mayBeCommitted || participant === undefined || participantId === undefined) return undefined;
  if (participant === participantId) return undefined;
  const cause = new LedgerResetError(since, undefined, `the participant is ${participantId}, not ${participant}`);
  return { state: 'parked', mayBeCommitted: true, reason: 'replaced', cause, error: storedText(cause) };
}

/** Returns what to emit after an outcome has been recorded. */
export function toSubmitted(row: OutboxRow, outcome: Outcome, delay: false | { readonly delayMs: number }): Submitted {
  const { id, commandId, key } = row;
  const command = { id, commandId, ...(key !== undefined && { key }) };
  const { state, mayBeCommitted, cause, transaction, offset = 0 } = outcome;
  if (state === 'committed') {
    const isRepeated = transaction === undefined || transaction.isRepeated === true;
    return { _tag: 'Committed', ...command, offset, ...(transaction && { transaction }), isRepeated };
  }
  if (state === 'dropped') return { _tag: 'Dropped', ...command };
  const retryAt = delay && { retryAt: asyncScheduler.now() + delay.delayMs };
  return { _tag: mayBeCommitted ? 'Unknown' : 'Rejected', ...command, error: cause, ...retryAt };
}

/**
 * The beginning of the text of an error, as it is stored. The text of any function or server may have characters that PostgreSQL
 * refuses, and the outcome must be recorded nevertheless.
 */
export const storedText = (error: unknown): string => toStorableText(textOf(error).slice(0, 2_000));

/** Returns the diagnostic of an outcome that has been recorded. */
export function toDiagnostic(outbox: string, submitted: Submitted): DiagnosticBody {
  const { id, commandId } = submitted;
  const command = { outbox, id, commandId };
  switch (submitted._tag) {
    case 'Committed':
      return { _tag: 'CommandCommitted', ...command, offset: submitted.offset, isRepeated: submitted.isRepeated };
    case 'Dropped':
      return { _tag: 'CommandDropped', ...command };
    default: {
      const { error: cause, retryAt } = submitted;
      return retryAt === undefined
        ? { _tag: 'CommandParked', ...command, cause }
        : { _tag: 'CommandFailed', ...command, cause, retryAt };
    }
  }
}
