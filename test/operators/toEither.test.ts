import { describe, it } from '@jest/globals';
import { either as E } from 'fp-ts';
import { map } from 'rxjs';
import { ApiError, ConnectionError, DecodeError, PrunedError } from '../../src/index.js';
import { toEither } from '../../src/operators/toEither.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

const values = { a: 1, b: 2 };
const rights = { a: E.right(1), b: E.right(2) };

describe('toEither', () => {
  const tagged = (_tag: string): Error => Object.assign(new Error('from elsewhere'), { _tag });

  it.each<[string, boolean, unknown]>([
    ['one left, and completes: an ApiError', true, new ApiError({ path: '/v2/updates', status: 503 })],
    ['one left, and completes: a ConnectionError', true, new ConnectionError('/v2/updates', 'refused')],
    ['one left, and completes: a DecodeError', true, new DecodeError('/v2/updates', [], 7)],
    ['one left, and completes: a PrunedError', true, new PrunedError('/v2/updates', 7)],
    ['one left, and completes: an error of another copy of the package', true, tagged('ConnectionError')],
    ['an error, unchanged: a TypeError', false, new TypeError('x is not a function')],
    ['an error, unchanged: one of another library', false, tagged('SomeError')],
    ['an error, unchanged: an object', false, { status: 500 }],
    ['an error, unchanged: a string', false, 'a string'],
  ])('emits rights, and then %s', (_, isLeft, error) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-#', values, error);
      const to = isLeft ? '--a-(l|)' : '--a-#';
      expectObservable(source.pipe(toEither())).toBe(to, { ...rights, l: E.left(error) }, error);
      expectSubscriptions(source.subscriptions).toBe('^---!');
    });
  });

  itInVirtualTime('does not catch errors of later operators', ({ cold, expectObservable, expectSubscriptions }) => {
    const error = new ConnectionError('/v2/updates', 'refused');
    const source = cold('--a-b-a--|', values);
    const result = source.pipe(
      toEither(),
      map(() => {
        throw error;
      }),
    );
    expectObservable(result).toBe('--#', {}, error);
    expectSubscriptions(source.subscriptions).toBe('^-!');
  });
});
