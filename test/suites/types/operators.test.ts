import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { either as E } from 'fp-ts';
import * as t from 'io-ts';
import {
  EMPTY,
  filter,
  map,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  type OperatorFunction,
  pipe,
} from 'rxjs';
import type { FilteredUpdate } from '../../../src/operators/filterEvents.js';
import {
  type ArchivedEvent,
  type AssignedEvent,
  type AssignedEventOf,
  contractType,
  type CreatedEvent,
  type CreatedEventOf,
  type EventOf,
  type ExercisedEvent,
  filterEvents,
  type LedgerError,
  ofEvent,
  type OffsetCheckpoint,
  ofTemplate,
  ofVariant,
  onSynchronizer,
  type Reassignment,
  type ReassignmentEvent,
  recordTimes,
  type Timestamp,
  toEither,
  toEvents,
  type TopologyEvent,
  type Transaction,
  type TransactionEvent,
  type UnassignedEvent,
  type UndecodedEvent,
  type UndecodedUpdate,
  type UnknownUpdate,
  type Update,
} from '../../../src/index.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string }));
const updates$: Observable<Update> = EMPTY;
const withInvalid$: Observable<Update | UndecodedUpdate> = EMPTY;
const events$: Observable<EventOf<Update>> = EMPTY;
const ofTransactions$: Observable<TransactionEvent> = EMPTY;

/** The events of updates, one by one. */
const toEach = <E>() => mergeMap(({ events }: { readonly events: readonly E[] }) => events);

const isUndecoded = <E extends { readonly _tag: string }>(event: E): event is Extract<E, UndecodedEvent> =>
  event._tag === 'UndecodedEvent';

const filtered$ = updates$.pipe(filterEvents(ofEvent('CreatedEvent', 'AssignedEvent')));
const decoded$ = updates$.pipe(filterEvents(ofTemplate(Iou)));
const emitted$ = updates$.pipe(filterEvents(ofTemplate(Iou, { onUndecodable: 'emit' })));
const some$ = updates$.pipe(filterEvents(filter(({ _tag }) => _tag.length > 3)));

