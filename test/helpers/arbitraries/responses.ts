import fc from 'fast-check';
import type { PreparedSubmission } from '../../../src/codecs/SubmissionRequest.js';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type {
  LedgerEnd,
  OffsetCheckpoint,
  SynchronizerTime,
  TraceContext,
} from '../../../src/codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../../../src/codecs/Reassignment.js';
import type { TopologyTransaction } from '../../../src/codecs/TopologyTransaction.js';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import type { UnknownUpdate, Update } from '../../../src/codecs/Update.js';
import {
  eventArbitrary,
  reassignmentEventArbitrary,
  topologyEventArbitrary,
  unknownContentArbitrary,
  unknownVariantArbitrary,
} from './events.js';
import { messageOf, presentJsonArbitrary } from './messages.js';
import {
  base64Arbitrary,
  hashingSchemeVersionArbitrary,
  int64Arbitrary,
  ledgerStringArbitrary,
  offsetArbitrary,
  synchronizerIdArbitrary,
  timestampArbitrary,
  transactionHashArbitrary,
  updateIdArbitrary,
} from './scalars.js';
import type { CostEstimation } from '../wireTypes.js';

export const traceContextArbitrary: fc.Arbitrary<TraceContext> = messageOf<TraceContext>(
  {},
  { traceparent: fc.string(), tracestate: fc.string() },
);

export const synchronizerTimeArbitrary: fc.Arbitrary<SynchronizerTime> = messageOf<SynchronizerTime>(
  { synchronizerId: synchronizerIdArbitrary, recordTime: timestampArbitrary },
  {},
);

const idFromSubmitter = fc.oneof(fc.constant(''), ledgerStringArbitrary);

export const transactionArbitrary: fc.Arbitrary<Transaction> = messageOf<Transaction>(
  {
    _tag: fc.constant('Transaction'),
    updateId: updateIdArbitrary,
    effectiveAt: timestampArbitrary,
    events: fc.array(eventArbitrary, { maxLength: 3 }),
    offset: offsetArbitrary,
    synchronizerId: synchronizerIdArbitrary,
    recordTime: timestampArbitrary,
  },
  {
    commandId: idFromSubmitter,
    workflowId: idFromSubmitter,
    traceContext: traceContextArbitrary,
    externalTransactionHash: transactionHashArbitrary,
    paidTrafficCost: int64Arbitrary,
    transactionHash: transactionHashArbitrary,
  },
);

export const reassignmentArbitrary: fc.Arbitrary<Reassignment> = messageOf<Reassignment>(
  {
    _tag: fc.constant('Reassignment'),
    updateId: updateIdArbitrary,
    offset: offsetArbitrary,
    events: fc.array(reassignmentEventArbitrary, { maxLength: 3 }),
    recordTime: timestampArbitrary,
  },
  {
    commandId: idFromSubmitter,
    workflowId: idFromSubmitter,
    traceContext: traceContextArbitrary,
    synchronizerId: synchronizerIdArbitrary,
    paidTrafficCost: int64Arbitrary,
  },
);

export const topologyTransactionArbitrary: fc.Arbitrary<TopologyTransaction> = messageOf<TopologyTransaction>(
  {
    _tag: fc.constant('TopologyTransaction'),
    updateId: updateIdArbitrary,
    events: fc.array(topologyEventArbitrary, { maxLength: 3 }),
    offset: offsetArbitrary,
    synchronizerId: synchronizerIdArbitrary,
    recordTime: timestampArbitrary,
  },
  { traceContext: traceContextArbitrary },
);

export const offsetCheckpointArbitrary: fc.Arbitrary<OffsetCheckpoint> = messageOf<OffsetCheckpoint>(
  {
    _tag: fc.constant('OffsetCheckpoint'),
    offset: offsetArbitrary,
    synchronizerTimes: fc.array(synchronizerTimeArbitrary, { maxLength: 2 }),
  },
  {},
);

export const unknownUpdateArbitrary: fc.Arbitrary<UnknownUpdate> = fc
  .tuple(unknownVariantArbitrary, unknownContentArbitrary)
  .map(([variant, { offset, value }]) => ({ _tag: 'UnknownUpdate', variant, offset, value }));

export const updateArbitrary: fc.Arbitrary<Update> = fc.oneof(
  transactionArbitrary,
  reassignmentArbitrary,
  topologyTransactionArbitrary,
  offsetCheckpointArbitrary,
  unknownUpdateArbitrary,
);

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
