import fc from 'fast-check';
import type {
  ArchivedEvent,
  CreatedEvent,
  ExercisedEvent,
  InterfaceView,
  TransactionEvent,
  UnknownEvent,
  ViewStatus,
} from '../../../src/codecs/Event.js';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type {
  LedgerEnd,
  OffsetCheckpoint,
  SynchronizerTime,
  TraceContext,
} from '../../../src/codecs/OffsetCheckpoint.js';
import type {
  AssignedEvent,
  Reassignment,
  ReassignmentEvent,
  UnassignedEvent,
} from '../../../src/codecs/Reassignment.js';
import type { PreparedSubmission } from '../../../src/codecs/SubmissionRequest.js';
import type { TopologyEvent, TopologyTransaction } from '../../../src/codecs/TopologyTransaction.js';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import type { UnknownUpdate, Update } from '../../../src/codecs/Update.js';
import type * as Wire from '../wireTypes.js';
import { extraFieldsArbitrary, jsonArbitrary, messageOf, presentJsonArbitrary } from './messages.js';
import * as scalar from './scalars.js';

const protoAnyArbitrary = messageOf<Wire.ProtoAny>(
  {},
  {
    typeUrl: fc.string(),
    value: scalar.base64Arbitrary,
    valueDecoded: presentJsonArbitrary,
    unknownFields: presentJsonArbitrary,
  },
);

export const interfaceViewArbitrary = messageOf<InterfaceView>(
  {
    interfaceId: scalar.identifierArbitrary,
    viewStatus: messageOf<ViewStatus>(
      { code: fc.nat({ max: 16 }) },
      { message: fc.string(), details: fc.array(protoAnyArbitrary, { maxLength: 2 }) },
    ),
  },
  { viewValue: presentJsonArbitrary, implementationPackageId: fc.string() },
);

/** What every event of a transaction has. */
const ofContract = {
  offset: scalar.offsetArbitrary,
  nodeId: scalar.nodeIdArbitrary,
  contractId: scalar.contractIdArbitrary,
  templateId: scalar.identifierArbitrary,
  packageName: scalar.packageNameArbitrary,
};

export const createdEventArbitrary = messageOf<CreatedEvent>(
  {
    _tag: fc.constant('CreatedEvent'),
    ...ofContract,
    createdAt: scalar.timestampArbitrary,
    interfaceViews: fc.array(interfaceViewArbitrary, { maxLength: 2 }),
    witnessParties: scalar.partiesArbitrary,
    signatories: scalar.partiesArbitrary,
    observers: scalar.partiesArbitrary,
  },
  {
    contractKey: presentJsonArbitrary,
    contractKeyHash: fc.oneof(fc.constant(''), scalar.base64Arbitrary),
    createArgument: presentJsonArbitrary,
    createdEventBlob: fc.oneof(fc.constant(''), scalar.base64Arbitrary),
    representativePackageId: fc.string(),
    acsDelta: fc.boolean(),
  },
);

export const archivedEventArbitrary = messageOf<ArchivedEvent>(
  {
    _tag: fc.constant('ArchivedEvent'),
    ...ofContract,
    witnessParties: scalar.partiesArbitrary,
    implementedInterfaces: fc.array(scalar.identifierArbitrary, { maxLength: 2 }),
  },
  {},
);

export const exercisedEventArbitrary = messageOf<ExercisedEvent>(
  {
    _tag: fc.constant('ExercisedEvent'),
    ...ofContract,
    choice: fc.constantFrom('Archive', 'Transfer'),
    actingParties: scalar.partiesArbitrary,
    consuming: fc.boolean(),
    witnessParties: scalar.partiesArbitrary,
    lastDescendantNodeId: scalar.nodeIdArbitrary,
    implementedInterfaces: fc.array(scalar.identifierArbitrary, { maxLength: 2 }),
  },
  {
    interfaceId: scalar.identifierArbitrary,
    choiceArgument: presentJsonArbitrary,
    exerciseResult: presentJsonArbitrary,
    acsDelta: fc.boolean(),
  },
);

