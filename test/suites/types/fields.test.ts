import { describe, it } from '@jest/globals';
import type { v3_4, v3_5 } from '@canton-network/core-ledger-client-types';
import { expectTypeOf } from 'expect-type';
import type {
  ArchivedEvent,
  CreatedEvent,
  TransactionEvent,
  ExercisedEvent,
  InterfaceView,
  ViewStatus,
} from '../../../src/codecs/Event.js';
import type {
  AssignedEvent,
  Reassignment,
  ReassignmentEvent,
  UnassignedEvent,
} from '../../../src/codecs/Reassignment.js';
import type { Command, ExerciseCommand } from '../../../src/codecs/Command.js';
import type {
  DeduplicationPeriod,
  ExecuteRequest,
  PartySignatures,
  Signature,
} from '../../../src/codecs/ExecuteRequest.js';
import type { DisclosedContract, PreparedSubmission, PrepareRequest } from '../../../src/codecs/SubmissionRequest.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type { EventFormat, TransactionFormat, UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import type { CumulativeFilter, Filters, TransactionFilter } from '../../../src/codecs/Filters.js';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type {
  LedgerEnd,
  OffsetCheckpoint,
  SynchronizerTime,
  TraceContext,
} from '../../../src/codecs/OffsetCheckpoint.js';
import type { TopologyEvent, TopologyTransaction } from '../../../src/codecs/TopologyTransaction.js';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import type { Update } from '../../../src/codecs/Update.js';
import type { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import type {
  ProtoAny,
  CreateAndExerciseCommand,
  CreateCommand,
  ExerciseByKeyCommand,
  PrefetchContractKey,
  TrafficEstimation,
  ParticipantAuthorizationFormat,
  TopologyFormat,
  IdentifierFilter,
  InterfaceFilter,
  TemplateFilter,
  WildcardFilter,
  ParticipantAuthorizationAdded,
  ParticipantAuthorizationChanged,
  ParticipantAuthorizationOnboarding,
  ParticipantAuthorizationRevoked,
  CostEstimation,
} from '../../helpers/wireTypes.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

type S34 = v3_4.components['schemas'];
type S35 = v3_5.components['schemas'];

/** The keys of an object, or of all the objects of a union. */
type KeyOf<A> = A extends unknown ? keyof A : never;
/** The fields of `Theirs` that `Ours` lacks; a compile error names them. */
type Missing<Theirs, Ours> = Exclude<KeyOf<Theirs>, KeyOf<Ours>>;
/** The content of a wrapped schema, `{ value: ... }`. */
type Value<A> = A extends { value: infer V } ? V : never;
/** `never`; a compile error names any other type. */
type None<A extends never> = A;
type TagOf<A extends { readonly _tag: string }> = A['_tag'];

/** Every schema of the published package for which the library has a type, by its name there. */
interface Ours {
  JsTransaction: Transaction;
  JsReassignment: Reassignment;
  JsTopologyTransaction: TopologyTransaction;
  OffsetCheckpoint1: OffsetCheckpoint;
  SynchronizerTime: SynchronizerTime;
  CreatedEvent: CreatedEvent;
  ArchivedEvent: ArchivedEvent;
  ExercisedEvent: ExercisedEvent;
  JsAssignmentEvent: AssignedEvent;
  UnassignedEvent: UnassignedEvent;
  ParticipantAuthorizationAdded1: ParticipantAuthorizationAdded;
  ParticipantAuthorizationChanged1: ParticipantAuthorizationChanged;
  ParticipantAuthorizationRevoked1: ParticipantAuthorizationRevoked;
  TraceContext: TraceContext;
  JsInterfaceView: InterfaceView;
  JsStatus: ViewStatus;
  ProtoAny: ProtoAny;
  JsCantonError: JsCantonError;
  GetLedgerEndResponse: LedgerEnd;
  GetUpdatesRequest: UpdatesRequest;
  UpdateFormat: UpdateFormat;
  EventFormat: EventFormat;
  TransactionFormat: TransactionFormat;
  TopologyFormat: TopologyFormat;
  ParticipantAuthorizationTopologyFormat: ParticipantAuthorizationFormat;
  TransactionFilter: TransactionFilter;
  Filters: Filters;
  CumulativeFilter: CumulativeFilter;
  IdentifierFilter: IdentifierFilter;
  WildcardFilter1: WildcardFilter;
  TemplateFilter1: TemplateFilter;
  InterfaceFilter1: InterfaceFilter;
  JsExecuteSubmissionAndWaitForTransactionRequest: ExecuteRequest;
  PartySignatures: PartySignatures;
  SinglePartySignatures: PartySignatures['signatures'][number];
  Signature: Signature;
  DeduplicationPeriod: DeduplicationPeriod;
  DeduplicationPeriod2: DeduplicationPeriod;
  Duration: Duration;
  MinLedgerTime: MinLedgerTime;
  Time: MinLedgerTime['time'];
  JsPrepareSubmissionRequest: PrepareRequest;
  Command: Command;
  CreateCommand: CreateCommand;
  ExerciseCommand: ExerciseCommand;
  ExerciseByKeyCommand: ExerciseByKeyCommand;
  CreateAndExerciseCommand: CreateAndExerciseCommand;
  DisclosedContract: DisclosedContract;
  PrefetchContractKey: PrefetchContractKey;
  CostEstimationHints: TrafficEstimation;
  JsPrepareSubmissionResponse: PreparedSubmission;
  CostEstimation: CostEstimation;
}

/** `Schema.field` of every field that the library lacks. */
type Gaps<S> = {
  [Name in keyof Ours]: Name extends keyof S
    ? `${Name}.${Extract<Missing<S[Name], Ours[Name]>, string>}`
    : `${Name} is no schema`;
}[keyof Ours];

describe('the library has every field of the published types', () => {
  it('of 3.4', () => {
    expectTypeOf<None<Gaps<S34>>>().toBeNever();
  });

  it('of 3.5', () => {
    expectTypeOf<None<Gaps<S35>>>().toBeNever();
    expectTypeOf<
      None<Missing<S35['ParticipantAuthorizationOnboarding1'], ParticipantAuthorizationOnboarding>>
    >().toBeNever();
  });

  it('of the details of a view status', () => {
    expectTypeOf<ViewStatus['details']>().toEqualTypeOf<readonly ProtoAny[] | undefined>();
  });

  it('and a missing one is named by the type', () => {
    interface Theirs {
      offset: number;
      sinceThen?: string;
    }
    expectTypeOf<Missing<Theirs, OffsetCheckpoint>>().toEqualTypeOf<'sinceThen'>();
    expectTypeOf<Missing<Theirs | { other: 1 }, OffsetCheckpoint>>().toEqualTypeOf<'other' | 'sinceThen'>();
    expectTypeOf<Gaps<{ Signature: Theirs }>>().toExtend<string>();
    expectTypeOf<'Signature.sinceThen'>().toExtend<Gaps<{ Signature: Theirs }>>();
    expectTypeOf<'Duration is no schema'>().toExtend<Gaps<{ Signature: Theirs }>>();
  });
});

describe('the library has every variant of the published types', () => {
  it('of an update', () => {
    expectTypeOf<None<Exclude<KeyOf<S34['Update']>, TagOf<Update>>>>().toBeNever();
    expectTypeOf<None<Exclude<KeyOf<S35['Update']>, TagOf<Update>>>>().toBeNever();
  });

  it('of an event', () => {
    expectTypeOf<None<Exclude<KeyOf<S34['Event']>, TagOf<TransactionEvent>>>>().toBeNever();
    expectTypeOf<None<Exclude<KeyOf<S35['Event']>, TagOf<TransactionEvent>>>>().toBeNever();
  });

  it('of an event of a reassignment', () => {
    // the wire's keys are not the tags
    type WireKey = { AssignedEvent: 'JsAssignmentEvent'; UnassignedEvent: 'JsUnassignedEvent' }[Exclude<
      TagOf<ReassignmentEvent>,
      'UnknownEvent'
    >];
    expectTypeOf<None<Exclude<KeyOf<S34['JsReassignmentEvent']>, WireKey>>>().toBeNever();
    expectTypeOf<None<Exclude<KeyOf<S35['JsReassignmentEvent']>, WireKey>>>().toBeNever();
  });

  it('of an event of the topology, but for the empty one', () => {
    expectTypeOf<Exclude<KeyOf<S34['TopologyEventEvent']>, TagOf<TopologyEvent>>>().toEqualTypeOf<'Empty'>();
    expectTypeOf<Exclude<KeyOf<S35['TopologyEventEvent']>, TagOf<TopologyEvent>>>().toEqualTypeOf<'Empty'>();
  });

  it('under its own schema', () => {
    expectTypeOf<Value<S35['OffsetCheckpoint']>>().toEqualTypeOf<S35['OffsetCheckpoint1']>();
    expectTypeOf<Value<S35['Transaction']>>().toEqualTypeOf<S35['JsTransaction']>();
    expectTypeOf<Value<S35['Reassignment']>>().toEqualTypeOf<S35['JsReassignment']>();
    expectTypeOf<Value<S35['TopologyTransaction']>>().toEqualTypeOf<S35['JsTopologyTransaction']>();
    expectTypeOf<Value<S35['JsUnassignedEvent']>>().toEqualTypeOf<S35['UnassignedEvent']>();
    expectTypeOf<Value<S35['WildcardFilter']>>().toEqualTypeOf<S35['WildcardFilter1']>();
  });
});
