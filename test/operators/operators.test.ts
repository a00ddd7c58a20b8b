import { describe, expect, it } from '@jest/globals';
import { either as E } from 'fp-ts';
import { mergeMap, type Observable, of, type OperatorFunction, Subject, take, tap } from 'rxjs';
import type { Timestamp } from '../../src/codecs/scalars.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofEvent, ofVariant } from '../../src/operators/ofVariant.js';
import { filterEvents } from '../../src/operators/filterEvents.js';
import { onSynchronizer } from '../../src/operators/onSynchronizer.js';
import { ofTemplate } from '../../src/operators/ofTemplate.js';
import { isLater, recordTimes } from '../../src/operators/recordTimes.js';
import { toEither } from '../../src/operators/toEither.js';
import { toEvents } from '../../src/operators/toEvents.js';
import { observe, offsets } from '../helpers/observe.js';
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

/** What an operator emits: the values at `to`, or those of `as`, given those at `from`. */
type Emission<A> = readonly [
  name: string,
  operator: OperatorFunction<A, unknown>,
  from: string,
  to: string,
  as?: object,
];
const itEmits = <A>(values: Readonly<Record<string, A>>, ...emissions: readonly Emission<A>[]): void => {
  // as one parameter: a row that is shorter than the parameters would get a callback as its last
  it.each(emissions)('emits %s', (...[, operator, from, to, as]) => {
    emits(operator, values, { from, to, ...(as && { as }) });
  });
};

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

describe('ofVariant', () => {
  const several = ofVariant('UndecodedUpdate', 'UnknownUpdate', 'OffsetCheckpoint', 'Reassignment');
  itEmits(
    variants,
    ['the updates of one variant', ofVariant('Transaction'), 't-r-o-c-u-t|', 't---------t|'],
    ['those of several, in their order, and of a wider union', several, 't-r-o-c-u-i-t|', '--r---c-u-i--|'],
  );
});

describe('ofEvent', () => {
  const several = ofEvent('ParticipantAuthorizationAdded', 'UnassignedEvent', 'ArchivedEvent');
  itEmits(
    events,
    ['the events of one kind', ofEvent('CreatedEvent'), 'c-a-x-k-u-s-t-n-c|', 'c---------------c|'],
    ['those of several, in their order', several, 'c-a-x-k-u-s-t-n|', '--a-----u---t--|'],
  );
});

describe('ofTemplate', () => {
  const bonds = '#finance:Finance.Bonds:Bond';
  const inVersion = (version: number): string => `${packageId(version)}:Finance.Bonds:Bond`;
  const several = ofTemplate('#finance-fork:Finance.Bonds:Bond', inVersion(0), 'Bonds:Bond', inVersion(2));
  itEmits(
    templates,
    ['Module:Entity of any package', ofTemplate('Finance.Bonds:Bond'), 'a-b-c-m-e|', 'a-b-c----|'],
    ['#package-name:Module:Entity in every version', ofTemplate(bonds), 'a-b-c-m-e|', 'a-b------|'],
    ['package-id:Module:Entity only in that version', ofTemplate(inVersion(1)), 'a-b-c-m-e|', '--b------|'],
    ['the events of several templates in their order, each once', several, 'a-b-c-m-e|', 'a---c-m--|'],
  );

  const from = 'c-C-a-A-x-X-u-U-s-S-k-t-n-f|';
  const things = ofTemplate(other.templateId);
  itEmits(
    everyKind,
    [
      'every kind of event of a template, an assignment by its created event',
      ofTemplate(bonds),
      from,
      'c---a---x---u---s----------|',
    ],
    ['the events of another template', things, from, '--C---A---X---U---S--------|'],
  );

  const byInterface = { x: exercised({ interfaceId: '1220f5:Holding:Holding' }) };
  itEmits(byInterface, ['no exercise by the interface of its choice', ofTemplate('Holding:Holding'), 'x|', '-|']);
});

describe('onSynchronizer', () => {
  itEmits(
    synchronizers,
    ['the updates of one synchronizer', onSynchronizer(GLOBAL), 'g-p-o-t-q-g|', 'g-----t---g|'],
    ['those of several, in their order', onSynchronizer(PRIVATE, GLOBAL), 'g-p-o-p-g|', 'g-p---p-g|'],
    ['whole ids', onSynchronizer('global', `${GLOBAL}0`), 'g-g|', '---|'],
  );

  const checkpoints = {
    n: checkpoint(),
    g: checkpoint(progressOf(GLOBAL)),
    o: checkpoint(progressOf(OTHER)),
    b: checkpoint(progressOf(OTHER), progressOf(GLOBAL, 2), progressOf(PRIVATE, 3)),
  };
  itEmits(checkpoints, ['a checkpoint that lists one of them', onSynchronizer(GLOBAL), 'n-g-o-b|', '--g---b|']);

  const ofSynchronizers = {
    g: reassignment({ synchronizerId: GLOBAL, events: [out(PRIVATE, OTHER)] }),
    p: reassignment({ synchronizerId: PRIVATE, events: [out(GLOBAL, OTHER)] }),
  };
  itEmits(ofSynchronizers, [
    'a reassignment by its own, not by that of its events',
    onSynchronizer(GLOBAL),
    'g-p|',
    'g--|',
  ]);

  const former = {
    u: formerReassignment({ events: [out(GLOBAL, PRIVATE)] }),
    v: formerReassignment({ events: [out(PRIVATE, GLOBAL)] }),
    a: formerReassignment({ events: [into(PRIVATE, GLOBAL)] }),
    b: formerReassignment({ events: [into(GLOBAL, PRIVATE)] }),
    m: formerReassignment({ events: [unknownEvent, into(PRIVATE, GLOBAL)] }),
    k: formerReassignment({ events: [unknownEvent] }),
    e: formerReassignment({ events: [] }),
  };
  const ofSourceOrTarget = 'a reassignment of 3.3 by the source of unassignments and the target of assignments';
  itEmits(former, [ofSourceOrTarget, onSynchronizer(GLOBAL), 'u-v-a-b-m-k-e|', 'u---a---m----|']);

  const unknown = {
    d: unknownUpdate({ offset: 8, synchronizerId: GLOBAL }),
    w: unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL } }),
    o: unknownUpdate({ value: { offset: 8, synchronizerId: OTHER } }),
    n: unknownUpdate({ value: { offset: 8, synchronizerId: null } }),
    l: unknownUpdate({ value: { offset: 8, synchronizerId: [GLOBAL] } }),
    m: unknownUpdate({ value: { offset: 8 } }),
    s: unknownUpdate(GLOBAL),
    z: unknownUpdate(null),
  };
  const ifNamed = 'an update of an unknown variant only if it names the synchronizer';
  itEmits(unknown, [ifNamed, onSynchronizer(GLOBAL), 'd-w-o-n-l-m-s-z|', 'd-w------------|']);
});