/** The name of a variant that this version does not know. */
export const unknownVariantArbitrary: fc.Arbitrary<string> = fc.constantFrom(
  'SnapshotMarker',
  'Empty',
  'event',
  'UnknownUpdate',
  'UnknownEvent',
  '__proto__',
  'constructor',
  '',
);

/** What stands under such a name: with an offset, in a `value` or not. */
export const unknownContentArbitrary: fc.Arbitrary<{ readonly offset: number; readonly value: unknown }> = fc
  .tuple(scalar.offsetArbitrary, extraFieldsArbitrary, fc.constantFrom('bare', 'wrapped', 'beside'))
  .map(([offset, fields, form]) => {
    const bare = { ...fields, offset };
    if (form === 'bare') return { offset, value: bare };
    return { offset, value: form === 'wrapped' ? { value: bare } : { value: fields, offset } };
  });

export const unknownEventArbitrary: fc.Arbitrary<UnknownEvent> = fc
  .tuple(unknownVariantArbitrary, unknownContentArbitrary)
  .map(([variant, { offset, value }]) => ({ _tag: 'UnknownEvent', variant, offset, value }));

export const eventArbitrary: fc.Arbitrary<TransactionEvent> = fc.oneof(
  createdEventArbitrary,
  archivedEventArbitrary,
  exercisedEventArbitrary,
  unknownEventArbitrary,
);

export const assignmentEventArbitrary = messageOf<AssignedEvent>(
  {
    _tag: fc.constant('AssignedEvent'),
    source: scalar.synchronizerIdArbitrary,
    target: scalar.synchronizerIdArbitrary,
    reassignmentId: scalar.updateIdArbitrary,
    reassignmentCounter: scalar.int64Arbitrary,
    createdEvent: createdEventArbitrary,
  },
  { submitter: fc.oneof(fc.constant(''), scalar.partyArbitrary) },
);

export const unassignedEventArbitrary = messageOf<UnassignedEvent>(
  {
    _tag: fc.constant('UnassignedEvent'),
    reassignmentId: scalar.updateIdArbitrary,
    contractId: scalar.contractIdArbitrary,
    packageName: scalar.packageNameArbitrary,
    source: scalar.synchronizerIdArbitrary,
    target: scalar.synchronizerIdArbitrary,
    reassignmentCounter: scalar.int64Arbitrary,
    witnessParties: scalar.partiesArbitrary,
    offset: scalar.offsetArbitrary,
    nodeId: scalar.nodeIdArbitrary,
  },
  {
    templateId: scalar.identifierArbitrary,
    submitter: fc.oneof(fc.constant(''), scalar.partyArbitrary),
    assignmentExclusivity: scalar.timestampArbitrary,
  },
);

export const reassignmentEventArbitrary: fc.Arbitrary<ReassignmentEvent> = fc.oneof(
  assignmentEventArbitrary,
  unassignedEventArbitrary,
  unknownEventArbitrary,
);

const hosting = {
  partyId: scalar.partyArbitrary,
  participantId: fc.constantFrom('participant1::1220ab', 'PAR::p2::1220cd'),
};
const participantPermission = fc.constantFrom(
  'PARTICIPANT_PERMISSION_SUBMISSION',
  'PARTICIPANT_PERMISSION_CONFIRMATION',
  'PARTICIPANT_PERMISSION_OBSERVATION',
  'PARTICIPANT_PERMISSION_OF_A_NEWER_LEDGER',
);

const permitted = { ...hosting, participantPermission };

export const topologyEventArbitrary: fc.Arbitrary<TopologyEvent> = fc.oneof(
  messageOf<Wire.ParticipantAuthorizationAdded>(
    { _tag: fc.constant('ParticipantAuthorizationAdded'), ...permitted },
    {},
  ),
  messageOf<Wire.ParticipantAuthorizationChanged>(
    { _tag: fc.constant('ParticipantAuthorizationChanged'), ...permitted },
    {},
  ),
  messageOf<Wire.ParticipantAuthorizationOnboarding>(
    { _tag: fc.constant('ParticipantAuthorizationOnboarding'), ...permitted },
    {},
  ),
  messageOf<Wire.ParticipantAuthorizationRevoked>(
    { _tag: fc.constant('ParticipantAuthorizationRevoked'), ...hosting },
    {},
  ),
  fc
    .tuple(unknownVariantArbitrary, jsonArbitrary)
    .map(([variant, value]): Wire.UnknownTopologyEvent => ({ _tag: 'UnknownTopologyEvent', variant, value })),
);

