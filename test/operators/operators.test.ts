import { describe, expect, it } from '@jest/globals';
import { either as E } from 'fp-ts';
import { mergeMap, type Observable, of, type OperatorFunction, Subject, take } from 'rxjs';
import type { Timestamp } from '../../src/codecs/scalars.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofEvent, ofVariant } from '../../src/operators/ofVariant.js';
import { filterEvents } from '../../src/operators/filterEvents.js';
import { onSynchronizer } from '../../src/operators/onSynchronizer.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
import { isLater, recordTimes } from '../../src/operators/recordTimes.js';
import { toEither } from '../../src/operators/toEither.js';
import { toEvents } from '../../src/operators/toEvents.js';
import { marbles } from '../helpers/time.js';
import {
  added,
  archived,
  assigned,
  at,
  checkpoint,
  created,
  emits,
  eventsByLetter as events,
  exercised,
  formerReassignment,
  formerUnassigned,
  GLOBAL,
  OTHER,
  PRIVATE,
  reassignment,
  topology,
  transaction,
  unassigned,
  unknownEvent,
  unknownTopologyEvent,
  unknownUpdate,
} from './samples.js';

/** What an operator does: given the values at `from`, it emits them, or those of `as`, at `to`. */
const one = <A>(
  name: string,
  operator: OperatorFunction<A, unknown>,
  values: Readonly<Record<string, A>>,
  from: string,
  to: string,
  as?: object,
) => ({
  name,
  run: () => {
    emits(operator, values, { from, to, ...(as && { as }) });
  },
});

const synchronizers = {
  g: transaction(),
  p: transaction({ synchronizerId: PRIVATE }),
  o: transaction({ synchronizerId: OTHER }),
  t: topology(),
  q: topology({ synchronizerId: PRIVATE }),
};
const progressOf = (synchronizerId: string, micros = 1) => ({ synchronizerId, recordTime: at(micros) });
const out = (source: string, target: string) => unassigned({ source, target });
const into = (source: string, target: string) => assigned({ source, target });

const variants = {
  t: transaction(),
  r: reassignment(),
  o: topology(),
  c: checkpoint(),
  u: unknownUpdate(),
  i: { _tag: 'UndecodedUpdate' as const, offset: 9, problems: [] },
};

/** The id of a version of a package, which has 64 hex digits. */
const packageId = (version: number): string => `1220f${version}`.padEnd(64, '0');
const bond = (version: number, packageName: string, name = 'Finance.Bonds:Bond') =>
  created({ templateId: `${packageId(version)}:${name}`, packageName });
/** The same template in two versions of its package, and in a package of another name; then other templates. */
const templates = {
  a: bond(0, 'finance'),
  b: bond(1, 'finance'),
  c: bond(2, 'finance-fork'),
  m: bond(0, 'finance', 'Bonds:Bond'),
  e: bond(0, 'finance', 'Finance.Bonds:BondOffer'),
};
const other = { templateId: `${packageId(0)}:Other:Thing`, packageName: 'other' };
const everyKind = {
  ...events,
  C: created(other),
  A: archived(other),
  X: exercised(other),
  U: unassigned(other),
  S: assigned({ createdEvent: created(other) }),
  f: formerUnassigned,
};

const withEvents = {
  1: transaction({ events: [created()] }),
  3: transaction({ events: [created(), exercised(), unknownEvent] }),
  0: transaction({ events: [] }),
  u: reassignment({ events: [unassigned()] }),
  s: reassignment({ events: [assigned()] }),
  t: topology({ events: [added, unknownTopologyEvent] }),
  c: checkpoint(progressOf(GLOBAL)),
  k: unknownUpdate({ value: { offset: 8, events: [created()] } }),
};

const times = (global: Timestamp, priv?: Timestamp) =>
  new Map([[GLOBAL, global], ...(priv ? [[PRIVATE, priv] as const] : [])]);
const recorded = (recordTime: Timestamp) => transaction({ recordTime });
const ordered = { a: recorded(at(1)), b: recorded(at(2)), c: recorded(at(3)) };
const inOrder = { a: times(at(1)), b: times(at(2)), c: times(at(3)) };
const second = '2026-07-24T10:00:00';

