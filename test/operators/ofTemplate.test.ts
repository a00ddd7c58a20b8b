import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import * as t from 'io-ts';
import { map, of, type Observable, type OperatorFunction } from 'rxjs';
import { contractType } from '../../src/codecs/ContractType.js';
import type { ArchivedEvent, CreatedEvent, TransactionEvent, ExercisedEvent } from '../../src/codecs/Event.js';
import type { AssignedEvent, UnassignedEvent } from '../../src/codecs/Reassignment.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofEvent } from '../../src/operators/byTag.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
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
  emits,
} from './samples.js';
import { marbles } from '../helpers/time.js';

/** The id of a version of a package, which has 64 hex digits. */
const packageId = (version: number): string => `1220f${version}`.padEnd(64, '0');

/** The same template in two versions of its package, and in a package of another name; then other templates. */
const events: Record<string, EventOf<Update>> = {
  a: created({ templateId: `${packageId(0)}:Finance.Bonds:Bond`, packageName: 'finance' }),
  b: created({ templateId: `${packageId(1)}:Finance.Bonds:Bond`, packageName: 'finance' }),
  c: created({ templateId: `${packageId(2)}:Finance.Bonds:Bond`, packageName: 'finance-fork' }),
  m: created({ templateId: `${packageId(0)}:Bonds:Bond`, packageName: 'finance' }),
  e: created({ templateId: `${packageId(0)}:Finance.Bonds:BondOffer`, packageName: 'finance' }),
};

const BOND = 'Finance.Bonds:Bond';

describe('ofTemplate', () => {
  it('passes Module:Entity of any package', () => {
    emits(ofTemplate('Finance.Bonds:Bond'), events, {
      from: '--a-b-c-m-e--|',
      to: '  --a-b-c------|',
    });
  });

  it('passes #package-name:Module:Entity in every version of the package', () => {
    emits(ofTemplate('#finance:Finance.Bonds:Bond'), events, {
      from: '--a-b-c-m-e--|',
      to: '  --a-b--------|',
    });
  });

  it('passes package-id:Module:Entity only in that version', () => {
    emits(ofTemplate(`${packageId(1)}:Finance.Bonds:Bond`), events, {
      from: '--a-b-c-m-e--|',
      to: '  ----b--------|',
    });
  });

  it('passes the events of several templates in their order, each once', () => {
    emits(
      ofTemplate(
        '#finance-fork:Finance.Bonds:Bond',
        `${packageId(0)}:Finance.Bonds:Bond`,
        'Bonds:Bond',
        `${packageId(2)}:Finance.Bonds:Bond`,
      ),
      events,
      {
        from: '--a-b-c-m-e--|',
        to: '  --a---c-m----|',
      },
    );
  });

  it('passes every kind of event that has a template, an assignment by its created event', () => {
    const template = { templateId: `${packageId(0)}:Other:Thing`, packageName: 'other' };
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
      expectObservable(source.pipe(ofTemplate(`${packageId(0)}:Other:Thing`))).toBe(other, values);
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
    emits(ofTemplate(BOND, `#finance:${BOND}`), values, {
      from: '--k-t-n-f--|',
      to: '  -----------|',
    });
  });

  it('compares the template of the contract of an exercise, not the interface of its choice', () => {
    const values = { x: exercised({ interfaceId: '1220f5:Holding:Holding' }) };
    emits(ofTemplate('Holding:Holding'), values, {
      from: '--x--|',
      to: '  -----|',
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
      new TypeError(`'${malformed}' is not a template id: use #package-name:Module:Entity or package-id:Module:Entity`),
    );
    expect(() => ofTemplate(malformed)).toThrow(TypeError);
  });

  it.each(['finance:Finance.Bonds:Bond', `${'1220f0'.repeat(10)}:Bonds:Bond`])(
    'throws for %s, whose package is neither a name with # nor an id',
    (id) => {
      expect(() => ofTemplate(id)).toThrow(new TypeError(`'${id}' is not a template id: did you mean '#${id}'?`));
    },
  );

  it('throws for ids mixed with types', () => {
    const mixed: readonly unknown[] = [BOND, contractType(`#finance:${BOND}`, t.unknown)];
    expect(() => Reflect.apply(ofTemplate, undefined, mixed) as unknown).toThrow(
      new TypeError('ofTemplate takes ids of templates or types, not both'),
    );
  });

  it('narrows the type to events that have a template', () => {
    const all: Observable<EventOf<Update>> = of(created());
    const ofTransactions: Observable<TransactionEvent> = of(created());
    const feed: Observable<Update> = of(transaction());

    type TemplateEvent = CreatedEvent | ArchivedEvent | ExercisedEvent | UnassignedEvent | AssignedEvent;
    expectTypeOf(all.pipe(ofTemplate(BOND))).toEqualTypeOf<Observable<TemplateEvent>>();
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
