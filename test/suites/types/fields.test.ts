import { describe, it } from '@jest/globals';
import type { v3_4, v3_5 } from '@canton-network/core-ledger-client-types';
import { expectTypeOf } from 'expect-type';
import type { ExerciseCommand } from '../../../src/codecs/Command.js';
import type { ViewStatus } from '../../../src/codecs/Event.js';
import type { PartySignatures } from '../../../src/codecs/ExecuteRequest.js';
import type { CumulativeFilter, TransactionFilter } from '../../../src/codecs/Filters.js';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type { LedgerEnd, SynchronizerTime, TraceContext } from '../../../src/codecs/OffsetCheckpoint.js';
import type { TransactionFormat } from '../../../src/codecs/UpdateFormat.js';
import type { HashingSchemeVersion } from '../../../src/codecs/scalars.js';
import type * as rx from '../../../src/index.js';
import type * as wire from '../../helpers/wireTypes.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

type S34 = v3_4.components['schemas'];
type S35 = v3_5.components['schemas'];
/** The schema of each release. */
type Of<K extends keyof S34 & keyof S35> = S34[K] | S35[K];
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
  JsTransaction: rx.Transaction;
  JsReassignment: rx.Reassignment;
  JsTopologyTransaction: rx.TopologyTransaction;
  OffsetCheckpoint1: rx.OffsetCheckpoint;
  SynchronizerTime: SynchronizerTime;
  CreatedEvent: rx.CreatedEvent;
  ArchivedEvent: rx.ArchivedEvent;
  ExercisedEvent: rx.ExercisedEvent;
  JsAssignmentEvent: rx.AssignedEvent;
  UnassignedEvent: rx.UnassignedEvent;
  ParticipantAuthorizationAdded1: wire.ParticipantAuthorizationAdded;
  ParticipantAuthorizationChanged1: wire.ParticipantAuthorizationChanged;
  ParticipantAuthorizationRevoked1: wire.ParticipantAuthorizationRevoked;
  TraceContext: TraceContext;
  JsInterfaceView: rx.InterfaceView;
  JsStatus: ViewStatus;
  ProtoAny: wire.ProtoAny;
  JsCantonError: JsCantonError;
  GetLedgerEndResponse: LedgerEnd;
  GetUpdatesRequest: rx.UpdatesRequest;
  UpdateFormat: rx.UpdateFormat;
  EventFormat: rx.EventFormat;
  TransactionFormat: TransactionFormat;
  TopologyFormat: wire.TopologyFormat;
  ParticipantAuthorizationTopologyFormat: wire.ParticipantAuthorizationFormat;
  TransactionFilter: TransactionFilter;
  Filters: rx.Filters;
  CumulativeFilter: CumulativeFilter;
  IdentifierFilter: wire.IdentifierFilter;
  WildcardFilter1: wire.WildcardFilter;
  TemplateFilter1: wire.TemplateFilter;
  InterfaceFilter1: wire.InterfaceFilter;
  JsExecuteSubmissionAndWaitForTransactionRequest: rx.ExecuteRequest;
  PartySignatures: PartySignatures;
  SinglePartySignatures: PartySignatures['signatures'][number];
  Signature: rx.Signature;
  DeduplicationPeriod: rx.DeduplicationPeriod;
  DeduplicationPeriod2: rx.DeduplicationPeriod;
  Duration: Duration;
  MinLedgerTime: MinLedgerTime;
  Time: MinLedgerTime['time'];
  JsPrepareSubmissionRequest: rx.PrepareRequest;
  Command: rx.Command;
  CreateCommand: wire.CreateCommand;
  ExerciseCommand: ExerciseCommand;
  ExerciseByKeyCommand: wire.ExerciseByKeyCommand;
  CreateAndExerciseCommand: wire.CreateAndExerciseCommand;
  DisclosedContract: rx.DisclosedContract;
  PrefetchContractKey: wire.PrefetchContractKey;
  CostEstimationHints: wire.TrafficEstimation;
  JsPrepareSubmissionResponse: rx.PreparedSubmission;
  CostEstimation: wire.CostEstimation;
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
      None<Missing<S35['ParticipantAuthorizationOnboarding1'], wire.ParticipantAuthorizationOnboarding>>
    >().toBeNever();
  });

  it('of the details of a view status', () => {
    expectTypeOf<ViewStatus['details']>().toEqualTypeOf<readonly wire.ProtoAny[] | undefined>();
  });

  it('and a missing one is named by the type', () => {
    interface Theirs {
      offset: number;
      sinceThen?: string;
    }
    expectTypeOf<Missing<Theirs, rx.OffsetCheckpoint>>().toEqualTypeOf<'sinceThen'>();
    expectTypeOf<Missing<Theirs | { other: 1 }, rx.OffsetCheckpoint>>().toEqualTypeOf<'other' | 'sinceThen'>();
    expectTypeOf<Gaps<{ Signature: Theirs }>>().toExtend<string>();
    expectTypeOf<'Signature.sinceThen'>().toExtend<Gaps<{ Signature: Theirs }>>();
    expectTypeOf<'Duration is no schema'>().toExtend<Gaps<{ Signature: Theirs }>>();
  });
});

