import type * as t from 'io-ts';
import { Command } from './Command.js';
import { DisclosedContract } from './DisclosedContract.js';
import { HashingSchemeVersion } from './HashingSchemeVersion.js';
import { Int64 } from './Int64.js';
import { exact } from './internal/exact.js';
import { flag } from './internal/flag.js';
import { list } from './internal/list.js';
import { nullable } from './internal/nullable.js';
import { text } from './internal/text.js';
import { withDefault } from './internal/withDefault.js';
import { LedgerString } from './LedgerString.js';
import { MinLedgerTime } from './MinLedgerTime.js';
import type { Opt } from './Opt.js';
import { Party } from './Party.js';
import { PrefetchContractKey } from './PrefetchContractKey.js';
import { Timestamp } from './Timestamp.js';
import { TrafficEstimation } from './TrafficEstimation.js';
import { UserId } from './UserId.js';

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