describe.each([
  {
    operator: 'ofVariant',
    cases: [
      one('the updates of one variant', ofVariant('Transaction'), variants, 't-r-o-c-u-t|', 't---------t|'),
      one(
        'those of several, in their order, and of a wider union',
        ofVariant('UndecodedUpdate', 'UnknownUpdate', 'OffsetCheckpoint', 'Reassignment'),
        variants,
        't-r-o-c-u-i-t|',
        '--r---c-u-i--|',
      ),
    ],
  },
  {
    operator: 'ofEvent',
    cases: [
      one('the events of one kind', ofEvent('CreatedEvent'), events, 'c-a-x-k-u-s-t-n-c|', 'c---------------c|'),
      one(
        'those of several, in their order',
        ofEvent('ParticipantAuthorizationAdded', 'UnassignedEvent', 'ArchivedEvent'),
        events,
        'c-a-x-k-u-s-t-n|',
        '--a-----u---t--|',
      ),
    ],
  },
  {
    operator: 'ofTemplate',
    cases: [
      one('Module:Entity of any package', ofTemplate('Finance.Bonds:Bond'), templates, 'a-b-c-m-e|', 'a-b-c----|'),
      one(
        '#package-name:Module:Entity in every version',
        ofTemplate('#finance:Finance.Bonds:Bond'),
        templates,
        'a-b-c-m-e|',
        'a-b------|',
      ),
      one(
        'package-id:Module:Entity only in that version',
        ofTemplate(`${packageId(1)}:Finance.Bonds:Bond`),
        templates,
        'a-b-c-m-e|',
        '--b------|',
      ),
      one(
        'the events of several templates in their order, each once',
        ofTemplate(
          '#finance-fork:Finance.Bonds:Bond',
          `${packageId(0)}:Finance.Bonds:Bond`,
          'Bonds:Bond',
          `${packageId(2)}:Finance.Bonds:Bond`,
        ),
        templates,
        'a-b-c-m-e|',
        'a---c-m--|',
      ),
      one(
        'every kind of event that has a template, an assignment by its created event',
        ofTemplate('#finance:Finance.Bonds:Bond'),
        everyKind,
        'c-C-a-A-x-X-u-U-s-S-k-t-n-f|',
        'c---a---x---u---s----------|',
      ),
      one(
        'the events of another template',
        ofTemplate(`${packageId(0)}:Other:Thing`),
        everyKind,
        'c-C-a-A-x-X-u-U-s-S-k-t-n-f|',
        '--C---A---X---U---S--------|',
      ),
      one(
        'an exercise by the template of its contract, not by the interface of its choice',
        ofTemplate('Holding:Holding'),
        { x: exercised({ interfaceId: '1220f5:Holding:Holding' }) },
        'x|',
        '-|',
      ),
    ],
  },
  {
    operator: 'onSynchronizer',
    cases: [
      one('the updates of one synchronizer', onSynchronizer(GLOBAL), synchronizers, 'g-p-o-t-q-g|', 'g-----t---g|'),
      one(
        'those of several, in their order',
        onSynchronizer(PRIVATE, GLOBAL),
        synchronizers,
        'g-p-o-p-g|',
        'g-p---p-g|',
      ),
      one('whole ids', onSynchronizer('global', `${GLOBAL}0`), synchronizers, 'g-g|', '---|'),
      one(
        'a checkpoint that lists one of them',
        onSynchronizer(GLOBAL),
        {
          n: checkpoint(),
          g: checkpoint(progressOf(GLOBAL)),
          o: checkpoint(progressOf(OTHER)),
          b: checkpoint(progressOf(OTHER), progressOf(GLOBAL, 2), progressOf(PRIVATE, 3)),
        },
        'n-g-o-b|',
        '--g---b|',
      ),
      one(
        'a reassignment by its own synchronizer, not by that of its events',
        onSynchronizer(GLOBAL),
        {
          g: reassignment({ synchronizerId: GLOBAL, events: [out(PRIVATE, OTHER)] }),
          p: reassignment({ synchronizerId: PRIVATE, events: [out(GLOBAL, OTHER)] }),
        },
        'g-p|',
        'g--|',
      ),
      one(
        'a reassignment of 3.3 by the source of unassignments and the target of assignments',
        onSynchronizer(GLOBAL),
        {
          u: formerReassignment({ events: [out(GLOBAL, PRIVATE)] }),
          v: formerReassignment({ events: [out(PRIVATE, GLOBAL)] }),
          a: formerReassignment({ events: [into(PRIVATE, GLOBAL)] }),
          b: formerReassignment({ events: [into(GLOBAL, PRIVATE)] }),
          m: formerReassignment({ events: [unknownEvent, into(PRIVATE, GLOBAL)] }),
          k: formerReassignment({ events: [unknownEvent] }),
          e: formerReassignment({ events: [] }),
        },
        'u-v-a-b-m-k-e|',
        'u---a---m----|',
      ),
      one(
        'an update of an unknown variant only if it names the synchronizer',
        onSynchronizer(GLOBAL),
        {
          d: unknownUpdate({ offset: 8, synchronizerId: GLOBAL }),
          w: unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL } }),
          o: unknownUpdate({ value: { offset: 8, synchronizerId: OTHER } }),
          n: unknownUpdate({ value: { offset: 8, synchronizerId: null } }),
          l: unknownUpdate({ value: { offset: 8, synchronizerId: [GLOBAL] } }),
          m: unknownUpdate({ value: { offset: 8 } }),
          s: unknownUpdate(GLOBAL),
          z: unknownUpdate(null),
        },
        'd-w-o-n-l-m-s-z|',
        'd-w------------|',
      ),
    ],
  },
  {
    operator: 'toEvents',
    cases: [
      one(
        'the events of transactions in their order',
        toEvents(),
        withEvents,
        '1-3------0-1|',
        'c-(cxk)----c|',
        events,
      ),
      one(
        'those of reassignments, a created event within its assignment, and of topology transactions',
        toEvents(),
        withEvents,
        'u-s-t-----|',
        'u-s-(tn)--|',
        events,
      ),
      one('none of checkpoints and unknown variants', toEvents(), withEvents, 'c-k-1-c|', '----c--|', events),
    ],
  },
  {
    operator: 'recordTimes',
    cases: [
      one(
        'those of transactions, reassignments and topology transactions',
        recordTimes(),
        { t: recorded(at(1)), r: reassignment({ recordTime: at(2) }), o: topology({ recordTime: at(3) }) },
        't-r-o|',
        'a-b-c|',
        inOrder,
      ),
      one(
        'one for each synchronizer',
        recordTimes(),
        { g: recorded(at(5)), p: transaction({ recordTime: at(1), synchronizerId: PRIVATE }), h: recorded(at(6)) },
        'g-p-h|',
        'g-p-h|',
        { g: times(at(5)), p: times(at(5), at(1)), h: times(at(6), at(1)) },
      ),
      one(
        'once for a checkpoint that advances several times',
        recordTimes(),
        {
          c: checkpoint(progressOf(GLOBAL, 1), progressOf(PRIVATE, 2)),
          d: checkpoint(progressOf(GLOBAL, 1), progressOf(PRIVATE, 3)),
          n: checkpoint(),
        },
        'n-c-n-d-d|',
        '--c---d--|',
        { c: times(at(1), at(2)), d: times(at(1), at(3)) },
      ),
      one(
        'nothing if no time advances, and none that goes back',
        recordTimes(),
        ordered,
        'b-b-a-c-a-b|',
        'b-----c----|',
        inOrder,
      ),
      one(
        'later instants, not later texts, with every digit',
        recordTimes(),
        {
          a: recorded(`${second}Z`),
          b: recorded(`${second}.5Z`),
          c: recorded(`${second}.500Z`),
          d: recorded(`${second}.500001Z`),
          e: recorded('2026-07-24T10:00:01Z'),
        },
        'a-b-a-c-d-e-d|',
        'a-b-----d-e--|',
        {
          a: times(`${second}Z`),
          b: times(`${second}.5Z`),
          d: times(`${second}.500001Z`),
          e: times('2026-07-24T10:00:01Z'),
        },
      ),
      one(
        'by the synchronizer in the events of a reassignment of 3.3',
        recordTimes(),
        {
          u: formerReassignment({ recordTime: at(1), events: [out(GLOBAL, PRIVATE)] }),
          a: formerReassignment({ recordTime: at(2), events: [into(GLOBAL, PRIVATE)] }),
          k: formerReassignment({ recordTime: at(3), events: [unknownEvent] }),
        },
        'u-a-k|',
        'u-a--|',
        { u: times(at(1)), a: times(at(1), at(2)) },
      ),
      one(
        'none of an unknown variant',
        recordTimes(),
        { ...ordered, u: unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL, recordTime: at(9) } }) },
        'u-a-u-b|',
        '--a---b|',
        inOrder,
      ),
    ],
  },
])('$operator', ({ cases }) => {
  it.each(cases)('emits $name', ({ run }) => {
    run();
  });
});

