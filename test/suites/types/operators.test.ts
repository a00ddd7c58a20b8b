import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { either as E } from 'fp-ts';
import * as t from 'io-ts';
import {
  EMPTY,
  filter,
  isObservable,
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

/** The type of the elements of a stream. */
const elementsOf = <A>(source$: Observable<A>) => {
  expect(isObservable(source$)).toBe(true);
  return expectTypeOf<A>();
};

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
    elementsOf(filtered$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<CreatedEvent>();
    elementsOf(filtered$.pipe(ofVariant('Reassignment'), toEach())).toEqualTypeOf<AssignedEvent>();
    elementsOf(filtered$.pipe(ofVariant('TopologyTransaction'), toEach())).toEqualTypeOf<never>();
    elementsOf(filtered$.pipe(ofVariant('OffsetCheckpoint'))).toEqualTypeOf<OffsetCheckpoint>();
    elementsOf(filtered$.pipe(ofVariant('UnknownUpdate'))).toEqualTypeOf<UnknownUpdate>();
    elementsOf(filtered$.pipe(map(({ offset }) => offset))).toEqualTypeOf<number>();
  });

  it('gives the events that a contract type decodes', () => {
    elementsOf(decoded$.pipe(ofVariant('Transaction'), toEach(), ofEvent('CreatedEvent'))).toEqualTypeOf<
      CreatedEventOf<typeof Iou>
    >();
    elementsOf(
      decoded$.pipe(ofVariant('Transaction'), toEach(), ofEvent('ArchivedEvent')),
    ).toEqualTypeOf<ArchivedEvent>();
    elementsOf(decoded$.pipe(ofVariant('Reassignment'), toEach(), ofEvent('AssignedEvent'))).toEqualTypeOf<
      AssignedEventOf<typeof Iou>
    >();
    elementsOf(emitted$.pipe(ofVariant('Transaction'), toEach(), filter(isUndecoded))).toEqualTypeOf<
      UndecodedEvent<'#finance:Main:Iou'>
    >();
  });

  it('keeps a type that has the tags of several variants', () => {
    const brief$ = updates$.pipe(filterEvents(map(({ _tag }) => ({ _tag, isBrief: true }))));
    interface Brief {
      _tag: EventOf<Update>['_tag'];
      isBrief: boolean;
    }
    elementsOf(brief$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<Brief>();
    elementsOf(brief$.pipe(ofVariant('Reassignment'), toEach())).toEqualTypeOf<Brief>();
    const tags$ = updates$.pipe(filterEvents(map(({ _tag }) => _tag)));
    elementsOf(tags$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<EventOf<Update>['_tag']>();
  });

  it('takes several operators, predicates and type guards', () => {
    const created$ = updates$.pipe(filterEvents(pipe(ofTemplate(Iou), ofEvent('CreatedEvent'))));
    elementsOf(created$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<CreatedEventOf<typeof Iou>>();
    const exercised$ = updates$.pipe(filterEvents(filter((event) => event._tag === 'ExercisedEvent')));
    elementsOf(exercised$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<ExercisedEvent>();
    elementsOf(some$.pipe(ofVariant('Transaction'), toEach())).toEqualTypeOf<TransactionEvent>();
    elementsOf(some$.pipe(ofVariant('Reassignment'), toEach())).toEqualTypeOf<ReassignmentEvent>();
  });

  it('accepts invalid updates, and passes them with their type', () => {
    const created$ = withInvalid$.pipe(filterEvents(ofEvent('CreatedEvent')));
    elementsOf(created$).toEqualTypeOf<FilteredUpdate<Update | UndecodedUpdate, CreatedEvent>>();
    elementsOf(created$.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<UndecodedUpdate>();
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
    elementsOf(updates$.pipe(ofVariant('Transaction'))).toEqualTypeOf<Transaction>();
    elementsOf(updates$.pipe(ofVariant('Transaction', 'OffsetCheckpoint'))).toEqualTypeOf<
      Transaction | OffsetCheckpoint
    >();
    const again$ = updates$.pipe(ofVariant('Transaction', 'Reassignment'), ofVariant('Reassignment'));
    elementsOf(again$.pipe(map((update) => update.events))).toEqualTypeOf<Reassignment['events']>();
    elementsOf(withInvalid$.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<UndecodedUpdate>();
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
    elementsOf(events$.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<CreatedEvent>();
    elementsOf(events$.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<AssignedEvent | CreatedEvent>();
    elementsOf(ofTransactions$.pipe(ofEvent('ArchivedEvent'))).toEqualTypeOf<ArchivedEvent>();
    const created$ = updates$.pipe(toEvents(), ofEvent('CreatedEvent'));
    elementsOf(created$.pipe(map((event) => event.contractId))).toEqualTypeOf<string>();
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
    elementsOf(reassignments$.pipe(ofEvent('AssignedEvent'))).toEqualTypeOf<AssignedEvent>();
    elementsOf(topology$.pipe(ofEvent('ParticipantAuthorizationAdded'))).toEqualTypeOf<
      Extract<TopologyEvent, { readonly _tag: 'ParticipantAuthorizationAdded' }>
    >();
    elementsOf(mixed$.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<AssignedEvent | CreatedEvent>();
    elementsOf(none$.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<never>();
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
    elementsOf(events$.pipe(ofTemplate(id))).toEqualTypeOf<TemplateEvent>();
    elementsOf(ofTransactions$.pipe(ofTemplate(id))).toEqualTypeOf<CreatedEvent | ArchivedEvent | ExercisedEvent>();
    elementsOf(events$.pipe(ofEvent('CreatedEvent'), ofTemplate(id))).toEqualTypeOf<CreatedEvent>();
    const archived$ = updates$.pipe(toEvents(), ofTemplate(id), ofEvent('ArchivedEvent'));
    elementsOf(archived$.pipe(map((event) => event.templateId))).toEqualTypeOf<string>();
    expectTypeOf(ofTemplate(id)).toExtend<OperatorFunction<EventOf<Update>, TemplateEvent>>();
    // @ts-expect-error -- updates: toEvents() first
    void updates$.pipe(ofTemplate(id));
    // @ts-expect-error -- at least one
    expect(() => events$.pipe(ofTemplate())).toThrow(TypeError);
  });
});

describe('onSynchronizer', () => {
  it('keeps the type', () => {
    elementsOf(updates$.pipe(onSynchronizer('a'))).toEqualTypeOf<Update>();
    elementsOf(updates$.pipe(ofVariant('Transaction'), onSynchronizer('a'))).toEqualTypeOf<Transaction>();
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
    elementsOf(updates$.pipe(recordTimes())).toEqualTypeOf<Times>();
    elementsOf(updates$.pipe(ofVariant('OffsetCheckpoint'), recordTimes())).toEqualTypeOf<Times>();
    expectTypeOf(recordTimes()).toEqualTypeOf<OperatorFunction<Update, Times>>();
    // @ts-expect-error -- updates only
    void of('update').pipe(recordTimes());
  });
});

describe('toEither', () => {
  it('has the type of the values and of the ledger errors', () => {
    elementsOf(updates$.pipe(toEither())).toEqualTypeOf<E.Either<LedgerError, Update>>();
    expectTypeOf(toEither<number>()).toEqualTypeOf<OperatorFunction<number, E.Either<LedgerError, number>>>();
  });
});

describe('toEvents', () => {
  it('has the type of the events of the updates', () => {
    elementsOf(updates$.pipe(toEvents())).toEqualTypeOf<TransactionEvent | ReassignmentEvent | TopologyEvent>();
    elementsOf(updates$.pipe(ofVariant('Transaction'), toEvents())).toEqualTypeOf<TransactionEvent>();
    elementsOf(
      updates$.pipe(ofVariant('Reassignment'), onSynchronizer('a'), toEvents()),
    ).toEqualTypeOf<ReassignmentEvent>();
    elementsOf(
      updates$.pipe(ofVariant('TopologyTransaction', 'OffsetCheckpoint'), toEvents()),
    ).toEqualTypeOf<TopologyEvent>();
    elementsOf(updates$.pipe(ofVariant('OffsetCheckpoint'), toEvents())).toEqualTypeOf<never>();
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
