import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, of, type Observable, type OperatorFunction, pipe } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, TransactionEvent } from '../../src/codecs/Event.js';
import type { AssignedEvent, ReassignmentEvent } from '../../src/codecs/Reassignment.js';
import type { TopologyEvent } from '../../src/codecs/TopologyTransaction.js';
import type { Update } from '../../src/codecs/Update.js';
import type { UndecodedUpdate } from '../../src/feed/Page.js';
import { ofEvent, ofVariant } from '../../src/operators/byTag.js';
import { type EventOf, toEvents } from '../../src/operators/toEvents.js';
import { added, assigned, created, eventsByLetter as events, emits } from './samples.js';

describe('ofEvent', () => {
  it('passes the events of one kind', () => {
    emits(ofEvent('CreatedEvent'), events, {
      from: '--c-a-x-k-u-s-t-n-c--|',
      to: '  --c---------------c--|',
    });
  });

  it('passes the events of several kinds in their order', () => {
    emits(ofEvent('ParticipantAuthorizationAdded', 'UnassignedEvent', 'ArchivedEvent'), events, {
      from: '--c-a-x-k-u-s-t-n--|',
      to: '  ----a-----u---t----|',
    });
  });

  it('narrows the type', () => {
    const all: Observable<EventOf<Update>> = of(created());
    const ofTransactions: Observable<TransactionEvent> = of(created());
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
    // @ts-expect-error -- a transaction has no such event
    void ofTransactions.pipe(ofEvent('AssignedEvent'));
  });

  it('accepts only streams of events', () => {
    const ofReassignments: Observable<ReassignmentEvent> = of(assigned());
    const ofTopology: Observable<TopologyEvent> = of(added);
    const mixed: Observable<TransactionEvent | ReassignmentEvent | TopologyEvent> = of(created());
    const feed: Observable<Update> = of();
    const withInvalid: Observable<Update | UndecodedUpdate> = of();
    const none: Observable<never> = of();

    expectTypeOf(ofReassignments.pipe(ofEvent('AssignedEvent'))).toEqualTypeOf<Observable<AssignedEvent>>();
    expectTypeOf(ofTopology.pipe(ofEvent('ParticipantAuthorizationAdded'))).toEqualTypeOf<
      Observable<Extract<TopologyEvent, { readonly _tag: 'ParticipantAuthorizationAdded' }>>
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
