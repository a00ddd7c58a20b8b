import fc from 'fast-check';
import type {
  ArchivedEvent,
  CreatedEvent,
  TransactionEvent,
  ExercisedEvent,
  InterfaceView,
  UnknownEvent,
  ViewStatus,
} from '../../../src/codecs/Event.js';
import type { AssignedEvent, ReassignmentEvent, UnassignedEvent } from '../../../src/codecs/Reassignment.js';
import type { TopologyEvent } from '../../../src/codecs/TopologyTransaction.js';
import { extraFieldsArbitrary, jsonArbitrary, messageOf, presentJsonArbitrary } from './messages.js';
import {
  base64Arbitrary,
  contractIdArbitrary,
  identifierArbitrary,
  int64Arbitrary,
  nodeIdArbitrary,
  offsetArbitrary,
  packageNameArbitrary,
  partiesArbitrary,
  partyArbitrary,
  synchronizerIdArbitrary,
  timestampArbitrary,
  updateIdArbitrary,
} from './scalars.js';
import type {
  ProtoAny,
  ParticipantAuthorizationAdded,
  ParticipantAuthorizationChanged,
  ParticipantAuthorizationOnboarding,
  ParticipantAuthorizationRevoked,
  UnknownTopologyEvent,
} from '../wireTypes.js';

const protoAnyArbitrary = messageOf<ProtoAny>(
  {},
  {
    typeUrl: fc.string(),
    value: base64Arbitrary,
    valueDecoded: presentJsonArbitrary,
    unknownFields: presentJsonArbitrary,
  },
);

export const interfaceViewArbitrary: fc.Arbitrary<InterfaceView> = messageOf<InterfaceView>(
  {
    interfaceId: identifierArbitrary,
    viewStatus: messageOf<ViewStatus>(
      { code: fc.nat({ max: 16 }) },
      { message: fc.string(), details: fc.array(protoAnyArbitrary, { maxLength: 2 }) },
    ),
  },
  { viewValue: presentJsonArbitrary, implementationPackageId: fc.string() },
);

export const createdEventArbitrary: fc.Arbitrary<CreatedEvent> = messageOf<CreatedEvent>(
  {
    _tag: fc.constant('CreatedEvent'),
    offset: offsetArbitrary,
    nodeId: nodeIdArbitrary,
    contractId: contractIdArbitrary,
    templateId: identifierArbitrary,
    packageName: packageNameArbitrary,
    createdAt: timestampArbitrary,
    interfaceViews: fc.array(interfaceViewArbitrary, { maxLength: 2 }),
    witnessParties: partiesArbitrary,
    signatories: partiesArbitrary,
    observers: partiesArbitrary,
  },
  {
    contractKey: presentJsonArbitrary,
    contractKeyHash: fc.oneof(fc.constant(''), base64Arbitrary),
    createArgument: presentJsonArbitrary,
    createdEventBlob: fc.oneof(fc.constant(''), base64Arbitrary),
    representativePackageId: fc.string(),
    acsDelta: fc.boolean(),
  },
);

export const archivedEventArbitrary: fc.Arbitrary<ArchivedEvent> = messageOf<ArchivedEvent>(
  {
    _tag: fc.constant('ArchivedEvent'),
    offset: offsetArbitrary,
    nodeId: nodeIdArbitrary,
    contractId: contractIdArbitrary,
    templateId: identifierArbitrary,
    packageName: packageNameArbitrary,
    witnessParties: partiesArbitrary,
    implementedInterfaces: fc.array(identifierArbitrary, { maxLength: 2 }),
  },
  {},
);

