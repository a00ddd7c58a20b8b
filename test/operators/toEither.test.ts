import { describe, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import { either as E } from 'fp-ts';
import { map, of, type Observable, type OperatorFunction } from 'rxjs';
import type { Update } from '../../src/codecs/Update.js';
import { ApiError } from '../../src/errors/ApiError.js';
import { ConnectionError } from '../../src/errors/request.js';
import { DecodeError, PrunedError } from '../../src/errors/feed.js';
import type { LedgerError } from '../../src/errors/LedgerError.js';
import { toEither } from '../../src/operators/toEither.js';
import { transaction, emits } from './samples.js';
import { marbles } from '../helpers/time.js';

const values = { a: 1, b: 2 };
const rights: Record<string, E.Either<LedgerError, number>> = { a: E.right(1), b: E.right(2) };

describe('toEither', () => {
  it('emits every value as a right', () => {
    emits(toEither(), values, {
      from: '--a-b-a--|',
      to: '  --a-b-a--|',
      as: rights,
    });
  });

  it.each<LedgerError>([
    new ApiError({ path: '/v2/updates', status: 503 }),
    new ConnectionError('/v2/updates', 'refused'),
    new DecodeError('/v2/updates', [], 7),
    new PrunedError('/v2/updates', 7),
  ])('emits a $_tag as one left and completes', (error) => {
    const results = { ...rights, l: E.left(error) };
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-#   ', values, error);
      const subs = '         ^---!   ';
      const expected = '     --a-(l|)';

      expectObservable(source.pipe(toEither())).toBe(expected, results);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('recognises an error of another copy of the package', () => {
    const error = Object.assign(new Error('from elsewhere'), { _tag: 'ConnectionError' });
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-#   ', values, error);
      const subs = '         ^---!   ';
      const expected = '     --a-(l|)';

      expectObservable(source.pipe(toEither())).toBe(expected, { ...rights, l: E.left(error) });
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it.each([
    new TypeError('x is not a function'),
    Object.assign(new Error('of another library'), { _tag: 'SomeError' }),
    { status: 500 },
    'a string',
  ])('delivers any other error unchanged: %j', (error) => {
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-#', values, error);
      const subs = '         ^---!';
      const expected = '     --a-#';

      expectObservable(source.pipe(toEither())).toBe(expected, rights, error);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('does not catch errors of later operators', () => {
    const error = new ConnectionError('/v2/updates', 'refused');
    marbles(({ cold, expectObservable, expectSubscriptions }) => {
      const source = cold('  --a-b-a--|', values);
      const subs = '         ^-!       ';
      const expected = '     --#       ';

      const result = source.pipe(
        toEither(),
        map(() => {
          throw error;
        }),
      );
      expectObservable(result).toBe(expected, {}, error);
      expectSubscriptions(source.subscriptions).toBe(subs);
    });
  });

  it('has the type of the values and of the ledger errors', () => {
    const feed: Observable<Update> = of(transaction());

    expectTypeOf(feed.pipe(toEither())).toEqualTypeOf<Observable<E.Either<LedgerError, Update>>>();
    expectTypeOf(feed.pipe(toEither(), map(E.map((update) => update.offset)))).toEqualTypeOf<
      Observable<E.Either<LedgerError, number>>
    >();
    expectTypeOf(toEither<number>()).toEqualTypeOf<OperatorFunction<number, E.Either<LedgerError, number>>>();

    // @ts-expect-error -- the left is a ledger error
    void feed.pipe(toEither(), map(E.mapLeft((left: string) => left.length)));
  });
});
