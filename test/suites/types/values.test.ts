import { describe, it } from '@jest/globals';
import type { v3_4, v3_5 } from '@canton-network/core-ledger-client-types';
import { expectTypeOf } from 'expect-type';
import type { ArchivedEvent, CreatedEvent, ExercisedEvent } from '../../../src/codecs/Event.js';
import type { Command } from '../../../src/codecs/Command.js';
import type {
  DeduplicationPeriod,
  ExecuteRequest,
  PartySignatures,
  Signature,
} from '../../../src/codecs/ExecuteRequest.js';
import type { Duration, MinLedgerTime } from '../../../src/codecs/MinLedgerTime.js';
import type { EventFormat, TransactionFormat, UpdateFormat } from '../../../src/codecs/UpdateFormat.js';
import type { Filters } from '../../../src/codecs/Filters.js';
import type { HashingSchemeVersion } from '../../../src/codecs/scalars.js';
import type { JsCantonError } from '../../../src/codecs/JsCantonError.js';
import type { OffsetCheckpoint, TraceContext } from '../../../src/codecs/OffsetCheckpoint.js';
import type { PreparedSubmission, PrepareRequest } from '../../../src/codecs/SubmissionRequest.js';
import type { Transaction } from '../../../src/codecs/Transaction.js';
import type { UnassignedEvent } from '../../../src/codecs/Reassignment.js';
import type { UpdatesRequest } from '../../../src/codecs/UpdatesRequest.js';
import type {
  TopologyFormat,
  IdentifierFilter,
  PrefetchContractKey,
  TrafficEstimation,
} from '../../helpers/wireTypes.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

type S34 = v3_4.components['schemas'];
type S35 = v3_5.components['schemas'];
type TransactionShape = TransactionFormat['transactionShape'];
/** The schema of each release. */
type Of<K extends keyof S34 & keyof S35> = S34[K] | S35[K];

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
    expectTypeOf<Of<'IdentifierFilter'>>().toExtend<IdentifierFilter>();
    expectTypeOf<Of<'TopologyFormat'>>().toExtend<TopologyFormat>();
    expectTypeOf<Of<'DeduplicationPeriod'>>().toExtend<DeduplicationPeriod>();
    expectTypeOf<Of<'Duration'>>().toExtend<Duration>();
    expectTypeOf<Required<Of<'MinLedgerTime'>>>().toExtend<MinLedgerTime>();
    expectTypeOf<Of<'Command'>>().toExtend<Command>();
    expectTypeOf<Of<'PrefetchContractKey'>>().toExtend<PrefetchContractKey>();
    expectTypeOf<Of<'CostEstimationHints'>>().toExtend<TrafficEstimation>();
  });

  it('in its formats, with an identifier filter and a shape', () => {
    expectTypeOf<Filled<Of<'Filters'>>>().toExtend<Filters>();
    expectTypeOf<Filled<Of<'EventFormat'>>>().toExtend<EventFormat>();
    expectTypeOf<Filled<Of<'TransactionFormat'>>>().toExtend<TransactionFormat>();
    expectTypeOf<Filled<Of<'UpdateFormat'>>>().toExtend<UpdateFormat>();
  });

  it('unless the ledger rejects it', () => {
    expectTypeOf<S35['TransactionFormat']['transactionShape']>().not.toExtend<TransactionShape>();
    expectTypeOf<S35['GetUpdatesRequest']>().not.toExtend<UpdatesRequest>();
    expectTypeOf<S35['Signature']>().not.toExtend<Signature>();
  });

  it('for updates, by format or by filter', () => {
    type Wire = S35['GetUpdatesRequest'];
    type WireRange = Pick<Wire, 'beginExclusive' | 'endInclusive'>;
    type ByFormat = Filled<WireRange & Required<Pick<Wire, 'updateFormat'>>>;
    type ByFilter = Filled<WireRange & Required<Pick<Wire, 'filter'>> & Pick<Wire, 'verbose'>>;
    type Descending = Filled<Required<WireRange & Pick<Wire, 'descendingOrder' | 'updateFormat'>>>;
    expectTypeOf<ByFormat>().toExtend<UpdatesRequest>();
    expectTypeOf<ByFilter>().toExtend<UpdatesRequest>();
    expectTypeOf<Descending>().toExtend<UpdatesRequest>();
  });

  it('for an execution, with signatures of known kinds', () => {
    type Execute<S extends { partySignatures: unknown; transactionFormat?: unknown }> = Filled<
      Omit<S, 'partySignatures' | 'minLedgerTime'>
    > & { partySignatures: PartySignatures };
    expectTypeOf<Execute<S34['JsExecuteSubmissionAndWaitForTransactionRequest']>>().toExtend<ExecuteRequest>();
    expectTypeOf<Execute<S35['JsExecuteSubmissionAndWaitForTransactionRequest']>>().toExtend<ExecuteRequest>();
  });

  it('for a preparation, with the contract ids of what it discloses', () => {
    type Prepare<S> = Omit<S, 'disclosedContracts' | 'minLedgerTime'>;
    expectTypeOf<Prepare<S34['JsPrepareSubmissionRequest']>>().toExtend<PrepareRequest>();
    expectTypeOf<Prepare<S35['JsPrepareSubmissionRequest']>>().toExtend<PrepareRequest>();
    expectTypeOf<Required<S35['DisclosedContract']>>().toExtend<
      NonNullable<PrepareRequest['disclosedContracts']>[number]
    >();
  });
});

describe('a published answer equals that of the library', () => {
  type SameValues<Theirs, Ours> = {
    [K in keyof Theirs & keyof Ours]: Exclude<Theirs[K], undefined> extends Exclude<Ours[K], undefined> ? never : K;
  }[keyof Theirs & keyof Ours];

  it('field by field, but for the events', () => {
    expectTypeOf<SameValues<S35['JsTransaction'], Transaction>>().toEqualTypeOf<'events'>();
    expectTypeOf<SameValues<S34['JsTransaction'], Transaction>>().toEqualTypeOf<'events'>();
    expectTypeOf<SameValues<S35['CreatedEvent'], CreatedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['ArchivedEvent'], ArchivedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['ExercisedEvent'], ExercisedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['UnassignedEvent'], UnassignedEvent>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['OffsetCheckpoint1'], OffsetCheckpoint>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['TraceContext'], TraceContext>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['JsCantonError'], JsCantonError>>().toEqualTypeOf<never>();
    expectTypeOf<SameValues<S35['JsPrepareSubmissionResponse'], PreparedSubmission>>().toEqualTypeOf<never>();
    expectTypeOf<S35['JsPrepareSubmissionResponse']['hashingSchemeVersion']>().toExtend<HashingSchemeVersion>();
  });
});
