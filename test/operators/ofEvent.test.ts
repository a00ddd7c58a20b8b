import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, mergeMap, of, type Observable, type OperatorFunction, pipe } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, Event } from '../../src/codecs/Event.js';
import type { AssignedEvent, ReassignmentEvent } from '../../src/codecs/Reassignment.js';
import type { ParticipantAuthorizationAdded, TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import type { Update } from '../../src/codecs/Update.js';
import type { InvalidUpdate } from '../../src/feed/UpdatesOptions.js';
import { ofEvent } from '../../src/operators/ofEvent.js';
import { ofVariant } from '../../src/operators/ofVariant.js';
import { type EventOf, toEvents } from '../../src/operators/toEvents.js';
import { added, assigned, created, eventsByLetter as events } from './samples.js';
import { marbles } from '../helpers/time.js';

describe('ofEvent', () => {
  it('passes the events of one kind', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-a-x-k-u-s-t-n-c--|', events);
      const subs = '         ^--------------------!';
      const expected = '     --c---------------c--|';

      expectObservable(source.pipe(ofEvent('CreatedEvent'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes the events of several kinds in their order', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-a-x-k-u-s-t-n--|', events);
      const subs = '         ^------------------!';
      const expected = '     ----a-----u---t----|';

      const result = source.pipe(ofEvent('ParticipantAuthorizationAdded', 'UnassignedEvent', 'ArchivedEvent'));
      expectObservable(result).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('does not pass the created event of an assignment', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --s-s--|', events);
      const subs = '         ^------!';
      const expected = '     -------|';

      expectObservable(source.pipe(ofEvent('CreatedEvent'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('completes if the source is empty', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('|   ');
      const subs = '              (^!)';
      const expected = '          |   ';

      expectObservable(source.pipe(ofEvent('CreatedEvent'))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('never emits if the source never emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('-');
      const subs = '              ^';
      const expected = '          -';

      expectObservable(source.pipe(ofEvent('CreatedEvent'))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('delivers the error of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-a-#', events);
      const subs = '         ^-----!';
      const expected = '     --c---#';

      expectObservable(source.pipe(ofEvent('CreatedEvent'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-c-c--|', events);
      const unsub = '        -----!    ';
      const subs = '         ^----!    ';
      const expected = '     --c-c-    ';

      const result = source.pipe(
        mergeMap((event) => of(event)),
        ofEvent('CreatedEvent'),
        mergeMap((event) => of(event)),
      );
      expectObservable(result, unsub).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-a-c--|   ', events);
      const subs1 = '        ^--------!   ';
      const subs2 = '        ---^--------!';
      const expected1 = '    --c---c--|   ';
      const expected2 = '    -----c---c--|';

      const result = source.pipe(ofEvent('CreatedEvent'));
      expectObservable(result, '^            ').toBe(expected1, events);
      expectObservable(result, '---^         ').toBe(expected2, events);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('narrows the type', () => {
    const all: Observable<EventOf<Update>> = of(created());
    const ofTransactions: Observable<Event> = of(created());
    const feed: Observable<Update> = of();

    expectTypeOf(all.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<Observable<CreatedEvent>>();
    expectTypeOf(all.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<
      Observable<AssignedEvent | CreatedEvent>
    >();
    expectTypeOf(ofTransactions.pipe(ofEvent('ArchivedEvent'))).toEqualTypeOf<Observable<ArchivedEvent>>();
    expectTypeOf(
      feed.pipe(
        toEvents(),
        ofEvent('CreatedEvent'),
        map((event) => event.contractId),
      ),
    ).toEqualTypeOf<Observable<string>>();
    expectTypeOf(ofEvent('CreatedEvent')).toExtend<OperatorFunction<EventOf<Update>, CreatedEvent>>();

    // @ts-expect-error -- no such kind
    void all.pipe(ofEvent('Created'));
    // @ts-expect-error -- at least one
    void all.pipe(ofEvent());
    expectTypeOf(ofTransactions.pipe(ofEvent('AssignedEvent'))).toEqualTypeOf<Observable<never>>();
  });

  it('accepts only streams of events', () => {
    const ofReassignments: Observable<ReassignmentEvent> = of(assigned());
    const ofTopology: Observable<TopologyEvent> = of(added);
    const mixed: Observable<Event | ReassignmentEvent | TopologyEvent> = of(created());
    const feed: Observable<Update> = of();
    const withInvalid: Observable<Update | InvalidUpdate> = of();
    const none: Observable<never> = of();

    expectTypeOf(ofReassignments.pipe(ofEvent('AssignedEvent'))).toEqualTypeOf<Observable<AssignedEvent>>();
    expectTypeOf(ofTopology.pipe(ofEvent('ParticipantAuthorizationAdded'))).toEqualTypeOf<
      Observable<ParticipantAuthorizationAdded>
    >();
    expectTypeOf(mixed.pipe(ofEvent('AssignedEvent', 'CreatedEvent'))).toEqualTypeOf<
      Observable<AssignedEvent | CreatedEvent>
    >();
    expectTypeOf(none.pipe(ofEvent('CreatedEvent'))).toEqualTypeOf<Observable<never>>();
    expectTypeOf(pipe(toEvents(), ofEvent('CreatedEvent'))).toExtend<OperatorFunction<Update, CreatedEvent>>();

    // @ts-expect-error -- updates: toEvents() first
    void feed.pipe(ofEvent('CreatedEvent'));
    // @ts-expect-error -- transactions: toEvents() first
    void feed.pipe(ofVariant('Transaction'), ofEvent('CreatedEvent'));
    // @ts-expect-error -- elements that do not decode have no events
    void withInvalid.pipe(ofEvent('CreatedEvent'));
  });
});