const event = created();
const update = transaction({ events: [event], recordTime: at(1) });

/** An operator, an element, and what the operator emits for it. */
const law = (operator: (source: Observable<never>) => Observable<unknown>, element: unknown, emitted: unknown) => ({
  operator: operator as OperatorFunction<unknown, unknown>,
  element,
  emitted,
});

const operatorLaws = {
  ofVariant: law(ofVariant('Transaction'), update, update),
  ofEvent: law(ofEvent('CreatedEvent'), event, event),
  ofTemplate: law(ofTemplate('Finance.Bonds:Bond'), event, event),
  onSynchronizer: law(onSynchronizer(GLOBAL), update, update),
  toEvents: law(toEvents(), update, event),
  filterEvents: law(filterEvents(ofEvent('CreatedEvent')), update, update),
  recordTimes: law(recordTimes(), update, new Map([[GLOBAL, at(1)]])),
  toEither: law(toEither(), update, E.right(update)),
};

describe.each(Object.entries(operatorLaws))('%s', (_, { operator, element, emitted }) => {
  const values = { a: element, b: emitted };

  it.each([
    ['completes with an empty source', '      |      ', '|', '     (^!)'],
    ['never ends if the source never does', ' ---a---', '---b---', '^'],
    ['completes with the source', '           ---a---|', '---b---|', '^------!'],
    ['delivers the error of the source', '    ---a---#', '---b---#', '^------!'],
  ])('%s', (_name, source, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold(source.trim(), values);
      expectObservable(source$.pipe(operator)).toBe(expected, values);
      expectSubscriptions(source$.subscriptions).toBe(subscription.trim());
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('---a---|', values);
      const unsub = '       ----!';
      const chain$ = source$.pipe(
        mergeMap((value) => of(value)),
        operator,
        mergeMap((value) => of(value)),
      );
      expectObservable(chain$, unsub).toBe('---b-', values);
      expectSubscriptions(source$.subscriptions).toBe('^---!');
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source$ = cold('---a---|', values);
      const result$ = source$.pipe(operator);
      expectObservable(result$, '^').toBe('---b---|', values);
      expectObservable(result$, '--^').toBe('-----b---|', values);
      expectSubscriptions(source$.subscriptions).toBe(['^------!', '--^------!']);
    });
  });
});