describe('toEvents', () => {
  const nested = 'those of reassignments, a created event within its assignment, and of topology transactions';
  itEmits(
    withEvents,
    ['the events of transactions in their order', toEvents(), '1-3------0-1|', 'c-(cxk)----c|', events],
    [nested, toEvents(), 'u-s-t-----|', 'u-s-(tn)--|', events],
    ['none of checkpoints and unknown variants', toEvents(), 'c-k-1-c|', '----c--|', events],
  );
});

describe('recordTimes', () => {
  const kinds = { t: recorded(at(1)), r: reassignment({ recordTime: at(2) }), o: topology({ recordTime: at(3) }) };
  const ofUpdates = 'those of transactions, reassignments and topology transactions';
  itEmits(kinds, [ofUpdates, recordTimes(), 't-r-o|', 'a-b-c|', inOrder]);

  const ofTwo = {
    g: recorded(at(5)),
    p: transaction({ recordTime: at(1), synchronizerId: PRIVATE }),
    h: recorded(at(6)),
  };
  const timesOfTwo = { g: times(at(5)), p: times(at(5), at(1)), h: times(at(6), at(1)) };
  itEmits(ofTwo, ['one for each synchronizer', recordTimes(), 'g-p-h|', 'g-p-h|', timesOfTwo]);

  const checkpoints = {
    c: checkpoint(progressOf(GLOBAL, 1), progressOf(PRIVATE, 2)),
    d: checkpoint(progressOf(GLOBAL, 1), progressOf(PRIVATE, 3)),
    n: checkpoint(),
  };
  const progress = { c: times(at(1), at(2)), d: times(at(1), at(3)) };
  const once = 'once for a checkpoint that advances several times';
  itEmits(checkpoints, [once, recordTimes(), 'n-c-n-d-d|', '--c---d--|', progress]);

  const ofUnknown = unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL, recordTime: at(9) } });
  const backwards = 'nothing if no time advances, and none that goes back';
  itEmits<Update>(
    { ...ordered, u: ofUnknown },
    [backwards, recordTimes(), 'b-b-a-c-a-b|', 'b-----c----|', inOrder],
    ['none of an unknown variant', recordTimes(), 'u-a-u-b|', '--a---b|', inOrder],
  );

  const instants = {
    a: `${second}Z`,
    b: `${second}.5Z`,
    c: `${second}.500Z`,
    d: `${second}.500001Z`,
    e: '2026-07-24T10:00:01Z',
  };
  const valuesOf = <A>(of: (time: Timestamp) => A) =>
    Object.fromEntries(Object.entries(instants).map(([letter, time]) => [letter, of(time)]));
  const later = 'later instants, not later texts, with every digit';
  itEmits(valuesOf(recorded), [
    later,
    recordTimes(),
    'a-b-a-c-d-e-d|',
    'a-b-----d-e--|',
    valuesOf((time) => times(time)),
  ]);

  const former = {
    u: formerReassignment({ recordTime: at(1), events: [out(GLOBAL, PRIVATE)] }),
    a: formerReassignment({ recordTime: at(2), events: [into(GLOBAL, PRIVATE)] }),
    k: formerReassignment({ recordTime: at(3), events: [unknownEvent] }),
  };
  const ofTheirs = 'by the synchronizer in the events of a reassignment of 3.3';
  const timesOfFormer = { u: times(at(1)), a: times(at(1), at(2)) };
  itEmits(former, [ofTheirs, recordTimes(), 'u-a-k|', 'u-a--|', timesOfFormer]);
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
    const source = new Subject<Transaction>();
    const again = ({ offset }: { readonly offset: number }): void => {
      if (offset === 1) source.next(transaction({ events: [created({ offset: 3 })] }));
    };
    const { values } = observe(source.pipe(toEvents(), tap(again)));
    source.next(transaction({ events: [created({ offset: 1 }), created({ offset: 2 })] }));
    expect(offsets(values)).toEqual([1, 2, 3]);
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
