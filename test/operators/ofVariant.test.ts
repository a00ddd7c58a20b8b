import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, mergeMap, of, type Observable, type OperatorFunction } from 'rxjs';
import type { OffsetCheckpoint } from '../../src/codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../../src/codecs/Reassignment.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/ofVariant.js';
import { checkpoint, reassignment, topology, transaction, unknownUpdate } from './samples.js';
import { marbles } from '../helpers/time.js';

const updates: Record<string, Update> = {
  t: transaction(),
  r: reassignment(),
  o: topology(),
  c: checkpoint(),
  u: unknownUpdate(),
};

describe('ofVariant', () => {
  it('passes the updates of one variant', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-r-o-c-u-t--|', updates);
      const subs = '         ^--------------!';
      const expected = '     --t---------t--|';

      expectObservable(source.pipe(ofVariant('Transaction'))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes the updates of several variants in their order', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-r-o-c-u-t--|', updates);
      const subs = '         ^--------------!';
      const expected = '     ----r---c-u----|';

      const result = source.pipe(ofVariant('UnknownUpdate', 'OffsetCheckpoint', 'Reassignment'));
      expectObservable(result).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes nothing if no update is of the variant', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-r-c--|', updates);
      const subs = '         ^--------!';
      const expected = '     ---------|';

      expectObservable(source.pipe(ofVariant('TopologyTransaction'))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('passes other members of a wider union', () => {
    const wider = { ...updates, i: { _tag: 'InvalidUpdate' as const, offset: 9 } };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-i-o-i--|', wider);
      const subs = '         ^----------!';
      const expected = '     ----i---i--|';

      expectObservable(source.pipe(ofVariant('InvalidUpdate'))).toBe(expected, wider);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('completes if the source is empty', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('|   ');
      const subs = '               (^!)';
      const expected = '           |   ';

      expectObservable(source.pipe(ofVariant('Transaction'))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('never emits if the source never emits', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold<Update>('-');
      const subs = '               ^';
      const expected = '           -';

      expectObservable(source.pipe(ofVariant('Transaction'))).toBe(expected);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('delivers the error of the source', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-c-#  ', updates);
      const subs = '         ^-----!  ';
      const expected = '     --t---#  ';

      expectObservable(source.pipe(ofVariant('Transaction'))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('unsubscribes from the source when it is unsubscribed from', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-t-t--|', updates);
      const unsub = '        -----!    ';
      const subs = '         ^----!    ';
      const expected = '     --t-t-    ';

      const result = source.pipe(
        mergeMap((update) => of(update)),
        ofVariant('Transaction'),
        mergeMap((update) => of(update)),
      );
      expectObservable(result, unsub).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('serves two subscriptions independently', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --t-c-t--|   ', updates);
      const subs1 = '        ^--------!   ';
      const subs2 = '        ---^--------!';
      const expected1 = '    --t---t--|   ';
      const expected2 = '    -----t---t--|';

      const result = source.pipe(ofVariant('Transaction'));
      expectObservable(result, '^            ').toBe(expected1, updates);
      expectObservable(result, '---^         ').toBe(expected2, updates);
      expectSubscriptions(source.subscriptions).toBe([subs1, subs2]);
    });
  });

  it('narrows the type', () => {
    const feed: Observable<Update> = of(transaction());
    const wider: Observable<Update | { readonly _tag: 'InvalidUpdate'; readonly offset: number }> = feed;

    expectTypeOf(feed.pipe(ofVariant('Transaction'))).toEqualTypeOf<Observable<Transaction>>();
    expectTypeOf(feed.pipe(ofVariant('Transaction', 'OffsetCheckpoint'))).toEqualTypeOf<
      Observable<Transaction | OffsetCheckpoint>
    >();
    expectTypeOf(
      feed.pipe(
        ofVariant('Transaction', 'Reassignment'),
        ofVariant('Reassignment'),
        map((update) => update.events),
      ),
    ).toEqualTypeOf<Observable<Reassignment['events']>>();
    expectTypeOf(wider.pipe(ofVariant('InvalidUpdate'))).toEqualTypeOf<
      Observable<{ readonly _tag: 'InvalidUpdate'; readonly offset: number }>
    >();
    expectTypeOf(ofVariant('Transaction')).toExtend<OperatorFunction<Update, Transaction>>();

    // @ts-expect-error -- no such variant
    void feed.pipe(ofVariant('Transacton'));
    // @ts-expect-error -- at least one
    void feed.pipe(ofVariant());
    expectTypeOf(feed.pipe(ofVariant('Transaction'), ofVariant('Reassignment'))).toEqualTypeOf<Observable<never>>();
  });
});
