import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { of, type Observable, type OperatorFunction } from 'rxjs';
import type { Timestamp } from '../../src/codecs/scalars.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/byTag.js';
import { recordTimes } from '../../src/operators/recordTimes.js';
import {
  assigned,
  at,
  checkpoint,
  formerReassignment,
  GLOBAL,
  PRIVATE,
  reassignment,
  topology,
  transaction,
  unassigned,
  unknownEvent,
  unknownUpdate,
  emits,
} from './samples.js';
import { marbles } from '../helpers/time.js';

type Times = Record<string, ReadonlyMap<string, Timestamp>>;

const timesOf = (times: Record<string, Timestamp>) => new Map(Object.entries(times));

const updates: Record<string, Update> = {
  a: transaction({ recordTime: at(1) }),
  b: transaction({ recordTime: at(2) }),
  c: transaction({ recordTime: at(3) }),
};

const times: Times = {
  a: timesOf({ [GLOBAL]: at(1) }),
  b: timesOf({ [GLOBAL]: at(2) }),
  c: timesOf({ [GLOBAL]: at(3) }),
};

describe('recordTimes', () => {
  it('emits the record times of transactions, reassignments and topology transactions', () => {
    const values: Record<string, Update> = {
      t: transaction({ recordTime: at(1) }),
      r: reassignment({ recordTime: at(2) }),
      o: topology({ recordTime: at(3) }),
    };
    const moved: Times = {
      t: timesOf({ [GLOBAL]: at(1) }),
      r: timesOf({ [GLOBAL]: at(2) }),
      o: timesOf({ [GLOBAL]: at(3) }),
    };
    emits(recordTimes(), values, {
      from: '--t-r-o--|',
      to: '  --t-r-o--|',
      as: moved,
    });
  });

  it('keeps a time for each synchronizer', () => {
    const values: Record<string, Update> = {
      g: transaction({ recordTime: at(5) }),
      p: transaction({ recordTime: at(1), synchronizerId: PRIVATE }),
      h: transaction({ recordTime: at(6) }),
    };
    const moved: Times = {
      g: timesOf({ [GLOBAL]: at(5) }),
      p: timesOf({ [GLOBAL]: at(5), [PRIVATE]: at(1) }),
      h: timesOf({ [GLOBAL]: at(6), [PRIVATE]: at(1) }),
    };
    emits(recordTimes(), values, {
      from: '--g-p-h--|',
      to: '  --g-p-h--|',
      as: moved,
    });
  });

  it('emits once for a checkpoint that advances several times', () => {
    const values: Record<string, Update> = {
      c: checkpoint({ synchronizerId: GLOBAL, recordTime: at(1) }, { synchronizerId: PRIVATE, recordTime: at(2) }),
      d: checkpoint({ synchronizerId: GLOBAL, recordTime: at(1) }, { synchronizerId: PRIVATE, recordTime: at(3) }),
      n: checkpoint(),
    };
    const moved: Times = {
      c: timesOf({ [GLOBAL]: at(1), [PRIVATE]: at(2) }),
      d: timesOf({ [GLOBAL]: at(1), [PRIVATE]: at(3) }),
    };
    emits(recordTimes(), values, {
      from: '--n-c-n-d-d--|',
      to: '  ----c---d----|',
      as: moved,
    });
  });

  it('emits nothing if no time advances, and never goes back', () => {
    emits(recordTimes(), updates, {
      from: '--b-b-a-c-a-b--|',
      to: '  --b-----c------|',
      as: times,
    });
  });

  it('compares instants, not text, with every digit', () => {
    const values: Record<string, Update> = {
      a: transaction({ recordTime: '2026-07-24T10:00:00Z' }),
      b: transaction({ recordTime: '2026-07-24T10:00:00.5Z' }),
      c: transaction({ recordTime: '2026-07-24T10:00:00.500Z' }),
      d: transaction({ recordTime: '2026-07-24T10:00:00.500001Z' }),
      e: transaction({ recordTime: '2026-07-24T10:00:01Z' }),
    };
    const moved: Times = {
      a: timesOf({ [GLOBAL]: '2026-07-24T10:00:00Z' }),
      b: timesOf({ [GLOBAL]: '2026-07-24T10:00:00.5Z' }),
      d: timesOf({ [GLOBAL]: '2026-07-24T10:00:00.500001Z' }),
      e: timesOf({ [GLOBAL]: '2026-07-24T10:00:01Z' }),
    };
    emits(recordTimes(), values, {
      from: '--a-b-a-c-d-e-d--|',
      to: '  --a-b-----d-e----|',
      as: moved,
    });
  });

  it('finds the synchronizer of a reassignment from 3.3 in its events', () => {
    const values: Record<string, Update> = {
      u: formerReassignment({ recordTime: at(1), events: [unassigned({ source: GLOBAL, target: PRIVATE })] }),
      a: formerReassignment({ recordTime: at(2), events: [assigned({ source: GLOBAL, target: PRIVATE })] }),
      k: formerReassignment({ recordTime: at(3), events: [unknownEvent] }),
    };
    const moved: Times = {
      u: timesOf({ [GLOBAL]: at(1) }),
      a: timesOf({ [GLOBAL]: at(1), [PRIVATE]: at(2) }),
    };
    emits(recordTimes(), values, {
      from: '--u-a-k--|',
      to: '  --u-a----|',
      as: moved,
    });
  });

  it('ignores an update of an unknown variant', () => {
    const values = {
      ...updates,
      u: unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL, recordTime: at(9) } }),
    };
    emits(recordTimes(), values, {
      from: '--u-a-u-b--|',
      to: '  ----a---b--|',
      as: times,
    });
  });

  it('keeps times per subscription', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('   --c-a-b--|', updates);
      const subs1 = '        ^--------!';
      const subs2 = '        ---^-----!';
      const expected1 = '    --c------|';
      const expected2 = '    ----a-b--|';

      const result = source.pipe(recordTimes());
      expectObservable(result, '^        ').toBe(expected1, times);
      expectObservable(result, '---^     ').toBe(expected2, times);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('has a read-only type', () => {
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(feed.pipe(recordTimes())).toEqualTypeOf<Observable<ReadonlyMap<string, Timestamp>>>();
    expectTypeOf(feed.pipe(ofVariant('OffsetCheckpoint'), recordTimes())).toEqualTypeOf<
      Observable<ReadonlyMap<string, Timestamp>>
    >();
    expectTypeOf(recordTimes()).toEqualTypeOf<OperatorFunction<Update, ReadonlyMap<string, Timestamp>>>();

    // @ts-expect-error -- updates only
    void of('update').pipe(recordTimes());
  });
});
