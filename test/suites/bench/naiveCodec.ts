import * as t from 'io-ts';

/** A field that may be absent or `null`. */
const opt = <A>(codec: t.Type<A, unknown>) => t.union([codec, t.null, t.undefined]);
const texts = t.array(t.string);

const CreatedEvent = t.intersection([
  t.type({
    offset: t.Int,
    nodeId: t.Int,
    contractId: t.string,
    templateId: t.string,
    packageName: t.string,
    createdAt: t.string,
    witnessParties: texts,
    signatories: texts,
  }),
  t.partial({
    contractKey: t.unknown,
    contractKeyHash: opt(t.string),
    createArgument: t.unknown,
    createdEventBlob: opt(t.string),
    interfaceViews: opt(t.array(t.type({ interfaceId: t.string }))),
    observers: opt(texts),
    representativePackageId: opt(t.string),
    acsDelta: opt(t.boolean),
  }),
]);
const ArchivedEvent = t.intersection([
  t.type({
    offset: t.Int,
    nodeId: t.Int,
    contractId: t.string,
    templateId: t.string,
    packageName: t.string,
    witnessParties: texts,
  }),
  t.partial({ implementedInterfaces: opt(texts) }),
]);
const ExercisedEvent = t.intersection([
  t.type({
    offset: t.Int,
    nodeId: t.Int,
    contractId: t.string,
    templateId: t.string,
    packageName: t.string,
    choice: t.string,
    actingParties: texts,
    consuming: t.boolean,
    witnessParties: texts,
    lastDescendantNodeId: t.Int,
  }),
  t.partial({
    interfaceId: opt(t.string),
    choiceArgument: t.unknown,
    exerciseResult: t.unknown,
    implementedInterfaces: opt(texts),
    acsDelta: opt(t.boolean),
  }),
]);
const Event = t.union([t.type({ CreatedEvent }), t.type({ ArchivedEvent }), t.type({ ExercisedEvent })]);
const TraceContext = t.partial({ traceparent: opt(t.string), tracestate: opt(t.string) });

const Transaction = t.intersection([
  t.type({
    updateId: t.string,
    effectiveAt: t.string,
    events: t.array(Event),
    offset: t.Int,
    synchronizerId: t.string,
    recordTime: t.string,
  }),
  t.partial({
    commandId: opt(t.string),
    workflowId: opt(t.string),
    traceContext: opt(TraceContext),
    externalTransactionHash: opt(t.string),
    paidTrafficCost: opt(t.Int),
  }),
]);

const moved = { reassignmentId: t.string, source: t.string, target: t.string, reassignmentCounter: t.Int };
const JsAssignmentEvent = t.intersection([
  t.type({ ...moved, createdEvent: CreatedEvent }),
  t.partial({ submitter: opt(t.string) }),
]);
const JsUnassignedEvent = t.type({
  value: t.intersection([
    t.type({
      ...moved,
      contractId: t.string,
      packageName: t.string,
      witnessParties: texts,
      offset: t.Int,
      nodeId: t.Int,
    }),
    t.partial({ templateId: opt(t.string), submitter: opt(t.string), assignmentExclusivity: opt(t.string) }),
  ]),
});
const Reassignment = t.intersection([
  t.type({
    updateId: t.string,
    offset: t.Int,
    events: t.array(t.union([t.type({ JsAssignmentEvent }), t.type({ JsUnassignedEvent })])),
    recordTime: t.string,
  }),
  t.partial({
    commandId: opt(t.string),
    workflowId: opt(t.string),
    traceContext: opt(TraceContext),
    synchronizerId: opt(t.string),
    paidTrafficCost: opt(t.Int),
  }),
]);

const hosting = t.type({ partyId: t.string, participantId: t.string, participantPermission: t.string });
const TopologyEvent = t.union([
  t.type({ ParticipantAuthorizationAdded: t.type({ value: hosting }) }),
  t.type({ ParticipantAuthorizationChanged: t.type({ value: hosting }) }),
  t.type({
    ParticipantAuthorizationRevoked: t.type({ value: t.type({ partyId: t.string, participantId: t.string }) }),
  }),
]);
const TopologyTransaction = t.intersection([
  t.type({
    updateId: t.string,
    events: t.array(t.type({ event: TopologyEvent })),
    offset: t.Int,
    synchronizerId: t.string,
    recordTime: t.string,
  }),
  t.partial({ traceContext: opt(TraceContext) }),
]);

const OffsetCheckpoint = t.type({
  offset: t.Int,
  synchronizerTimes: t.array(t.type({ synchronizerId: t.string, recordTime: t.string })),
});

const Page = t.array(
  t.type({
    update: t.union([
      t.type({ Transaction: t.type({ value: Transaction }) }),
      t.type({ Reassignment: t.type({ value: Reassignment }) }),
      t.type({ TopologyTransaction: t.type({ value: TopologyTransaction }) }),
      t.type({ OffsetCheckpoint: t.type({ value: OffsetCheckpoint }) }),
    ]),
  }),
);

/** A page in usual io-ts style: the same fields as the library's codecs, without optimizations. */
export function naivePage(json: unknown): readonly unknown[] {
  const result = Page.decode(json);
  if (result._tag === 'Left') throw new Error('a page did not decode');
  return result.right;
}
