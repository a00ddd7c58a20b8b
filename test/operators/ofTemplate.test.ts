import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, mergeMap, of, type Observable, type OperatorFunction } from 'rxjs';
import type { ArchivedEvent, CreatedEvent, Event, ExercisedEvent } from '../../src/codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofEvent } from '../../src/operators/ofEvent.js';
import { ofTemplate, type TemplateEvent } from '../../src/operators/ofTemplate.js';
import { type EventOf, toEvents } from '../../src/operators/toEvents.js';
import {
  added,
  archived,
  assigned,
  created,
  exercised,
  formerUnassigned,
  transaction,
  unassigned,
  unknownEvent,
  unknownTopologyEvent,
} from './samples.js';
import { marbles } from '../helpers/time.js';

/** The same template in two versions of its package, and in a package of another name; then other templates. */
const events: Record<string, EventOf<Update>> = {
  a: created({ templateId: '1220f0:Finance.Bonds:Bond', packageName: 'finance' }),
  b: created({ templateId: '1220f1:Finance.Bonds:Bond', packageName: 'finance' }),
  c: created({ templateId: '1220f2:Finance.Bonds:Bond', packageName: 'finance-fork' }),
  m: created({ templateId: '1220f0:Bonds:Bond', packageName: 'finance' }),
  e: created({ templateId: '1220f0:Finance.Bonds:BondOffer', packageName: 'finance' }),
};

const BOND = 'Finance.Bonds:Bond';

