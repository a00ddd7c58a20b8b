import { describe, it } from '@jest/globals';
import { ofTransaction } from '../../src/operators/ofSubmission.js';
import { checkpoint, reassignment, transaction } from './samples.js';
import { marbles } from '../helpers/time.js';

const mine = { updateId: '1220ab', offset: 7 };
const updates = {
  a: transaction({ offset: 5, updateId: '1220aa' }),
  m: transaction({ ...mine, events: [] }),
  c: { ...checkpoint(), offset: 7 },
  r: reassignment({ offset: 6, updateId: '1220ab' }),
  d: transaction({ offset: 12, updateId: '1220ac' }),
};

describe('ofTransaction', () => {
  it('emits the transaction of the feed, and unsubscribes', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-r-m-d--|', updates);
      const subs = '       ^-----!     ';
      const expected = '   ------(m|)  ';

      expectObservable(source.pipe(ofTransaction(mine))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('completes without one after its offset, but not at a checkpoint of the same offset', () => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-c---d--|', updates);
      const subs = '       ^-------!   ';
      const expected = '   --------|   ';

      expectObservable(source.pipe(ofTransaction(mine))).toBe(expected, updates);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('completes or errors with the feed', () => {
    marbles(({ cold, expectObservable }) => {
      const ended = cold('   --a-|', updates);
      const failed = cold('  --a-#', updates);

      expectObservable(ended.pipe(ofTransaction(mine))).toBe(' ----|');
      expectObservable(failed.pipe(ofTransaction(mine))).toBe('----#');
    });
  });
});