describe('toEvents', () => {
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
      const source = cold('  --3-------|', withEvents);
      expectObservable(source.pipe(toEvents(), take(2))).toBe('--(cx|)', events);
      expectSubscriptions(source.subscriptions).toBe('^-!');
    });
  });
});

describe('isLater', () => {
  it.each([
    ['2026-07-24T10:00:00Z', '2026-07-24T10:00:00.5Z'],
    ['2026-07-24T10:00:00.5Z', '2026-07-24T10:00:00.500001Z'],
    ['2026-07-24T10:00:00.123456Z', '2026-07-24T10:00:00.123457Z'],
    ['2026-07-24T10:00:00.123456788Z', '2026-07-24T10:00:00.123456789Z'],
    ['2026-07-24T10:00:00.09Z', '2026-07-24T10:00:00.1Z'],
    ['2026-07-24T10:00:00.999999Z', '2026-07-24T10:00:01Z'],
    ['2026-07-24T10:00Z', '2026-07-24T10:00:00.000001Z'],
    ['2026-07-24T10:00:59.9Z', '2026-07-24T10:01Z'],
    ['2026-07-24T23:59:59.999999Z', '2026-07-25T00:00:00Z'],
    ['2026-09-30T00:00:00Z', '2026-10-01T00:00:00Z'],
    ['2026-12-31T23:59:59Z', '2027-01-01T00:00:00Z'],
    ['9999-12-31T23:59:59.999999Z', '+10000-01-01T00:00:00Z'],
    ['+10000-01-01T00:00:00Z', '+100000-01-01T00:00:00Z'],
    ['-0001-12-31T00:00:00Z', '0000-01-01T00:00:00Z'],
    ['-0002-06-01T00:00:00Z', '-0001-01-01T00:00:00Z'],
    ['-0001-01-01T00:00:00Z', '-0001-06-01T00:00:00Z'],
  ])('%s is earlier than %s', (earlier, later) => {
    expect(isLater(later, earlier)).toBe(true);
    expect(isLater(earlier, later)).toBe(false);
  });

  it.each([
    ['2026-07-24T10:00:00Z', '2026-07-24T10:00:00Z'],
    ['2026-07-24T10:00Z', '2026-07-24T10:00:00Z'],
    ['2026-07-24T10:00:00Z', '2026-07-24T10:00:00.000Z'],
    ['2026-07-24T10:00:00.5Z', '2026-07-24T10:00:00.500000Z'],
    ['2026-07-24T10:00:00.123456Z', '2026-07-24T10:00:00.123456000Z'],
    ['+2026-07-24T10:00:00Z', '2026-07-24T10:00:00Z'],
  ])('%s is the same instant as %s', (a, b) => {
    expect(isLater(a, b)).toBe(false);
    expect(isLater(b, a)).toBe(false);
  });
});
