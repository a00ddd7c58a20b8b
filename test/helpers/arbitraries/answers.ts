import fc from 'fast-check';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type { LedgerEnd } from '../../../src/codecs/OffsetCheckpoint.js';
import type { CostEstimation, PreparedSubmission } from '../../../src/codecs/PreparedSubmission.js';
import { messageOf, presentJsonArbitrary } from './messages.js';
import { hashingSchemeVersionArbitrary } from './requests.js';
import { base64Arbitrary, int64Arbitrary, offsetArbitrary, timestampArbitrary } from './scalars.js';
import { synchronizerTimeArbitrary } from './updates.js';

export const ledgerEndArbitrary: fc.Arbitrary<LedgerEnd> = messageOf<LedgerEnd>(
  { offset: offsetArbitrary, synchronizerTimes: fc.array(synchronizerTimeArbitrary, { maxLength: 2 }) },
  {},
);

export const jsCantonErrorArbitrary: fc.Arbitrary<JsCantonError> = messageOf<JsCantonError>(
  {
    code: fc.string(),
    cause: fc.string(),
    context: fc
      .array(fc.tuple(fc.constantFrom('category', 'earliest_offset', '__proto__', ''), fc.string()), { maxLength: 3 })
      .map((entries): Readonly<Record<string, string>> => Object.fromEntries(entries)),
    errorCategory: fc.integer({ min: -1, max: 14 }),
  },
  {
    correlationId: fc.string(),
    traceId: fc.string(),
    resources: presentJsonArbitrary,
    grpcCodeValue: fc.nat({ max: 16 }),
    retryInfo: fc.string(),
    definiteAnswer: fc.boolean(),
  },
);

export const preparedSubmissionArbitrary: fc.Arbitrary<PreparedSubmission> = messageOf<PreparedSubmission>(
  {
    preparedTransaction: base64Arbitrary,
    preparedTransactionHash: base64Arbitrary,
    hashingSchemeVersion: hashingSchemeVersionArbitrary,
  },
  {
    hashingDetails: fc.string(),
    costEstimation: messageOf<CostEstimation>(
      {
        estimationTimestamp: timestampArbitrary,
        confirmationRequestTrafficCostEstimation: int64Arbitrary,
        confirmationResponseTrafficCostEstimation: int64Arbitrary,
        totalTrafficCostEstimation: int64Arbitrary,
      },
      {},
    ),
  },
);
