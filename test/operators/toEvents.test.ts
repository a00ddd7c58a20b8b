import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { mergeMap, of, Subject, take, type Observable, type OperatorFunction } from 'rxjs';
import type { Event } from '../../src/codecs/Event.js';
import type { ReassignmentEvent } from '../../src/codecs/Reassignment.js';
import type { TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/ofVariant.js';
import { onSynchronizer } from '../../src/operators/onSynchronizer.js';
import { toEvents } from '../../src/operators/toEvents.js';
import {
  added,
  assigned,
  at,
  checkpoint,
  created,
  eventsByLetter as events,
  exercised,
  GLOBAL,
  reassignment,
  topology,
  transaction,
  unassigned,
  unknownEvent,
  unknownTopologyEvent,
  unknownUpdate,
} from './samples.js';
import { marbles } from '../helpers/time.js';

const updates: Record<string, Update> = {
  1: transaction({ events: [created()] }),
  3: transaction({ events: [created(), exercised(), unknownEvent] }),
  0: transaction({ events: [] }),
  u: reassignment({ events: [unassigned()] }),
  s: reassignment({ events: [assigned()] }),
  t: topology({ events: [added, unknownTopologyEvent] }),
  c: checkpoint({ synchronizerId: GLOBAL, recordTime: at(1) }),
  k: unknownUpdate({ value: { offset: 8, events: [created()] } }),
};

describe('toEvents', () => {
  it('emits the events of transactions in their order', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --1--3------0-1--|', updates);
      const subs = '         ^----------------!';
      const expected = '     --c--(cxk)----c--|';

      expectObservable(source.pipe(toEvents())).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('emits the events of reassignments, a created event within its assignment', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --u-s--|', updates);
      const subs = '         ^------!';
      const expected = '     --u-s--|';

      expectObservable(source.pipe(toEvents())).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('emits the events of topology transactions', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-----|', updates);
      const subs = '         ^-------!';
      const expected = '     --(tn)--|';

      expectObservable(source.pipe(toEvents())).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('emits nothing for checkpoints and updates of an unknown variant', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-k-1-c--|', updates);
      const subs = '         ^----------!';
      const expected = '     ------c----|';

      expectObservable(source.pipe(toEvents())).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('emits synchronously', () => {
    const seen: string[] = [];
    of(...['3', 's', 't'].flatMap((key) => updates[key] ?? []))
      .pipe(toEvents())
      .subscribe({ next: (event) => seen.push(event._tag), error: () => seen.push('error') });

    expect(seen).toStrictEqual([
      'CreatedEvent',
      'ExercisedEvent',
      'UnknownEvent',
      'AssignedEvent',
      'ParticipantAuthorizationAdded',
      'UnknownTopologyEvent',
    ]);
  });

  it('keeps the order if an update arrives while another is emitted', () => {
    const source = new Subject<Update>();
    const seen: number[] = [];
    const subscription = source.pipe(ofVariant('Transaction'), toEvents()).subscribe({
      next: ({ offset }) => {
        seen.push(offset);
        if (offset === 1) source.next(transaction({ events: [created({ offset: 3 })] }));
      },
      error: () => seen.push(-1),
    });
    source.next(transaction({ events: [created({ offset: 1 }), created({ offset: 2 })] }));
    subscription.unsubscribe();

    expect(seen).toStrictEqual([1, 2, 3]);
  });

  it('completes if the source is empty', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('|   ');
      const subs = '               (^!)';
      const expected = '           |   ';

      expectObservable(source.pipe(toEvents())).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('never emits if the source never emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('-');
      const subs = '               ^';
      const expected = '           -';

      expectObservable(source.pipe(toEvents())).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('delivers the error of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --3------#', updates);
      const subs = '         ^--------!';
      const expected = '     --(cxk)--#';

      expectObservable(source.pipe(toEvents())).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --1-1-1--|', updates);
      const unsub = '        -----!    ';
      const subs = '         ^----!    ';
      const expected = '     --c-c-    ';

      const result = source.pipe(
        mergeMap((update) => of(update)),
        toEvents(),
        mergeMap((event) => of(event)),
      );
      expectObservable(result, unsub).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('stops within an update when it is unsubscribed there', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --3-------|', updates);
      const subs = '         ^-!        ';
      const expected = '     --(cx|)    ';

      expectObservable(source.pipe(toEvents(), take(2))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --1-c-1--|   ', updates);
      const subs1 = '        ^--------!   ';
      const subs2 = '        ---^--------!';
      const expected1 = '    --c---c--|   ';
      const expected2 = '    -----c---c--|';

      const result = source.pipe(toEvents());
      expectObservable(result, '^            ').toBe(expected1, events);
      expectObservable(result, '---^         ').toBe(expected2, events);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('has the type of the events of the updates', () => {
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(feed.pipe(toEvents())).toEqualTypeOf<Observable<Event | ReassignmentEvent | TopologyEvent>>();
    expectTypeOf(feed.pipe(ofVariant('Transaction'), toEvents())).toEqualTypeOf<Observable<Event>>();
    expectTypeOf(feed.pipe(ofVariant('Reassignment'), onSynchronizer(GLOBAL), toEvents())).toEqualTypeOf<
      Observable<ReassignmentEvent>
    >();
    expectTypeOf(feed.pipe(ofVariant('TopologyTransaction', 'OffsetCheckpoint'), toEvents())).toEqualTypeOf<
      Observable<TopologyEvent>
    >();
    expectTypeOf(feed.pipe(ofVariant('OffsetCheckpoint'), toEvents())).toEqualTypeOf<Observable<never>>();
    expectTypeOf(toEvents()).toExtend<OperatorFunction<Update, Event | ReassignmentEvent | TopologyEvent>>();

    // @ts-expect-error -- updates only
    void of(created()).pipe(toEvents());
  });
});
