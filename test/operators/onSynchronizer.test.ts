import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { map, of, type MonoTypeOperatorFunction, type Observable } from 'rxjs';
import type { Transaction } from '../../src/codecs/Transaction.js';
import type { Update } from '../../src/codecs/Update.js';
import { ofVariant } from '../../src/operators/byTag.js';
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
  emits,
} from './samples.js';

const updates: Record<string, Update> = {
  g: transaction(),
  p: transaction({ synchronizerId: PRIVATE }),
  o: transaction({ synchronizerId: OTHER }),
};

describe('onSynchronizer', () => {
  it('passes the updates of one synchronizer', () => {
    const values = { ...updates, t: topology(), q: topology({ synchronizerId: PRIVATE }) };
    emits(onSynchronizer(GLOBAL), values, {
      from: '--g-p-o-t-q-g--|',
      to: '  --g-----t---g--|',
    });
  });

  it('passes the updates of several synchronizers in their order', () => {
    emits(onSynchronizer(PRIVATE, GLOBAL), updates, {
      from: '--g-p-o-p-g--|',
      to: '  --g-p---p-g--|',
    });
  });

  it('compares whole ids', () => {
    emits(onSynchronizer('global', `${GLOBAL}0`), updates, {
      from: '--g-g--|',
      to: '  -------|',
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
    emits(onSynchronizer(GLOBAL), values, {
      from: '--n-g-o-b--|',
      to: '  ----g---b--|',
    });
  });

  it('passes a reassignment by its own synchronizer, not by that of its events', () => {
    const values: Record<string, Update> = {
      g: reassignment({ synchronizerId: GLOBAL, events: [unassigned({ source: PRIVATE, target: OTHER })] }),
      p: reassignment({ synchronizerId: PRIVATE, events: [unassigned({ source: GLOBAL, target: OTHER })] }),
    };
    emits(onSynchronizer(GLOBAL), values, {
      from: '--g-p--|',
      to: '  --g----|',
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
    emits(onSynchronizer(GLOBAL), values, {
      from: '--u-v-a-b-m-k-e--|',
      to: '  --u---a---m------|',
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
    emits(onSynchronizer(GLOBAL), values, {
      from: '--d-w-o-n-l-m-s-z--|',
      to: '  --d-w--------------|',
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
