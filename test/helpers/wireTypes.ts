import type { Command } from '../../src/codecs/Command.js';
import type { ViewStatus } from '../../src/codecs/Event.js';
import type { CumulativeFilter } from '../../src/codecs/Filters.js';
import type { PreparedSubmission, PrepareRequest } from '../../src/codecs/SubmissionRequest.js';
import type { TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import type { UpdateFormat } from '../../src/codecs/UpdateFormat.js';
import type { UpdatesRange, UpdatesRequest } from '../../src/codecs/UpdatesRequest.js';

export type { CumulativeFilter };

/** The parts of messages that the library does not export by name, and the tests generate or compare. */
export type IdentifierFilter = NonNullable<CumulativeFilter['identifierFilter']>;
export type WildcardFilter = ValueOf<IdentifierFilter, 'WildcardFilter'>;
export type TemplateFilter = ValueOf<IdentifierFilter, 'TemplateFilter'>;
export type InterfaceFilter = ValueOf<IdentifierFilter, 'InterfaceFilter'>;
export type TopologyFormat = NonNullable<UpdateFormat['includeTopologyEvents']>;
export type ParticipantAuthorizationFormat = NonNullable<TopologyFormat['includeParticipantAuthorizationEvents']>;
export type TrafficEstimation = NonNullable<PrepareRequest['estimateTrafficCost']>;
export type PrefetchContractKey = NonNullable<PrepareRequest['prefetchContractKeys']>[number];
export type CostEstimation = NonNullable<PreparedSubmission['costEstimation']>;
export type ProtoAny = NonNullable<ViewStatus['details']>[number];
export type CreateCommand = Under<Command, 'CreateCommand'>;
export type ExerciseByKeyCommand = Under<Command, 'ExerciseByKeyCommand'>;
export type CreateAndExerciseCommand = Under<Command, 'CreateAndExerciseCommand'>;
export type ParticipantAuthorizationAdded = Tagged<'ParticipantAuthorizationAdded'>;
export type ParticipantAuthorizationChanged = Tagged<'ParticipantAuthorizationChanged'>;
export type ParticipantAuthorizationOnboarding = Tagged<'ParticipantAuthorizationOnboarding'>;
export type ParticipantAuthorizationRevoked = Tagged<'ParticipantAuthorizationRevoked'>;
export type UnknownTopologyEvent = Tagged<'UnknownTopologyEvent'>;

export type UpdatesSelection = WithoutRange<UpdatesRequest>;

type WithoutRange<A> = A extends unknown ? Omit<A, keyof UpdatesRange> : never;
type Under<A, K extends string> = A extends Readonly<Record<K, infer V>> ? V : never;
type ValueOf<A, K extends string> = Under<Under<A, K>, 'value'>;
type Tagged<T extends TopologyEvent['_tag']> = Extract<TopologyEvent, { readonly _tag: T }>;
