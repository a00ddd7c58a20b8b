import { describe, it } from '@jest/globals';
import { either as E } from 'fp-ts';
import { map } from 'rxjs';
import { ApiError, ConnectionError, DecodeError, PrunedError } from '../../src/index.js';
import { toEither } from '../../src/operators/toEither.js';
import { itInVirtualTime, marbles } from '../helpers/time.js';

const values = { a: 1, b: 2 };
const rights = { a: E.right(1), b: E.right(2) };

describe('toEither', () => {
  it.each<[string, unknown, boolean]>([
    ['one left, and completes: an ApiError', new ApiError({ path: '/v2/updates', status: 503 }), true],
    ['one left, and completes: a ConnectionError', new ConnectionError('/v2/updates', 'refused'), true],
    ['one left, and completes: a DecodeError', new DecodeError('/v2/updates', [], 7), true],
    ['one left, and completes: a PrunedError', new PrunedError('/v2/updates', 7), true],
    [
      'one left, and completes: an error of another copy of the package',
      Object.assign(new Error('from elsewhere'), { _tag: 'ConnectionError' }),
      true,
    ],
    ['an error, unchanged: a TypeError', new TypeError('x is not a function'), false],
    [
      'an error, unchanged: one of another library',
      Object.assign(new Error('of another library'), { _tag: 'SomeError' }),
      false,
    ],
    ['an error, unchanged: an object', { status: 500 }, false],
    ['an error, unchanged: a string', 'a string', false],
  ])('emits rights, and then %s', (_, error, isLeft) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('--a-#', values, error);
      expectObservable(source.pipe(toEither())).toBe(
        isLeft ? '--a-(l|)' : '--a-#',
        { ...rights, l: E.left(error) },
        error,
      );
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
