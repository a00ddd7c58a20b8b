import type * as t from 'io-ts';
import { list, nullable, oneOfStrings, text, withDefault } from './internal/field.js';
import { exact, valueField } from './internal/message.js';
import { oneOfKeys } from './internal/variant.js';
import { Duration, Empty, MinLedgerTime } from './MinLedgerTime.js';
import { Base64, HashingSchemeVersion, LedgerString, Offset, type Opt, Party, UserId } from './scalars.js';
import { TransactionFormat } from './UpdateFormat.js';

/**
 * The period in which the ledger searches for another submission of the same change. A change is identified by its user, its
 * acting parties and its command id. `Empty` is the longest period that the participant allows, usually seven days.
 *
 * @category Submission
 */
export type DeduplicationPeriod =
  | {
      /** A duration before now. */
      readonly DeduplicationDuration: {
        /** The duration. */
        readonly value: Duration;
      };
    }
  | {
      /** After an offset. */
      readonly DeduplicationOffset: {
        /** The offset, exclusive. */
        readonly value: Offset;
      };
    }
  | {
      /** The longest period that the participant allows. */
      readonly Empty: Empty;
    };

/**
 * Codec of `DeduplicationPeriod`.
 *
 * @category Submission
 */
export const DeduplicationPeriod: t.Type<DeduplicationPeriod, unknown> = oneOfKeys<DeduplicationPeriod>(
  'DeduplicationPeriod',
  { DeduplicationDuration: valueField(Duration), DeduplicationOffset: valueField(Offset), Empty },
);

/**
 * The format of a signature: `CONCAT` for Ed25519, `DER` for ECDSA. `RAW` is the former name of `CONCAT`.
 *
 * @inline
 */
type SignatureFormat =
  | 'SIGNATURE_FORMAT_UNSPECIFIED'
  | 'SIGNATURE_FORMAT_RAW'
  | 'SIGNATURE_FORMAT_DER'
  | 'SIGNATURE_FORMAT_CONCAT'
  | 'SIGNATURE_FORMAT_SYMBOLIC';

/**
 * The algorithm of a signature. The ledger supports ML-DSA-65 since 3.6.
 *
 * @inline
 */
type SigningAlgorithmSpec =
  | 'SIGNING_ALGORITHM_SPEC_UNSPECIFIED'
  | 'SIGNING_ALGORITHM_SPEC_ED25519'
  | 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256'
  | 'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384'
  | 'SIGNING_ALGORITHM_SPEC_ML_DSA_65';

/**
 * A signature over the hash of a prepared transaction.
 *
 * @category Submission
 */
export interface Signature {
  /** The format of the bytes. */
  readonly format: SignatureFormat;
  /** The signature. */
  readonly signature: Base64;
  /** The fingerprint of the key: `1220` followed by 64 hex digits. */
  readonly signedBy: string;
  /** The algorithm. */
  readonly signingAlgorithmSpec: SigningAlgorithmSpec;
}

/**
 * Codec of `Signature`.
 *
 * @category Submission
 */
export const Signature: t.Type<Signature, unknown> = exact<Signature>('Signature', {
  format: oneOfStrings<SignatureFormat>(
    'SignatureFormat',
    'SIGNATURE_FORMAT_UNSPECIFIED',
    'SIGNATURE_FORMAT_RAW',
    'SIGNATURE_FORMAT_DER',
    'SIGNATURE_FORMAT_CONCAT',
    'SIGNATURE_FORMAT_SYMBOLIC',
  ),
  signature: Base64,
  signedBy: text,
  signingAlgorithmSpec: oneOfStrings<SigningAlgorithmSpec>(
    'SigningAlgorithmSpec',
    'SIGNING_ALGORITHM_SPEC_UNSPECIFIED',
    'SIGNING_ALGORITHM_SPEC_ED25519',
    'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_256',
    'SIGNING_ALGORITHM_SPEC_EC_DSA_SHA_384',
    'SIGNING_ALGORITHM_SPEC_ML_DSA_65',
  ),
});

/**
 * The signatures of one party.
 *
 * @inline
 */
interface SinglePartySignatures {
  /** The party. */
  readonly party: Party;
  /** One or more signatures, each with a different key of the party. */
  readonly signatures: readonly Signature[];
}

/**
 * The signatures that authorize a submission: those of exactly one party, with one or more of its keys.
 *
 * @inline
 */
export interface PartySignatures {
  /** One entry per party. The ledger currently supports one party. */
  readonly signatures: readonly SinglePartySignatures[];
}

const SinglePartySignatures = exact<SinglePartySignatures>('SinglePartySignatures', {
  party: Party,
  signatures: list(Signature, 1, Infinity, 'at least one signature'),
});

/** Codec of `PartySignatures`. */
export const PartySignatures: t.Type<PartySignatures, unknown> = exact<PartySignatures>('PartySignatures', {
  signatures: list(SinglePartySignatures, 1, 1, 'exactly one party'),
});

/**
 * A prepared transaction with the signatures that authorize it, in wire format.
 *
 * @category Submission
 */
export interface ExecuteRequest {
  /** The transaction from the response of `prepare`, unchanged. */
  readonly preparedTransaction: Base64;
  /** The signatures of the hash in the response of `prepare`. */
  readonly partySignatures: PartySignatures;
  /**
   * Identifies the first attempt; each attempt needs a new id. Default: a random UUID, which identifies its completion.
   * Another submission may have the id that you choose, so a completion with it proves nothing.
   */
  readonly submissionId?: Opt<LedgerString>;
  /** The hashing scheme from the response of `prepare`. */
  readonly hashingSchemeVersion: HashingSchemeVersion;
  /** The period in which the ledger searches for the same change. Default: `{ Empty: {} }`, the longest period. */
  readonly deduplicationPeriod?: Opt<DeduplicationPeriod>;
  /** The same user as for `prepare`. Default: empty, the user of the token. */
  readonly userId?: Opt<UserId>;
  /** The earliest ledger time. Default: none. */
  readonly minLedgerTime?: Opt<MinLedgerTime>;
  /** The events in the response. Default: the changes of active contracts that a submitting party sees. */
  readonly transactionFormat?: Opt<TransactionFormat>;
}

/**
 * Codec of `ExecuteRequest`.
 *
 * @category Submission
 */
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