export const traceContextArbitrary = messageOf<TraceContext>({}, { traceparent: fc.string(), tracestate: fc.string() });

export const synchronizerTimeArbitrary = messageOf<SynchronizerTime>(
  { synchronizerId: scalar.synchronizerIdArbitrary, recordTime: scalar.timestampArbitrary },
  {},
);

const idFromSubmitter = fc.oneof(fc.constant(''), scalar.ledgerStringArbitrary);

export const transactionArbitrary = messageOf<Transaction>(
  {
    _tag: fc.constant('Transaction'),
    updateId: scalar.updateIdArbitrary,
    effectiveAt: scalar.timestampArbitrary,
    events: fc.array(eventArbitrary, { maxLength: 3 }),
    offset: scalar.offsetArbitrary,
    synchronizerId: scalar.synchronizerIdArbitrary,
    recordTime: scalar.timestampArbitrary,
  },
  {
    commandId: idFromSubmitter,
    workflowId: idFromSubmitter,
    traceContext: traceContextArbitrary,
    externalTransactionHash: scalar.transactionHashArbitrary,
    paidTrafficCost: scalar.int64Arbitrary,
    transactionHash: scalar.transactionHashArbitrary,
  },
);

export const reassignmentArbitrary = messageOf<Reassignment>(
  {
    _tag: fc.constant('Reassignment'),
    updateId: scalar.updateIdArbitrary,
    offset: scalar.offsetArbitrary,
    events: fc.array(reassignmentEventArbitrary, { maxLength: 3 }),
    recordTime: scalar.timestampArbitrary,
  },
  {
    commandId: idFromSubmitter,
    workflowId: idFromSubmitter,
    traceContext: traceContextArbitrary,
    synchronizerId: scalar.synchronizerIdArbitrary,
    paidTrafficCost: scalar.int64Arbitrary,
  },
);

export const topologyTransactionArbitrary = messageOf<TopologyTransaction>(
  {
    _tag: fc.constant('TopologyTransaction'),
    updateId: scalar.updateIdArbitrary,
    events: fc.array(topologyEventArbitrary, { maxLength: 3 }),
    offset: scalar.offsetArbitrary,
    synchronizerId: scalar.synchronizerIdArbitrary,
    recordTime: scalar.timestampArbitrary,
  },
  { traceContext: traceContextArbitrary },
);

export const offsetCheckpointArbitrary = messageOf<OffsetCheckpoint>(
  {
    _tag: fc.constant('OffsetCheckpoint'),
    offset: scalar.offsetArbitrary,
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

export const ledgerEndArbitrary = messageOf<LedgerEnd>(
  { offset: scalar.offsetArbitrary, synchronizerTimes: fc.array(synchronizerTimeArbitrary, { maxLength: 2 }) },
  {},
);

export const jsCantonErrorArbitrary = messageOf<JsCantonError>(
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

export const preparedSubmissionArbitrary = messageOf<PreparedSubmission>(
  {
    preparedTransaction: scalar.base64Arbitrary,
    preparedTransactionHash: scalar.base64Arbitrary,
    hashingSchemeVersion: scalar.hashingSchemeVersionArbitrary,
  },
  {
    hashingDetails: fc.string(),
    costEstimation: messageOf<Wire.CostEstimation>(
      {
        estimationTimestamp: scalar.timestampArbitrary,
        confirmationRequestTrafficCostEstimation: scalar.int64Arbitrary,
        confirmationResponseTrafficCostEstimation: scalar.int64Arbitrary,
        totalTrafficCostEstimation: scalar.int64Arbitrary,
      },
      {},
    ),
  },
);