describe('the library has every variant of the published types', () => {
  it('of an update', () => {
    expectTypeOf<None<Exclude<KeyOf<Of<'Update'>>, TagOf<rx.Update>>>>().toBeNever();
  });

  it('of an event', () => {
    expectTypeOf<None<Exclude<KeyOf<Of<'Event'>>, TagOf<rx.TransactionEvent>>>>().toBeNever();
  });

  it('of an event of a reassignment', () => {
    // the wire's keys are not the tags
    type WireKey = { AssignedEvent: 'JsAssignmentEvent'; UnassignedEvent: 'JsUnassignedEvent' }[Exclude<
      TagOf<rx.ReassignmentEvent>,
      'UnknownEvent'
    >];
    expectTypeOf<None<Exclude<KeyOf<Of<'JsReassignmentEvent'>>, WireKey>>>().toBeNever();
  });

  it('of an event of the topology, but for the empty one', () => {
    expectTypeOf<Exclude<KeyOf<S34['TopologyEventEvent']>, TagOf<rx.TopologyEvent>>>().toEqualTypeOf<'Empty'>();
    expectTypeOf<Exclude<KeyOf<S35['TopologyEventEvent']>, TagOf<rx.TopologyEvent>>>().toEqualTypeOf<'Empty'>();
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

type TransactionShape = TransactionFormat['transactionShape'];
/** A published request with the one-of that the library requires, and without the unspecified shape, which the ledger rejects. */
type Filled<A> = A extends readonly (infer Item)[]
  ? readonly Filled<Item>[]
  : A extends { transactionShape: unknown; eventFormat: infer F }
    ? { eventFormat: Filled<F>; transactionShape: TransactionShape }
    : [keyof A] extends ['identifierFilter']
      ? Required<A>
      : A extends object
        ? { [K in keyof A]: Filled<A[K]> }
        : A;

describe('a published request is a request of the library', () => {
  it('in its parts', () => {
    expectTypeOf<Of<'IdentifierFilter'>>().toExtend<wire.IdentifierFilter>();
    expectTypeOf<Of<'TopologyFormat'>>().toExtend<wire.TopologyFormat>();
    expectTypeOf<Of<'DeduplicationPeriod'>>().toExtend<rx.DeduplicationPeriod>();
    expectTypeOf<Of<'Duration'>>().toExtend<Duration>();
    expectTypeOf<Required<Of<'MinLedgerTime'>>>().toExtend<MinLedgerTime>();
    expectTypeOf<Of<'Command'>>().toExtend<rx.Command>();
    expectTypeOf<Of<'PrefetchContractKey'>>().toExtend<wire.PrefetchContractKey>();
    expectTypeOf<Of<'CostEstimationHints'>>().toExtend<wire.TrafficEstimation>();
  });

  it('in its formats, with an identifier filter and a shape', () => {
    expectTypeOf<Filled<Of<'Filters'>>>().toExtend<rx.Filters>();
    expectTypeOf<Filled<Of<'EventFormat'>>>().toExtend<rx.EventFormat>();
    expectTypeOf<Filled<Of<'TransactionFormat'>>>().toExtend<TransactionFormat>();
    expectTypeOf<Filled<Of<'UpdateFormat'>>>().toExtend<rx.UpdateFormat>();
  });

  it('unless the ledger rejects it', () => {
    expectTypeOf<S35['TransactionFormat']['transactionShape']>().not.toExtend<TransactionShape>();
    expectTypeOf<S35['GetUpdatesRequest']>().not.toExtend<rx.UpdatesRequest>();
    expectTypeOf<S35['Signature']>().not.toExtend<rx.Signature>();
  });

  it('for updates, by format or by filter', () => {
    type Wire = S35['GetUpdatesRequest'];
    type WireRange = Pick<Wire, 'beginExclusive' | 'endInclusive'>;
    type ByFormat = Filled<WireRange & Required<Pick<Wire, 'updateFormat'>>>;
    type ByFilter = Filled<WireRange & Required<Pick<Wire, 'filter'>> & Pick<Wire, 'verbose'>>;
    type Descending = Filled<Required<WireRange & Pick<Wire, 'descendingOrder' | 'updateFormat'>>>;
    expectTypeOf<ByFormat>().toExtend<rx.UpdatesRequest>();
    expectTypeOf<ByFilter>().toExtend<rx.UpdatesRequest>();
    expectTypeOf<Descending>().toExtend<rx.UpdatesRequest>();
  });

  it('for an execution, with signatures of known kinds', () => {
    type Execute<S extends { partySignatures: unknown; transactionFormat?: unknown }> = Filled<
      Omit<S, 'partySignatures' | 'minLedgerTime'>
    > & { partySignatures: PartySignatures };
    expectTypeOf<Execute<S34['JsExecuteSubmissionAndWaitForTransactionRequest']>>().toExtend<rx.ExecuteRequest>();
    expectTypeOf<Execute<S35['JsExecuteSubmissionAndWaitForTransactionRequest']>>().toExtend<rx.ExecuteRequest>();
  });

  it('for a preparation, with the contract ids of what it discloses', () => {
    type Prepare<S> = Omit<S, 'disclosedContracts' | 'minLedgerTime'>;
    expectTypeOf<Prepare<S34['JsPrepareSubmissionRequest']>>().toExtend<rx.PrepareRequest>();
    expectTypeOf<Prepare<S35['JsPrepareSubmissionRequest']>>().toExtend<rx.PrepareRequest>();
    expectTypeOf<Required<S35['DisclosedContract']>>().toExtend<
      NonNullable<rx.PrepareRequest['disclosedContracts']>[number]
    >();
  });
});

describe('a published answer equals that of the library', () => {
  type SameValues<Theirs, Ours> = {
    [K in keyof Theirs & keyof Ours]: Exclude<Theirs[K], undefined> extends Exclude<Ours[K], undefined> ? never : K;
  }[keyof Theirs & keyof Ours];

  it('field by field, but for the events', () => {
    expectTypeOf<SameValues<S35['JsTransaction'], rx.Transaction>>().toEqualTypeOf<'events'>();
    expectTypeOf<SameValues<S34['JsTransaction'], rx.Transaction>>().toEqualTypeOf<'events'>();
    expectTypeOf<SameValues<S35['CreatedEvent'], rx.CreatedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['ArchivedEvent'], rx.ArchivedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['ExercisedEvent'], rx.ExercisedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['UnassignedEvent'], rx.UnassignedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['OffsetCheckpoint1'], rx.OffsetCheckpoint>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['TraceContext'], TraceContext>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['JsCantonError'], JsCantonError>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['JsPrepareSubmissionResponse'], rx.PreparedSubmission>>().toEqualTypeOf<never>();
    expectTypeOf<S35['JsPrepareSubmissionResponse']['hashingSchemeVersion']>().toExtend<HashingSchemeVersion>();
  });
});