describe('ofTemplate', () => {
  it('passes Module:Entity of any package', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-c-m-e--|', events);
      const subs = '         ^------------!';
      const expected = '     --a-b-c------|';

      expectObservable(source.pipe(ofTemplate('Finance.Bonds:Bond'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes #package-name:Module:Entity in every version of the package', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-c-m-e--|', events);
      const subs = '         ^------------!';
      const expected = '     --a-b--------|';

      expectObservable(source.pipe(ofTemplate('#finance:Finance.Bonds:Bond'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes package-id:Module:Entity only in that version', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-c-m-e--|', events);
      const subs = '         ^------------!';
      const expected = '     ----b--------|';

      expectObservable(source.pipe(ofTemplate('1220f1:Finance.Bonds:Bond'))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes the events of several templates in their order, each once', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-c-m-e--|', events);
      const subs = '         ^------------!';
      const expected = '     --a---c-m----|';

      const result = source.pipe(
        ofTemplate(
          '#finance-fork:Finance.Bonds:Bond',
          '1220f0:Finance.Bonds:Bond',
          'Bonds:Bond',
          '1220f2:Finance.Bonds:Bond',
        ),
      );
      expectObservable(result).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes every kind of event that has a template, an assignment by its created event', () => {
    const template = { templateId: '1220f0:Other:Thing', packageName: 'other' };
    const values: Record<string, EventOf<Update>> = {
      c: created(),
      a: archived(),
      x: exercised(),
      u: unassigned(),
      s: assigned(),
      C: created(template),
      A: archived(template),
      X: exercised(template),
      U: unassigned(template),
      S: assigned({ createdEvent: created(template) }),
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --c-C-a-A-x-X-u-U-s-S--|', values);
      const subs = '         ^----------------------!';
      const named = '        --c---a---x---u---s----|';
      const other = '        ----C---A---X---U---S--|';

      expectObservable(source.pipe(ofTemplate('#finance:Finance.Bonds:Bond'))).toBe(named, values);
      expectObservable(source.pipe(ofTemplate('1220f0:Other:Thing'))).toBe(other, values);
      expectSubscriptions(source.subscriptions).toBe([subs, subs]);
    });
  });

  it('does not pass events without a template', () => {
    const values: Record<string, EventOf<Update>> = {
      k: unknownEvent,
      t: added,
      n: unknownTopologyEvent,
      f: formerUnassigned,
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --k-t-n-f--|', values);
      const subs = '         ^----------!';
      const expected = '     -----------|';

      expectObservable(source.pipe(ofTemplate(BOND, `#finance:${BOND}`))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('compares the template of the contract of an exercise, not the interface of its choice', () => {
    const values = { x: exercised({ interfaceId: '1220f5:Holding:Holding' }) };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --x--|', values);
      const subs = '         ^----!';
      const expected = '     -----|';

      expectObservable(source.pipe(ofTemplate('Holding:Holding'))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it.each([
    '',
    'Bond',
    ':',
    'Bonds:',
    ':Bond',
    'Finance/Bonds:Bond',
    'Finance..Bonds:Bond',
    '.Bonds:Bond',
    '1Bonds:Bond',
    '#finance:Bond',
    '#:Bonds:Bond',
    '#fin ance:Bonds:Bond',
    ':Bonds:Bond',
    '1220f0:Bonds:',
    '1220f0:Finance:Bonds:Bond',
    ' Bonds:Bond',
    'Bonds:Bond\n',
  ])('throws for %j synchronously', (malformed) => {
    expect(() => ofTemplate(BOND, malformed)).toThrow(
      new TypeError(
        `'${malformed}' is not a template: use Module:Entity, #package-name:Module:Entity or package-id:Module:Entity`,
      ),
    );
    expect(() => ofTemplate(malformed)).toThrow(TypeError);
  });

  it('completes if the source is empty', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('|   ');
      const subs = '              (^!)';
      const expected = '          |   ';

      expectObservable(source.pipe(ofTemplate(BOND))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('never emits if the source never emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Event>('-');
      const subs = '              ^';
      const expected = '          -';

      expectObservable(source.pipe(ofTemplate(BOND))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('delivers the error of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-m-#', events);
      const subs = '         ^-----!';
      const expected = '     --a---#';

      expectObservable(source.pipe(ofTemplate(BOND))).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-c--|', events);
      const unsub = '        -----!    ';
      const subs = '         ^----!    ';
      const expected = '     --a-b-    ';

      const result = source.pipe(
        mergeMap((event) => of(event)),
        ofTemplate(BOND),
        mergeMap((event) => of(event)),
      );
      expectObservable(result, unsub).toBe(expected, events);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-m-b--|   ', events);
      const subs1 = '        ^--------!   ';
      const subs2 = '        ---^--------!';
      const expected1 = '    --a---b--|   ';
      const expected2 = '    -----a---b--|';

      const result = source.pipe(ofTemplate(BOND));
      expectObservable(result, '^            ').toBe(expected1, events);
      expectObservable(result, '---^         ').toBe(expected2, events);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('narrows the type to events that have a template', () => {
    const all: Observable<EventOf<Update>> = of(created());
    const ofTransactions: Observable<Event> = of(created());
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(all.pipe(ofTemplate(BOND))).toEqualTypeOf<
      Observable<CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent>
    >();
    expectTypeOf(ofTransactions.pipe(ofTemplate(BOND))).toEqualTypeOf<
      Observable<CreatedEvent | ArchivedEvent | ExercisedEvent>
    >();
    expectTypeOf(all.pipe(ofEvent('CreatedEvent'), ofTemplate(BOND))).toEqualTypeOf<Observable<CreatedEvent>>();
    expectTypeOf(
      feed.pipe(
        toEvents(),
        ofTemplate(BOND),
        ofEvent('ArchivedEvent'),
        map((event) => event.templateId),
      ),
    ).toEqualTypeOf<Observable<string>>();
    expectTypeOf(ofTemplate(BOND)).toExtend<OperatorFunction<EventOf<Update>, TemplateEvent>>();

    // @ts-expect-error -- updates: toEvents() first
    void feed.pipe(ofTemplate(BOND));
    // @ts-expect-error -- at least one
    expect(() => all.pipe(ofTemplate())).toThrow(TypeError);
  });
});
