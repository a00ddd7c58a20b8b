import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { EMPTY, filter, map, mergeMap, type Observable, pipe } from 'rxjs';
import { contractType } from '../../../src/codecs/ContractType.js';
import type { ArchivedEvent, CreatedEvent, TransactionEvent, ExercisedEvent } from '../../../src/codecs/Event.js';
import type { OffsetCheckpoint } from '../../../src/codecs/OffsetCheckpoint.js';
import type { AssignedEvent, ReassignmentEvent } from '../../../src/codecs/Reassignment.js';
import type { UnknownUpdate, Update } from '../../../src/codecs/Update.js';
import type { UndecodedUpdate } from '../../../src/feed/Page.js';
import type { AssignedEventOf, CreatedEventOf, UndecodedEvent } from '../../../src/operators/ContractEvent.js';
import { type FilteredUpdate, filterEvents } from '../../../src/operators/filterEvents.js';
import { ofEvent, ofVariant } from '../../../src/operators/byTag.js';
import { ofTemplate } from '../../../src/operators/ofTemplate.js';
import { type EventOf, toEvents } from '../../../src/operators/toEvents.js';

/** Types, which `npm run typecheck` proves: Jest does not check them. */

const Iou = contractType('#finance:Main:Iou', t.type({ owner: t.string }));
const updates$: Observable<Update> = EMPTY;

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
    const withInvalid$: Observable<Update | UndecodedUpdate> = EMPTY;
    const created$ = withInvalid$.pipe(filterEvents(ofEvent('CreatedEvent')));
    expectTypeOf(created$).toEqualTypeOf<Observable<FilteredUpdate<Update | UndecodedUpdate, CreatedEvent>>>();
    expectTypeOf(created$.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<Observable<UndecodedUpdate>>();
  });

  it('accepts only updates', () => {
    expectTypeOf(some$.pipe(toEvents())).toExtend<Observable<EventOf<Update>>>();
    const events$: Observable<TransactionEvent> = EMPTY;
    // @ts-expect-error -- events are not updates
    void events$.pipe(filterEvents(ofEvent('CreatedEvent')));
    // @ts-expect-error -- no such kind
    void updates$.pipe(filterEvents(ofEvent('Created')));
  });
});
