import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { of, Subject, take, type Observable, type OperatorFunction } from 'rxjs';
import type { TransactionEvent } from '../../src/codecs/Event.js';
import type { ReassignmentEvent } from '../../src/codecs/Reassignment.js';
import type { TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/byTag.js';
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
  emits,
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
    emits(toEvents(), updates, {
      from: '--1--3------0-1--|',
      to: '  --c--(cxk)----c--|',
      as: events,
    });
  });

  it('emits the events of reassignments, a created event within its assignment', () => {
    emits(toEvents(), updates, {
      from: '--u-s--|',
      to: '  --u-s--|',
      as: events,
    });
  });

  it('emits the events of topology transactions', () => {
    emits(toEvents(), updates, {
      from: '--t-----|',
      to: '  --(tn)--|',
      as: events,
    });
  });

  it('emits nothing for checkpoints and updates of an unknown variant', () => {
    emits(toEvents(), updates, {
      from: '--c-k-1-c--|',
      to: '  ------c----|',
      as: events,
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

  it('stops within an update when it is unsubscribed there', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --3-------|', updates);
      expectObservable(source.pipe(toEvents(), take(2))).toBe('--(cx|)', events);
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });

  it('has the type of the events of the updates', () => {
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(feed.pipe(toEvents())).toEqualTypeOf<
      Observable<TransactionEvent | ReassignmentEvent | TopologyEvent>
    >();
    expectTypeOf(feed.pipe(ofVariant('Transaction'), toEvents())).toEqualTypeOf<Observable<TransactionEvent>>();
    expectTypeOf(feed.pipe(ofVariant('Reassignment'), onSynchronizer(GLOBAL), toEvents())).toEqualTypeOf<
      Observable<ReassignmentEvent>
    >();
    expectTypeOf(feed.pipe(ofVariant('TopologyTransaction', 'OffsetCheckpoint'), toEvents())).toEqualTypeOf<
      Observable<TopologyEvent>
    >();
    expectTypeOf(feed.pipe(ofVariant('OffsetCheckpoint'), toEvents())).toEqualTypeOf<Observable<never>>();
    expectTypeOf(toEvents()).toExtend<OperatorFunction<Update, TransactionEvent | ReassignmentEvent | TopologyEvent>>();

    // @ts-expect-error -- updates only
    void of(created()).pipe(toEvents());
  });
});
