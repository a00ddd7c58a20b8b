import type * as t from 'io-ts';
import { Command } from './Command.js';
import { adapt, isRecord } from './internal/Codec.js';
import {
  flag,
  integer,
  json,
  list,
  nonEmpty,
  nullable,
  optional,
  repeated,
  text,
  withDefault,
} from './internal/field.js';
import { exact, message } from './internal/message.js';
import { Duration, MinLedgerTime } from './MinLedgerTime.js';
import {
  Base64,
  HashingSchemeVersion,
  Int64,
  LedgerString,
  type Opt,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from './scalars.js';
import { DeduplicationPeriod } from './ExecuteRequest.js';
import { TransactionFormat } from './UpdateFormat.js';

/**
 * A contract that the participant may not know, disclosed to it for one submission. It may come from a registry or another
 * party as it is: fields that the ledger does not have, such as `debugPayload`, are not sent.
 *
 * @category Submission
 */
export interface DisclosedContract {
  /** The contract's template. Default: that of the blob. 3.3 requires it. */
  readonly templateId?: Opt<TemplateId>;
  /** The id of the contract. Default: empty, that of the blob. 3.3 requires it. */
  readonly contractId?: Opt<string>;
  /** The `createdEventBlob` of its created event, in base64. An event has it if the request sets `includeCreatedEventBlob`. */
  readonly createdEventBlob: string;
  /** The synchronizer of the contract. Default: empty, which means unknown. */
  readonly synchronizerId?: Opt<string>;
}

/**
 * Codec of `DisclosedContract`.
 *
 * @category Submission
 */
export const DisclosedContract: t.Type<DisclosedContract, unknown> = adapt(
  exact<DisclosedContract>('DisclosedContract', {
    templateId: nullable(TemplateId),
    contractId: withDefault(text, ''),
    createdEventBlob: nonEmpty,
    synchronizerId: withDefault(text, ''),
  }),
  (u) => (isRecord(u) ? Object.fromEntries(Object.entries(u).filter(([key]) => !isForeign(key))) : u),
);

const disclosedFields: readonly string[] = ['templateId', 'contractId', 'createdEventBlob', 'synchronizerId'];

/** Whether a field is not the ledger's. One that differs only in case or `_`, such as `contractID`, is a mistake instead. */
function isForeign(key: string): boolean {
  const plain = (name: string): string => name.replaceAll('_', '').toLowerCase();
  return !disclosedFields.some((field) => field === key || plain(field) === plain(key));
}

/**
 * A contract key that the submission will look up. Prefetching it saves time.
 *
 * @inline
 */
interface PrefetchContractKey {
  /** The template that defines the key. */
  readonly templateId: TemplateId;
  /** The key as Daml JSON. */
  readonly contractKey: unknown;
  /** The maximum number of contracts to prefetch. Default: 1. Since 3.5; earlier releases ignore it. */
  readonly limit?: Opt<Int64>;
}

/** Codec of `PrefetchContractKey`. */
const PrefetchContractKey: t.Type<PrefetchContractKey, unknown> = exact<PrefetchContractKey>('PrefetchContractKey', {
  templateId: TemplateId,
  contractKey: json,
  limit: nullable(integer('Limit', 1, 2 ** 31 - 1, 'a whole number from 1 to 2^31 - 1')),
});

/**
 * Options for the cost estimation of `prepare`. Since 3.4.
 *
 * @inline
 */
interface TrafficEstimation {
  /** Whether to omit the estimation. Default: false. */
  readonly disabled?: Opt<boolean>;
  /** The algorithms of the expected signatures: `SIGNING_ALGORITHM_SPEC_…`. Default: those of the party's keys. */
  readonly expectedSignatures?: Opt<readonly string[]>;
}

/** Codec of `TrafficEstimation`. */
const TrafficEstimation: t.Type<TrafficEstimation, unknown> = exact<TrafficEstimation>('TrafficEstimation', {
  disabled: withDefault(flag, false),
  expectedSignatures: withDefault(repeated(text), []),
});

/**
 * The fields that all submissions of commands have.
 *
 * @inline
 */
interface SubmissionFields {
  /** The commands, at least one. They are one atomic transaction. The ledger currently prepares only one. */
  readonly commands: readonly Command[];
  /** Other parties whose contracts the commands may read. Default: none. */
  readonly readAs?: Opt<readonly Party[]>;
  /** Contracts that the participant may not know. Default: none. */
  readonly disclosedContracts?: Opt<readonly DisclosedContract[]>;
  /** The ids of the packages to prefer if several packages share a name. Default: none. */
  readonly packageIdSelectionPreference?: Opt<readonly string[]>;
  /** Contract keys to prefetch. Default: none. Since 3.4; earlier releases ignore it. */
  readonly prefetchContractKeys?: Opt<readonly PrefetchContractKey[]>;
  /** The maximum number of attempts of the participant to select packages. Default: the participant's setting. Since 3.4. */
  readonly tapsMaxPasses?: Opt<Int64>;
}

/**
 * A submission to prepare for signing, in wire format.
 *
 * @category Submission
 */
export interface PrepareRequest extends SubmissionFields {
  /** Identifies the change for the ledger's deduplication, together with `userId` and `actAs`. */
  readonly commandId: LedgerString;
  /** The parties that authorize the submission. The ledger currently supports one. */
  readonly actAs: readonly Party[];
  /** The user. Default: empty, the user of the token. */
  readonly userId?: Opt<UserId>;
  /** The earliest ledger time. Default: none. */
  readonly minLedgerTime?: Opt<MinLedgerTime>;
  /** The synchronizer to submit to. Default: empty, the participant chooses. */
  readonly synchronizerId?: Opt<string>;
  /** Whether the response explains how the hash was computed. Default: false. */
  readonly verboseHashing?: Opt<boolean>;
  /** The latest record time. After it, the ledger can no longer commit the submission. Default: none. */
  readonly maxRecordTime?: Opt<Timestamp>;
  /** Options for the cost estimation. Default: the participant estimates the cost. Since 3.4. */
  readonly estimateTrafficCost?: Opt<TrafficEstimation>;
  /** The hashing scheme. Default: the participant's, which is V2. Since 3.5. */
  readonly hashingSchemeVersion?: Opt<HashingSchemeVersion>;
}

/** The fields that all submissions of commands have. */
const submissionFields = {
  commands: list(Command, 1, Infinity, 'at least one command'),
  readAs: withDefault(list(Party), []),
  disclosedContracts: withDefault(list(DisclosedContract), []),
  packageIdSelectionPreference: withDefault(list(text), []),
  prefetchContractKeys: withDefault(list(PrefetchContractKey), []),
  tapsMaxPasses: nullable(Int64),
};

/**
 * Codec of `PrepareRequest`.
 *
 * @category Submission
 */
export const PrepareRequest: t.Type<PrepareRequest, unknown> = exact<PrepareRequest>('PrepareRequest', {
  ...submissionFields,
  commandId: LedgerString,
  actAs: list(Party, 1, Infinity, 'at least one party'),
  userId: withDefault(UserId, ''),
  minLedgerTime: nullable(MinLedgerTime),
  synchronizerId: withDefault(text, ''),
  verboseHashing: withDefault(flag, false),
  maxRecordTime: nullable(Timestamp),
  estimateTrafficCost: nullable(TrafficEstimation),
  hashingSchemeVersion: nullable(HashingSchemeVersion),
});

/**
 * The estimated cost of a submission, in bytes of traffic.
 *
 * @category Submission
 */
export interface CostEstimate {
  /** When the participant made the estimation. */
  readonly estimationTimestamp: Timestamp;
  /** The cost of the confirmation request. */
  readonly confirmationRequestTrafficCostEstimation: Int64;
  /** The cost of the confirmation responses. */
  readonly confirmationResponseTrafficCostEstimation: Int64;
  /** The sum of both. */
  readonly totalTrafficCostEstimation: Int64;
}

/**
 * A submission that the participant has prepared for signing.
 *
 * @category Submission
 */
export interface PreparedSubmission {
  /** The transaction. Pass it to the execute request unchanged. */
  readonly preparedTransaction: Base64;
  /** The hash to sign. Sign the decoded bytes. To be safe, recompute the hash from `preparedTransaction` first. */
  readonly preparedTransactionHash: Base64;
  /** The hashing scheme. Pass it to the execute request unchanged. */
  readonly hashingSchemeVersion: HashingSchemeVersion;
  /** The steps by which the hash was computed; present if the request sets `verboseHashing`. */
  readonly hashingDetails?: string;
  /** The estimated cost. Since 3.4. */
  readonly costEstimation?: CostEstimate;
}

const CostEstimate = message<CostEstimate>('CostEstimate', {
  estimationTimestamp: Timestamp,
  confirmationRequestTrafficCostEstimation: Int64,
  confirmationResponseTrafficCostEstimation: Int64,
  totalTrafficCostEstimation: Int64,
});

/**
 * Codec of `PreparedSubmission`.
 *
 * @category Submission
 */
export const PreparedSubmission: t.Type<PreparedSubmission, unknown> = message<PreparedSubmission>(
  'PreparedSubmission',
  {
    preparedTransaction: Base64,
    preparedTransactionHash: Base64,
    hashingSchemeVersion: HashingSchemeVersion,
    hashingDetails: optional(text),
    costEstimation: optional(CostEstimate),
  },
);

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
   * The period in which the participant searches for the same change. The client extends it to the ledger end before the first
   * attempt, so that no attempt is committed twice. Default: since that ledger end. `Empty`, and a duration together with
   * the option `since`, have the same meaning. The participant's own default can be too short to cover a lost response.
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
