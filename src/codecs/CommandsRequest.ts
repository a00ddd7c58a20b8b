import type * as t from 'io-ts';
import { DeduplicationPeriod } from './ExecuteRequest.js';
import { list, nullable, text } from './internal/field.js';
import { exact } from './internal/message.js';
import { Duration } from './MinLedgerTime.js';
import { type SubmissionFields, submissionFields } from './PrepareRequest.js';
import { LedgerString, type Opt, Party, Timestamp, UserId } from './scalars.js';
import { TransactionFormat } from './UpdateFormat.js';

/**
 * Commands of parties that the participant hosts, for `submitAndWaitForTransaction`. The commands are one atomic
 * transaction. The fields are those of the wire, which nests all but `transactionFormat` in `commands`.
 *
 * @category Submission
 */
export interface CommandsRequest extends SubmissionFields {
  /** The parties that authorize the transaction, at least one. Their order has no meaning. */
  readonly actAs: readonly [Party, ...Party[]];
  /**
   * Identifies the change, together with `userId` and `actAs`: the participant commits it once. Choose an id that
   * follows from the reason of the change, such as the id of an order. Default: a random UUID for each subscription.
   */
  readonly commandId?: Opt<LedgerString>;
  /** The user. Default: the user of the token. A participant without authentication requires it. */
  readonly userId?: Opt<UserId>;
  /** Groups transactions. All parties that see the transaction see it. Default: none. */
  readonly workflowId?: Opt<LedgerString>;
  /**
   * How far back the participant searches for the same change. The client extends it to the ledger end before the first
   * attempt, so that no attempt is committed twice. Default: since that ledger end. `Empty`, and a duration together with
   * the option `since`, have the same meaning. The participant's own default can be shorter than a lost response takes.
   */
  readonly deduplicationPeriod?: Opt<DeduplicationPeriod>;
  /** The earliest ledger time. The participant waits for it. Not together with `minLedgerTimeRel`. Default: none. */
  readonly minLedgerTimeAbs?: Opt<Timestamp>;
  /** The earliest ledger time, from when the participant receives the commands. Default: none. */
  readonly minLedgerTimeRel?: Opt<Duration>;
  /** The synchronizer to submit to. Default: the participant chooses. */
  readonly synchronizerId?: Opt<string>;
  /** The events in the transaction. Default: the changes of active contracts that a party of `actAs` or `readAs` sees. */
  readonly transactionFormat?: Opt<TransactionFormat>;
}

/**
 * Codec of `CommandsRequest`.
 *
 * @category Submission
 */
export const CommandsRequest: t.Type<CommandsRequest, unknown> = exact<CommandsRequest>('CommandsRequest', {
  ...submissionFields,
  actAs: list(Party, 1, Infinity, 'at least one party') as unknown as t.Type<CommandsRequest['actAs'], unknown>,
  commandId: nullable(LedgerString),
  userId: nullable(UserId),
  workflowId: nullable(LedgerString),
  deduplicationPeriod: nullable(DeduplicationPeriod),
  minLedgerTimeAbs: nullable(Timestamp),
  minLedgerTimeRel: nullable(Duration),
  synchronizerId: nullable(text),
  transactionFormat: nullable(TransactionFormat),
});
