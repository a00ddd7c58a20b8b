import { describe, it } from '@jest/globals';
import { catchError, of } from 'rxjs';
import type { Offset } from '../../src/codecs/scalars.js';
import { awaitIngested } from '../../src/operators/ofSubmission.js';
import { checkpoint, transaction } from './samples.js';
import { marbles } from '../helpers/time.js';

const updates = {
  a: transaction({ offset: 5 }),
  b: transaction({ offset: 7 }),
  c: { ...checkpoint(), offset: 9 },
  d: transaction({ offset: 12 }),
};

describe('awaitIngested', () => {
  it.each<[string, Offset, string, Offset]>([
    ['an update at the offset', 7, '         ----(x|)', 7],
    ['one beyond it', 6, '                   ----(x|)', 7],
    ['a checkpoint', 8, '                    ------(x|)', 9],
    ['the first of all', 1, '                --(x|)', 5],
  ])('waits for %s, and unsubscribes', (_, offset, expected, x) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-b-c-d--|', updates);
      const time = expected.trim().indexOf('(');

      expectObservable(source.pipe(awaitIngested(offset))).toBe(expected.trim(), { x });
      expectSubscriptions(source.subscriptions).toBe(`^${'-'.repeat(time - 1)}!`);
    });
  });

  it('errors if the feed completes before, and delivers the error of the feed', () => {
    marbles(({ cold, expectObservable }) => {
      const ended = cold('   --a-|', updates);
      const failed = cold('  --a-#', updates);
      const expected = '     ----#';

      expectObservable(
        ended.pipe(
          awaitIngested(8),
          catchError((error: unknown) => of(error instanceof Error && error.name)),
        ),
      ).toBe('----(e|)', { e: 'EmptyError' });
      expectObservable(failed.pipe(awaitIngested(8))).toBe(expected);
    });
  });

  it('keeps state per subscriber, and unsubscribes from the source when it is unsubscribed', () => {
    marbles(({ hot, expectObservable, expectSubscriptions }) => {
      const source = hot('   --a-b-c-d--|', updates);
      const one = '          ^------!   ';
      const two = '          ---^       ';
      const oneSubs = '      ^------!   ';
      const twoSubs = '      ---^----!  ';
      const awaited = source.pipe(awaitIngested(10));

      expectObservable(awaited, one).toBe('-----------');
      expectObservable(awaited, two).toBe('--------(x|)', { x: 12 });
      expectSubscriptions(source.subscriptions).toBe([oneSubs, twoSubs]);
    });
  });
});
