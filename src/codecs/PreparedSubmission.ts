import type * as t from 'io-ts';
import { optional, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Base64, HashingSchemeVersion, Int64, Timestamp } from './scalars.js';

/** What a submission is expected to cost, in bytes of traffic. */
export interface CostEstimation {
  /** When it was estimated. */
  readonly estimationTimestamp: Timestamp;
  /** For the request. */
  readonly confirmationRequestTrafficCostEstimation: Int64;
  /** For the responses. */
  readonly confirmationResponseTrafficCostEstimation: Int64;
  /** Both. */
  readonly totalTrafficCostEstimation: Int64;
}

/** A submission that waits for signatures. */
export interface PreparedSubmission {
  /** The transaction; goes into the execution unchanged. */
  readonly preparedTransaction: Base64;
  /** The hash to sign: the bytes behind the base64. A careful signer computes it anew from `preparedTransaction`. */
  readonly preparedTransactionHash: Base64;
  /** Goes into the execution unchanged. */
  readonly hashingSchemeVersion: HashingSchemeVersion;
  /** How the hash was built, where `verboseHashing` was asked for. */
  readonly hashingDetails?: string;
  /** Since 3.4. */
  readonly costEstimation?: CostEstimation;
}

const CostEstimation = message<CostEstimation>('CostEstimation', {
  estimationTimestamp: Timestamp,
  confirmationRequestTrafficCostEstimation: Int64,
  confirmationResponseTrafficCostEstimation: Int64,
  totalTrafficCostEstimation: Int64,
});

/** Codec of `PreparedSubmission`. */
export const PreparedSubmission: t.Type<PreparedSubmission, unknown> = message<PreparedSubmission>(
  'PreparedSubmission',
  {
    preparedTransaction: Base64,
    preparedTransactionHash: Base64,
    hashingSchemeVersion: HashingSchemeVersion,
    hashingDetails: optional(text),
    costEstimation: optional(CostEstimation),
  },
);
