import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, mergeMap, of, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/ofVariant.js';
import { onSynchronizer } from '../../src/operators/onSynchronizer.js';
import {
  assigned,
  at,
  checkpoint,
  formerReassignment,
  GLOBAL,
  OTHER,
  PRIVATE,
  reassignment,
  topology,
  transaction,
  unassigned,
  unknownEvent,
  unknownUpdate,
} from './samples.js';
import { marbles } from '../helpers/time.js';

const updates: Record<string, Update> = {
  g: transaction(),
  p: transaction({ synchronizerId: PRIVATE }),
  o: transaction({ synchronizerId: OTHER }),
};

describe('onSynchronizer', () => {
  it('passes the updates of one synchronizer', () => {
    const values = { ...updates, t: topology(), q: topology({ synchronizerId: PRIVATE }) };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-p-o-t-q-g--|', values);
      const subs = '         ^--------------!';
      const expected = '     --g-----t---g--|';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes the updates of several synchronizers in their order', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-p-o-p-g--|', updates);
      const subs = '         ^------------!';
      const expected = '     --g-p---p-g--|';

      expectObservable(source.pipe(onSynchronizer(PRIVATE, GLOBAL))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('compares whole ids', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-g--|', updates);
      const subs = '         ^------!';
      const expected = '     -------|';

      expectObservable(source.pipe(onSynchronizer('global', `${GLOBAL}0`))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes a checkpoint that lists one of them unchanged', () => {
    const values: Record<string, Update> = {
      n: checkpoint(),
      g: checkpoint({ synchronizerId: GLOBAL, recordTime: at(1) }),
      o: checkpoint({ synchronizerId: OTHER, recordTime: at(1) }),
      b: checkpoint(
        { synchronizerId: OTHER, recordTime: at(1) },
        { synchronizerId: GLOBAL, recordTime: at(2) },
        { synchronizerId: PRIVATE, recordTime: at(3) },
      ),
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --n-g-o-b--|', values);
      const subs = '         ^----------!';
      const expected = '     ----g---b--|';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes a reassignment by its own synchronizer, not by that of its events', () => {
    const values: Record<string, Update> = {
      g: reassignment({ synchronizerId: GLOBAL, events: [unassigned({ source: PRIVATE, target: OTHER })] }),
      p: reassignment({ synchronizerId: PRIVATE, events: [unassigned({ source: GLOBAL, target: OTHER })] }),
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-p--|', values);
      const subs = '         ^------!';
      const expected = '     --g----|';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes a reassignment from 3.3 by the source of unassignments and the target of assignments', () => {
    const values: Record<string, Update> = {
      u: formerReassignment({ events: [unassigned({ source: GLOBAL, target: PRIVATE })] }),
      v: formerReassignment({ events: [unassigned({ source: PRIVATE, target: GLOBAL })] }),
      a: formerReassignment({ events: [assigned({ source: PRIVATE, target: GLOBAL })] }),
      b: formerReassignment({ events: [assigned({ source: GLOBAL, target: PRIVATE })] }),
      m: formerReassignment({ events: [unknownEvent, assigned({ source: PRIVATE, target: GLOBAL })] }),
      k: formerReassignment({ events: [unknownEvent] }),
      e: formerReassignment({ events: [] }),
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --u-v-a-b-m-k-e--|', values);
      const subs = '         ^----------------!';
      const expected = '     --u---a---m------|';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes an update of an unknown variant only if it names the synchronizer', () => {
    const values: Record<string, Update> = {
      d: unknownUpdate({ offset: 8, synchronizerId: GLOBAL }),
      w: unknownUpdate({ value: { offset: 8, synchronizerId: GLOBAL } }),
      o: unknownUpdate({ value: { offset: 8, synchronizerId: OTHER } }),
      n: unknownUpdate({ value: { offset: 8, synchronizerId: null } }),
      l: unknownUpdate({ value: { offset: 8, synchronizerId: [GLOBAL] } }),
      m: unknownUpdate({ value: { offset: 8 } }),
      s: unknownUpdate(GLOBAL),
      z: unknownUpdate(null),
    };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --d-w-o-n-l-m-s-z--|', values);
      const subs = '         ^------------------!';
      const expected = '     --d-w--------------|';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, values);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('completes if the source is empty', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('|   ');
      const subs = '               (^!)';
      const expected = '           |   ';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('never emits if the source never emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('-');
      const subs = '               ^';
      const expected = '           -';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('delivers the error of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-p-#', updates);
      const subs = '         ^-----!';
      const expected = '     --g---#';

      expectObservable(source.pipe(onSynchronizer(GLOBAL))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-g-g--|', updates);
      const unsub = '        -----!    ';
      const subs = '         ^----!    ';
      const expected = '     --g-g-    ';

      const result = source.pipe(
        mergeMap((update) => of(update)),
        onSynchronizer(GLOBAL),
        mergeMap((update) => of(update)),
      );
      expectObservable(result, unsub).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --g-p-g--|   ', updates);
      const subs1 = '        ^--------!   ';
      const subs2 = '        ---^--------!';
      const expected1 = '    --g---g--|   ';
      const expected2 = '    -----g---g--|';

      const result = source.pipe(onSynchronizer(GLOBAL));
      expectObservable(result, '^            ').toBe(expected1, updates);
      expectObservable(result, '---^         ').toBe(expected2, updates);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('keeps the type', () => {
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(feed.pipe(onSynchronizer(GLOBAL))).toEqualTypeOf<Observable<Update>>();
    expectTypeOf(
      feed.pipe(
        ofVariant('Transaction'),
        onSynchronizer(GLOBAL),
        map((update) => update.events),
      ),
    ).toEqualTypeOf<Observable<Transaction['events']>>();
    expectTypeOf(onSynchronizer(GLOBAL)).toExtend<MonoTypeOperatorFunction<Update>>();

    // @ts-expect-error -- at least one
    void feed.pipe(onSynchronizer());
    // @ts-expect-error -- updates only
    void of('update').pipe(onSynchronizer(GLOBAL));
  });
});