export const exercisedEventArbitrary: fc.Arbitrary<ExercisedEvent> = messageOf<ExercisedEvent>(
  {
    _tag: fc.constant('ExercisedEvent'),
    offset: offsetArbitrary,
    nodeId: nodeIdArbitrary,
    contractId: contractIdArbitrary,
    templateId: identifierArbitrary,
    packageName: packageNameArbitrary,
    choice: fc.constantFrom('Archive', 'Transfer'),
    actingParties: partiesArbitrary,
    consuming: fc.boolean(),
    witnessParties: partiesArbitrary,
    lastDescendantNodeId: nodeIdArbitrary,
    implementedInterfaces: fc.array(identifierArbitrary, { maxLength: 2 }),
  },
  {
    interfaceId: identifierArbitrary,
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
  .tuple(offsetArbitrary, extraFieldsArbitrary, fc.constantFrom('bare', 'wrapped', 'beside'))
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

export const assignmentEventArbitrary: fc.Arbitrary<AssignedEvent> = messageOf<AssignedEvent>(
  {
    _tag: fc.constant('AssignedEvent'),
    source: synchronizerIdArbitrary,
    target: synchronizerIdArbitrary,
    reassignmentId: updateIdArbitrary,
    reassignmentCounter: int64Arbitrary,
    createdEvent: createdEventArbitrary,
  },
  { submitter: fc.oneof(fc.constant(''), partyArbitrary) },
);

export const unassignedEventArbitrary: fc.Arbitrary<UnassignedEvent> = messageOf<UnassignedEvent>(
  {
    _tag: fc.constant('UnassignedEvent'),
    reassignmentId: updateIdArbitrary,
    contractId: contractIdArbitrary,
    packageName: packageNameArbitrary,
    source: synchronizerIdArbitrary,
    target: synchronizerIdArbitrary,
    reassignmentCounter: int64Arbitrary,
    witnessParties: partiesArbitrary,
    offset: offsetArbitrary,
    nodeId: nodeIdArbitrary,
  },
  {
    templateId: identifierArbitrary,
    submitter: fc.oneof(fc.constant(''), partyArbitrary),
    assignmentExclusivity: timestampArbitrary,
  },
);

export const reassignmentEventArbitrary: fc.Arbitrary<ReassignmentEvent> = fc.oneof(
  assignmentEventArbitrary,
  unassignedEventArbitrary,
  unknownEventArbitrary,
);

const hosting = { partyId: partyArbitrary, participantId: fc.constantFrom('participant1::1220ab', 'PAR::p2::1220cd') };
const participantPermission = fc.constantFrom(
  'PARTICIPANT_PERMISSION_SUBMISSION',
  'PARTICIPANT_PERMISSION_CONFIRMATION',
  'PARTICIPANT_PERMISSION_OBSERVATION',
  'PARTICIPANT_PERMISSION_OF_A_NEWER_LEDGER',
);

export const participantAuthorizationAddedArbitrary: fc.Arbitrary<ParticipantAuthorizationAdded> =
  messageOf<ParticipantAuthorizationAdded>(
    { _tag: fc.constant('ParticipantAuthorizationAdded'), ...hosting, participantPermission },
    {},
  );

export const participantAuthorizationChangedArbitrary: fc.Arbitrary<ParticipantAuthorizationChanged> =
  messageOf<ParticipantAuthorizationChanged>(
    { _tag: fc.constant('ParticipantAuthorizationChanged'), ...hosting, participantPermission },
    {},
  );

export const participantAuthorizationOnboardingArbitrary: fc.Arbitrary<ParticipantAuthorizationOnboarding> =
  messageOf<ParticipantAuthorizationOnboarding>(
    { _tag: fc.constant('ParticipantAuthorizationOnboarding'), ...hosting, participantPermission },
    {},
  );

export const participantAuthorizationRevokedArbitrary: fc.Arbitrary<ParticipantAuthorizationRevoked> =
  messageOf<ParticipantAuthorizationRevoked>({ _tag: fc.constant('ParticipantAuthorizationRevoked'), ...hosting }, {});

export const unknownTopologyEventArbitrary: fc.Arbitrary<UnknownTopologyEvent> = fc
  .tuple(unknownVariantArbitrary, jsonArbitrary)
  .map(([variant, value]) => ({ _tag: 'UnknownTopologyEvent', variant, value }));

export const topologyEventArbitrary: fc.Arbitrary<TopologyEvent> = fc.oneof(
  participantAuthorizationAddedArbitrary,
  participantAuthorizationChangedArbitrary,
  participantAuthorizationOnboardingArbitrary,
  participantAuthorizationRevokedArbitrary,
  unknownTopologyEventArbitrary,
);
