import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, of, type Observable, type OperatorFunction } from 'rxjs';
import type { OffsetCheckpoint } from '../../src/codecs/OffsetCheckpoint.js';
import type { Reassignment } from '../../src/codecs/Reassignment.js';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/byTag.js';
import { checkpoint, reassignment, topology, transaction, unknownUpdate, emits } from './samples.js';

const updates: Record<string, Update> = {
  t: transaction(),
  r: reassignment(),
  o: topology(),
  c: checkpoint(),
  u: unknownUpdate(),
};

describe('ofVariant', () => {
  it('passes the updates of one variant', () => {
    emits(ofVariant('Transaction'), updates, {
      from: '--t-r-o-c-u-t--|',
      to: '  --t---------t--|',
    });
  });

  it('passes the updates of several variants in their order', () => {
    emits(ofVariant('UnknownUpdate', 'OffsetCheckpoint', 'Reassignment'), updates, {
      from: '--t-r-o-c-u-t--|',
      to: '  ----r---c-u----|',
    });
  });

  it('passes other members of a wider union', () => {
    const wider = { ...updates, i: { _tag: 'UndecodedUpdate' as const, offset: 9 } };
    emits(ofVariant('UndecodedUpdate'), wider, {
      from: '--t-i-o-i--|',
      to: '  ----i---i--|',
    });
  });

  it('narrows the type', () => {
    const feed: Observable<Update> = of(transaction());
    const wider: Observable<Update | { readonly _tag: 'UndecodedUpdate'; readonly offset: number }> = feed;

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
    expectTypeOf(wider.pipe(ofVariant('UndecodedUpdate'))).toEqualTypeOf<
      Observable<{ readonly _tag: 'UndecodedUpdate'; readonly offset: number }>
    >();
    expectTypeOf(ofVariant('Transaction')).toExtend<OperatorFunction<Update, Transaction>>();

    // @ts-expect-error -- no such variant
    void feed.pipe(ofVariant('Transacton'));
    // @ts-expect-error -- at least one
    void feed.pipe(ofVariant());
    // @ts-expect-error -- none is left
    void feed.pipe(ofVariant('Transaction'), ofVariant('Reassignment'));
    // @ts-expect-error -- a feed has no such update without onUndecodable: 'emit'
    void feed.pipe(ofVariant('UndecodedUpdate'));
  });
});
