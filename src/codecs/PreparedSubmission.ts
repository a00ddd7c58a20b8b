import type * as t from 'io-ts';
import { optional, text } from './internal/field.js';
import { message } from './internal/message.js';
import { Base64, HashingSchemeVersion, Int64, Timestamp } from './scalars.js';

/**
 * The estimated cost of a submission, in bytes of traffic.
 *
 * @inline
 */
interface CostEstimation {
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
  /** How the hash was computed; present if the request sets `verboseHashing`. */
  readonly hashingDetails?: string;
  /** The estimated cost. Since 3.4. */
  readonly costEstimation?: CostEstimation;
}

const CostEstimation = message<CostEstimation>('CostEstimation', {
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
    costEstimation: optional(CostEstimation),
  },
);