describe('filterEvents', () => {
  it('narrows the events of each variant', () => {
    expectTypeOf(
      filtered$.pipe(
        ofVariant('Transaction'),
        map(({ events }) => events),
      ),
    ).toEqualTypeOf<Observable<readonly CreatedEvent[]>>();
    expectTypeOf(
      filtered$.pipe(
        ofVariant('Reassignment'),
        map(({ events }) => events),
      ),
    ).toEqualTypeOf<Observable<readonly AssignedEvent[]>>();
    expectTypeOf(
      filtered$.pipe(
        ofVariant('TopologyTransaction'),
        map(({ events }) => events),
      ),
    ).toEqualTypeOf<Observable<readonly never[]>>();
    expectTypeOf(filtered$.pipe(ofVariant('OffsetCheckpoint'))).toEqualTypeOf<Observable<OffsetCheckpoint>>();
    expectTypeOf(filtered$.pipe(ofVariant('UnknownUpdate'))).toEqualTypeOf<Observable<UnknownUpdate>>();
    expectTypeOf(filtered$.pipe(map(({ offset }) => offset))).toEqualTypeOf<Observable<number>>();
  });

  it('gives the events that a contract type decodes', () => {
    expectTypeOf(decoded$.pipe(ofVariant('Transaction'), toEach(), ofEvent('CreatedEvent'))).toEqualTypeOf<
      Observable<CreatedEventOf<typeof Iou>>
    >();
    expectTypeOf(decoded$.pipe(ofVariant('Transaction'), toEach(), ofEvent('ArchivedEvent'))).toEqualTypeOf<
      Observable<ArchivedEvent>
    >();
    expectTypeOf(decoded$.pipe(ofVariant('Reassignment'), toEach(), ofEvent('AssignedEvent'))).toEqualTypeOf<
      Observable<AssignedEventOf<typeof Iou>>
    >();
    expectTypeOf(emitted$.pipe(ofVariant('Transaction'), toEach(), filter(isUndecoded))).toEqualTypeOf<
      Observable<UndecodedEvent<'#finance:Main:Iou'>>
    >();
  });

  it('keeps a type that has the tags of several variants', () => {
    const brief$ = updates$.pipe(filterEvents(map(({ _tag }) => ({ _tag, isBrief: true }))));
    interface Brief {
      _tag: EventOf<Update>['_tag'];
      isBrief: boolean;
    }
    expectTypeOf(brief$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<Observable<Brief>>();
    expectTypeOf(brief$.pipe(ofVariant('Reassignment'), toEach())).toEqualTypeOf<Observable<Brief>>();
    const tags$ = updates$.pipe(filterEvents(map(({ _tag }) => _tag)));
    expectTypeOf(tags$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<Observable<EventOf<Update>['_tag']>>();
  });

  it('takes several operators, predicates and type guards', () => {
    const created$ = updates$.pipe(filterEvents(pipe(ofTemplate(Iou), ofEvent('CreatedEvent'))));
    expectTypeOf(created$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<
      Observable<CreatedEventOf<typeof Iou>>
    >();
    const exercised$ = updates$.pipe(filterEvents(filter((event) => event._tag === 'ExercisedEvent')));
    expectTypeOf(exercised$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<Observable<ExercisedEvent>>();
    expectTypeOf(some$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<Observable<TransactionEvent>>();
    expectTypeOf(some$.pipe(ofVariant('Reassignment'), toEach())).toEqualTypeOf<Observable<ReassignmentEvent>>();
  });

  it('accepts invalid updates, and passes them with their type', () => {
    const created$ = withInvalid$.pipe(filterEvents(ofEvent('CreatedEvent')));
    expectTypeOf(created$).toEqualTypeOf<Observable<FilteredUpdate<Update | UndecodedUpdate, CreatedEvent>>>();
    expectTypeOf(created$.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<Observable<UndecodedUpdate>>();
  });

  it('accepts only updates', () => {
    expectTypeOf(some$.pipe(toEvents())).toExtend<Observable<EventOf<Update>>>();
    // @ts-expect-error -- events are not updates
    void ofTransactions$.pipe(filterEvents(ofEvent('CreatedEvent')));
    // @ts-expect-error -- no such kind
    void updates$.pipe(filterEvents(ofEvent('Created')));
  });
});

describe('ofVariant', () => {
  it('narrows the type', () => {
    expectTypeOf(updates$.pipe(ofVariant('Transaction'))).toEqualTypeOf<Observable<Transaction>>();
    expectTypeOf(updates$.pipe(ofVariant('Transaction', 'OffsetCheckpoint'))).toEqualTypeOf<
      Observable<Transaction | OffsetCheckpoint>
    >();
    const again$ = updates$.pipe(ofVariant('Transaction', 'Reassignment'), ofVariant('Reassignment'));
    expectTypeOf(again$.pipe(map((update) => update.events))).toEqualTypeOf<Observable<Reassignment['events']>>();
    expectTypeOf(withInvalid$.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<Observable<UndecodedUpdate>>();
    expectTypeOf(ofVariant('Transaction')).toExtend<OperatorFunction<Update, Transaction>>();
    // @ts-expect-error -- no such variant
    void updates$.pipe(ofVariant('Transacton'));
    // @ts-expect-error -- at least one
    void updates$.pipe(ofVariant());
    // @ts-expect-error -- none is left
    void updates$.pipe(ofVariant('Transaction'), ofVariant('Reassignment'));
    // @ts-expect-error -- a feed has no such update without onUndecodable: 'emit'
    void updates$.pipe(ofVariant('UndecodedUpdate'));
  });
});

describe('ofEvent', () => {
  it('narrows the type', () => {
    expectTypeOf(events$.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<Observable<CreatedEvent>>();
    expectTypeOf(events$.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<
      Observable<AssignedEvent | CreatedEvent>
    >();
    expectTypeOf(ofTransactions$.pipe(ofEvent('ArchivedEvent'))).toEqualTypeOf<Observable<ArchivedEvent>>();
    const created$ = updates$.pipe(toEvents(), ofEvent('CreatedEvent'));
    expectTypeOf(created$.pipe(map((event) => event.contractId))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(ofEvent('CreatedEvent')).toExtend<OperatorFunction<EventOf<Update>, CreatedEvent>>();
    // @ts-expect-error -- no such kind
    void events$.pipe(ofEvent('Created'));
    // @ts-expect-error -- at least one
    void events$.pipe(ofEvent());
    // @ts-expect-error -- a transaction has no such event
    void ofTransactions$.pipe(ofEvent('AssignedEvent'));
  });

  it('accepts only streams of events', () => {
    const reassignments$: Observable<ReassignmentEvent> = EMPTY;
    const topology$: Observable<TopologyEvent> = EMPTY;
    const mixed$: Observable<TransactionEvent | ReassignmentEvent | TopologyEvent> = EMPTY;
    const none$: Observable<never> = EMPTY;
    expectTypeOf(reassignments$.pipe(ofEvent('AssignedEvent'))).toEqualTypeOf<Observable<AssignedEvent>>();
    expectTypeOf(topology$.pipe(ofEvent('ParticipantAuthorizationAdded'))).toEqualTypeOf<
      Observable<Extract<TopologyEvent, { readonly _tag: 'ParticipantAuthorizationAdded' }>>
    >();
    expectTypeOf(mixed$.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<
      Observable<AssignedEvent | CreatedEvent>
    >();
    expectTypeOf(none$.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<Observable<never>>();
    expectTypeOf(pipe(toEvents(), ofEvent('CreatedEvent'))).toExtend<OperatorFunction<Update, CreatedEvent>>();
    // @ts-expect-error -- updates: toEvents() first
    void updates$.pipe(ofEvent('CreatedEvent'));
    // @ts-expect-error -- transactions: toEvents() first
    void updates$.pipe(ofVariant('Transaction'), ofEvent('CreatedEvent'));
    // @ts-expect-error -- elements that do not decode have no events
    void withInvalid$.pipe(ofEvent('CreatedEvent'));
  });
});

describe('ofTemplate', () => {
  it('narrows the type to events that have a template', () => {
    const id = 'Finance.Bonds:Bond';
    type TemplateEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent;
    expectTypeOf(events$.pipe(ofTemplate(id))).toEqualTypeOf<Observable<TemplateEvent>>();
    expectTypeOf(ofTransactions$.pipe(ofTemplate(id))).toEqualTypeOf<
      Observable<CreatedEvent | ArchivedEvent | ExercisedEvent>
    >();
    expectTypeOf(events$.pipe(ofEvent('CreatedEvent'), ofTemplate(id))).toEqualTypeOf<Observable<CreatedEvent>>();
    const archived$ = updates$.pipe(toEvents(), ofTemplate(id), ofEvent('ArchivedEvent'));
    expectTypeOf(archived$.pipe(map((event) => event.templateId))).toEqualTypeOf<Observable<string>>();
    expectTypeOf(ofTemplate(id)).toExtend<OperatorFunction<EventOf<Update>, TemplateEvent>>();
    // @ts-expect-error -- updates: toEvents() first
    void updates$.pipe(ofTemplate(id));
    // @ts-expect-error -- at least one
    expect(() => events$.pipe(ofTemplate())).toThrow(TypeError);
  });
});

describe('onSynchronizer', () => {
  it('keeps the type', () => {
    expectTypeOf(updates$.pipe(onSynchronizer('a'))).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(updates$.pipe(ofVariant('Transaction'), onSynchronizer('a'))).toEqualTypeOf<Observable<Transaction>>();
    expectTypeOf(onSynchronizer('a')).toExtend<MonoTypeOperatorFunction<Update>>();
    // @ts-expect-error -- at least one
    void updates$.pipe(onSynchronizer());
    // @ts-expect-error -- updates only
    void of('update').pipe(onSynchronizer('a'));
  });
});

describe('recordTimes', () => {
  it('has a read-only type', () => {
    type Times = ReadonlyMap<string, Timestamp>;
    expectTypeOf(updates$.pipe(recordTimes())).toEqualTypeOf<Observable<Times>>();
    expectTypeOf(updates$.pipe(ofVariant('OffsetCheckpoint'), recordTimes())).toEqualTypeOf<Observable<Times>>();
    expectTypeOf(recordTimes()).toEqualTypeOf<OperatorFunction<Update, Times>>();
    // @ts-expect-error -- updates only
    void of('update').pipe(recordTimes());
  });
});

describe('toEither', () => {
  it('has the type of the values and of the ledger errors', () => {
    expectTypeOf(updates$.pipe(toEither())).toEqualTypeOf<Observable<E.Either<LedgerError, Update>>>();
    expectTypeOf(toEither<number>()).toEqualTypeOf<OperatorFunction<number, E.Either<LedgerError, number>>>();
  });
});

describe('toEvents', () => {
  it('has the type of the events of the updates', () => {
    expectTypeOf(updates$.pipe(toEvents())).toEqualTypeOf<
      Observable<TransactionEvent | ReassignmentEvent | TopologyEvent>
    >();
    expectTypeOf(updates$.pipe(ofVariant('Transaction'), toEvents())).toEqualTypeOf<Observable<TransactionEvent>>();
    expectTypeOf(updates$.pipe(ofVariant('Reassignment'), onSynchronizer('a'), toEvents())).toEqualTypeOf<
      Observable<ReassignmentEvent>
    >();
    expectTypeOf(updates$.pipe(ofVariant('TopologyTransaction', 'OffsetCheckpoint'), toEvents())).toEqualTypeOf<
      Observable<TopologyEvent>
    >();
    expectTypeOf(updates$.pipe(ofVariant('OffsetCheckpoint'), toEvents())).toEqualTypeOf<Observable<never>>();
    // @ts-expect-error -- updates only
    void events$.pipe(toEvents());
  });
});

/** A service with annotated fields: the expected type of a pipe must not change the inference of its operators. */
class Service {
  readonly transactions$: Observable<Transaction> = updates$.pipe(ofVariant('Transaction'));
  readonly onSync1$: Observable<Transaction> = updates$.pipe(ofVariant('Transaction'), onSynchronizer('sync1'));
  readonly onSync1First$: Observable<Transaction> = updates$.pipe(onSynchronizer('sync1'), ofVariant('Transaction'));
  readonly events$: Observable<TransactionEvent> = updates$.pipe(ofVariant('Transaction'), toEvents());
  readonly created$: Observable<CreatedEvent> = updates$.pipe(toEvents(), ofEvent('CreatedEvent'));
  readonly assets$: Observable<CreatedEvent> = updates$.pipe(
    toEvents(),
    ofEvent('CreatedEvent'),
    ofTemplate('Main:Asset'),
  );
  readonly assetsFirst$: Observable<CreatedEvent> = updates$.pipe(
    toEvents(),
    ofTemplate('Main:Asset'),
    ofEvent('CreatedEvent'),
  );
  readonly invalid$: Observable<UndecodedUpdate> = withInvalid$.pipe(ofVariant('UndecodedUpdate'));
  readonly clock$: Observable<ReadonlyMap<string, Timestamp>> = updates$.pipe(recordTimes());
  readonly either$: Observable<E.Either<LedgerError, Transaction>> = updates$.pipe(
    ofVariant('Transaction'),
    toEither(),
  );
  // @ts-expect-error -- a checkpoint is not a transaction
  readonly wrong$: Observable<Transaction> = updates$.pipe(ofVariant('OffsetCheckpoint'));
}

describe('an operator', () => {
  it('narrows to the type of an annotated field', () => {
    expect(Object.values(new Service())).toHaveLength(11);
  });
});
