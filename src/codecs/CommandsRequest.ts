import type * as t from 'io-ts';
import { Command } from './Command.js';
import { DeduplicationPeriod } from './ExecuteRequest.js';
import { list, nullable, text, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { Duration } from './MinLedgerTime.js';
import { DisclosedContract, PrefetchContractKey } from './PrepareRequest.js';
import { Int64, LedgerString, type Opt, Party, Timestamp, UserId } from './scalars.js';
import { TransactionFormat } from './UpdateFormat.js';

/**
 * Commands of parties that the participant hosts, for `submitAndWaitForTransaction`. The commands are one atomic
 * transaction. The fields are those of the wire, which nests all but `transactionFormat` in `commands`.
 *
 * @category Submission
 */
export interface CommandsRequest {
  /** The commands, at least one. */
  readonly commands: readonly Command[];
  /** The parties that authorize the transaction, at least one. Their order has no meaning. */
  readonly actAs: readonly [Party, ...Party[]];
  /**
   * Identifies the change, together with `userId` and `actAs`: the participant commits it once. Choose an id that
   * follows from the reason of the change, such as the id of an order. Default: a random UUID for each subscription.
   */
  readonly commandId?: Opt<LedgerString>;
  /** The user. Default: the user of the token. A participant without authentication requires it. */
  readonly userId?: Opt<UserId>;
  /** Other parties whose contracts the commands may read. Default: none. */
  readonly readAs?: Opt<readonly Party[]>;
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
  /** Contracts that the participant may not know. Default: none. */
  readonly disclosedContracts?: Opt<readonly DisclosedContract[]>;
  /** The synchronizer to submit to. Default: the participant chooses. */
  readonly synchronizerId?: Opt<string>;
  /** The ids of the packages to prefer if several packages share a name. Default: none. */
  readonly packageIdSelectionPreference?: Opt<readonly string[]>;
  /** Contract keys to prefetch. Default: none. Since 3.4; earlier releases ignore it. */
  readonly prefetchContractKeys?: Opt<readonly PrefetchContractKey[]>;
  /** How often the participant may attempt to select packages. Default: the participant's setting. Since 3.4. */
  readonly tapsMaxPasses?: Opt<Int64>;
  /** The events in the transaction. Default: the changes of active contracts that a party of `actAs` or `readAs` sees. */
  readonly transactionFormat?: Opt<TransactionFormat>;
}

/**
 * Codec of `CommandsRequest`.
 *
 * @category Submission
 */
export const CommandsRequest: t.Type<CommandsRequest, unknown> = exact<CommandsRequest>('CommandsRequest', {
  commands: list(Command, 1, Infinity, 'at least one command'),
  actAs: list(Party, 1, Infinity, 'at least one party') as unknown as t.Type<CommandsRequest['actAs'], unknown>,
  commandId: nullable(LedgerString),
  userId: nullable(UserId),
  readAs: withDefault(list(Party), []),
  workflowId: nullable(LedgerString),
  deduplicationPeriod: nullable(DeduplicationPeriod),
  minLedgerTimeAbs: nullable(Timestamp),
  minLedgerTimeRel: nullable(Duration),
  disclosedContracts: withDefault(list(DisclosedContract), []),
  synchronizerId: nullable(text),
  packageIdSelectionPreference: withDefault(list(text), []),
  prefetchContractKeys: withDefault(list(PrefetchContractKey), []),
  tapsMaxPasses: nullable(Int64),
  transactionFormat: nullable(TransactionFormat),
});
