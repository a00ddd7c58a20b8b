import type * as t from 'io-ts';
import { Command } from './Command.js';
import { list, repeated } from './internal/collection.js';
import { flag, json, nullable, text, withDefault } from './internal/field.js';
import { exact } from './internal/message.js';
import { MinLedgerTime } from './MinLedgerTime.js';
import {
  HashingSchemeVersion,
  Int64,
  LedgerString,
  type Opt,
  Party,
  TemplateId,
  Timestamp,
  UserId,
} from './scalars.js';

/** A contract that the participant may not know, shown to it for one submission. */
export interface DisclosedContract {
  /** The contract's template. */
  readonly templateId?: Opt<TemplateId>;
  /** The contract. */
  readonly contractId: string;
  /** The `createdEventBlob` of its creation, base64. */
  readonly createdEventBlob: string;
  /** The synchronizer it is on. Default: empty, unknown. */
  readonly synchronizerId?: Opt<string>;
}

/** Codec of `DisclosedContract`. */
export const DisclosedContract: t.Type<DisclosedContract, unknown> = exact<DisclosedContract>('DisclosedContract', {
  templateId: nullable(TemplateId),
  contractId: text,
  createdEventBlob: text,
  synchronizerId: withDefault(text, ''),
});

/** A contract key that the submission will look up, fetched beforehand to save time. */
export interface PrefetchContractKey {
  /** The template that has the key. */
  readonly templateId: TemplateId;
  /** The key as Daml JSON. */
  readonly contractKey: unknown;
}

/** Codec of `PrefetchContractKey`. */
export const PrefetchContractKey: t.Type<PrefetchContractKey, unknown> = exact<PrefetchContractKey>(
  'PrefetchContractKey',
  { templateId: TemplateId, contractKey: json },
);

/** Whether and for which signatures `prepare` estimates the cost of the submission. Since 3.4. */
export interface TrafficEstimation {
  /** Whether to leave the estimation out. Default: false. */
  readonly disabled?: Opt<boolean>;
  /** The algorithms of the signatures to come, `SIGNING_ALGORITHM_SPEC_…`. Default: those of the party's keys. */
  readonly expectedSignatures?: Opt<readonly string[]>;
}

/** Codec of `TrafficEstimation`. */
export const TrafficEstimation: t.Type<TrafficEstimation, unknown> = exact<TrafficEstimation>('TrafficEstimation', {
  disabled: withDefault(flag, false),
  expectedSignatures: withDefault(repeated(text), []),
});

/** A submission to be prepared for signing, in the wire's own words. */
export interface PrepareRequest {
  /** With `userId` and `actAs` the identity of the change, by which the ledger deduplicates. */
  readonly commandId: LedgerString;
  /** What to do; the ledger supports one command so far. */
  readonly commands: readonly Command[];
  /** On whose authority; the ledger supports one party so far. */
  readonly actAs: readonly Party[];
  /** Who else's contracts may be read. Default: none. */
  readonly readAs?: Opt<readonly Party[]>;
  /** Default: empty, the user whom the token names. */
  readonly userId?: Opt<UserId>;
  /** The earliest ledger time. Default: none. */
  readonly minLedgerTime?: Opt<MinLedgerTime>;
  /** Contracts that the participant may not know. Default: none. */
  readonly disclosedContracts?: Opt<readonly DisclosedContract[]>;
  /** Where to submit. Default: empty, the participant chooses. */
  readonly synchronizerId?: Opt<string>;
  /** Packages to prefer where a name has several. Default: none. */
  readonly packageIdSelectionPreference?: Opt<readonly string[]>;
  /** Whether the answer tells how the hash was built. Default: false. */
  readonly verboseHashing?: Opt<boolean>;
  /** Contract keys to look up beforehand. Default: none. Since 3.4. */
  readonly prefetchContractKeys?: Opt<readonly PrefetchContractKey[]>;
  /** The latest record time: after it the submission can no longer be committed. Default: none. */
  readonly maxRecordTime?: Opt<Timestamp>;
  /** Whether the cost is estimated. Default: it is. Since 3.4. */
  readonly estimateTrafficCost?: Opt<TrafficEstimation>;
  /** How often the participant may try to choose packages. Default: its own. Since 3.4. */
  readonly tapsMaxPasses?: Opt<Int64>;
  /** How to build the hash. Default: the participant's, V2. Since 3.5. */
  readonly hashingSchemeVersion?: Opt<HashingSchemeVersion>;
}

/** Codec of `PrepareRequest`. */
export const PrepareRequest: t.Type<PrepareRequest, unknown> = exact<PrepareRequest>('PrepareRequest', {
  commandId: LedgerString,
  commands: list(Command, 1, Infinity, 'at least one command'),
  actAs: list(Party, 1, Infinity, 'at least one party'),
  readAs: withDefault(list(Party), []),
  userId: withDefault(UserId, ''),
  minLedgerTime: nullable(MinLedgerTime),
  disclosedContracts: withDefault(list(DisclosedContract), []),
  synchronizerId: withDefault(text, ''),
  packageIdSelectionPreference: withDefault(list(text), []),
  verboseHashing: withDefault(flag, false),
  prefetchContractKeys: withDefault(list(PrefetchContractKey), []),
  maxRecordTime: nullable(Timestamp),
  estimateTrafficCost: nullable(TrafficEstimation),
  tapsMaxPasses: nullable(Int64),
  hashingSchemeVersion: nullable(HashingSchemeVersion),
});
