import type * as t from 'io-ts';
import { Base64 } from './Base64.js';
import { DeduplicationPeriod } from './DeduplicationPeriod.js';
import { HashingSchemeVersion } from './HashingSchemeVersion.js';
import { exact } from './internal/exact.js';
import { nullable } from './internal/nullable.js';
import { withDefault } from './internal/withDefault.js';
import { LedgerString } from './LedgerString.js';
import { MinLedgerTime } from './MinLedgerTime.js';
import type { Opt } from './Opt.js';
import { PartySignatures } from './PartySignatures.js';
import { TransactionFormat } from './TransactionFormat.js';
import { UserId } from './UserId.js';

/** A prepared transaction with the signatures that authorize it, in the wire's own words. */
export interface ExecuteRequest {
  /** What `prepare` answered, unchanged. */
  readonly preparedTransaction: Base64;
  /** The signatures of the hash that `prepare` answered. */
  readonly partySignatures: PartySignatures;
  /** Distinguishes this try from others of the same change; a new one per try. Default: a random UUID. */
  readonly submissionId?: Opt<LedgerString>;
  /** What `prepare` answered. */
  readonly hashingSchemeVersion: HashingSchemeVersion;
  /** How far back the ledger looks for the same change. Default: `{ Empty: {} }`, as far as the participant allows. */
  readonly deduplicationPeriod?: Opt<DeduplicationPeriod>;
  /** As for `prepare`. Default: empty, the user whom the token names. */
  readonly userId?: Opt<UserId>;
  /** The earliest ledger time. Default: none. */
  readonly minLedgerTime?: Opt<MinLedgerTime>;
  /** What the answer shows. Default: changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: Opt<TransactionFormat>;
}

/** Codec of `ExecuteRequest`. */
export const ExecuteRequest: t.Type<ExecuteRequest, unknown> = exact<ExecuteRequest>('ExecuteRequest', {
  preparedTransaction: Base64,
  partySignatures: PartySignatures,
  submissionId: nullable(LedgerString),
  hashingSchemeVersion: HashingSchemeVersion,
  deduplicationPeriod: withDefault<DeduplicationPeriod>(DeduplicationPeriod, { Empty: {} }),
  userId: withDefault(UserId, ''),
  minLedgerTime: nullable(MinLedgerTime),
  transactionFormat: nullable(TransactionFormat),
});
