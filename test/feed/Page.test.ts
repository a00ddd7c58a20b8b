import { describe, expect, it } from '@jest/globals';
import { UpdateElement } from '../../src/codecs/Update.js';
import { checkOrder, decodeElements } from '../../src/feed/Page.js';
import { offsets } from '../helpers/observe.js';
import { checkpoint, transaction } from '../helpers/wire.js';

/** Transactions by number, checkpoints by a number with a `c`. */
const page = (text: string) =>
  decodeElements(
    { field: 'update', codec: UpdateElement },
    '/v2/updates',
    text
      .split(' ')
      .map((word) => (word.startsWith('c') ? checkpoint(Number(word.slice(1))) : transaction(Number(word)))),
    'fail',
  ).updates;

describe('checkOrder', () => {
  it.each([
    // page                beginExclusive  endInclusive  emitted                last
    ['1 2 5', 0, undefined, [1, 2, 5], 5],
    ['1 2 c2 c9 10', 0, undefined, [1, 2, 2, 9, 10], 10],
    ['c7 8', 7, undefined, [7, 8], 8],
    // dropped: before the range, repeated, after the range
    ['6 7 8', 7, undefined, [8], 8],
    ['c6 8', 7, undefined, [8], 8],
    ['8 8 9 9', 7, undefined, [8, 9], 9],
    ['8 9 10 11', 7, 9, [8, 9], 11],
  ])(
    'passes elements that are in order and within the range: %s (G8)',
    (text, beginExclusive, endInclusive, emitted, last) => {
      const result = checkOrder(page(text), { beginExclusive, ...(endInclusive !== undefined && { endInclusive }) });
      expect(result.failure).toBeUndefined();
      expect(offsets(result.updates)).toEqual(emitted);
      expect(result.last).toBe(last);
    },
  );

  it.each([
    ['5 3', 0],
    ['1 2 5 3 4', 0],
    ['5 c4', 0],
    ['c5 5', 0],
    ['5 6 5', 0],
  ])('passes no element of a page that goes backwards: %s (G9)', (text, beginExclusive) => {
    const result = checkOrder(page(text), { beginExclusive });
    expect(result.updates).toEqual([]);
    expect(result.failure).toMatchObject({ _tag: 'OrderError' });
  });

  it('passes elements in descending order', () => {
    const range = { beginExclusive: 2, endInclusive: 9, descendingOrder: true };
    const result = checkOrder(page('12 9 8 8 3 2 1'), range);
    expect(result.failure).toBeUndefined();
    expect(offsets(result.updates)).toEqual([9, 8, 3]);
    // a ledger before 3.5 does not know the order and answers in ascending order
    expect(checkOrder(page('3 4 5'), range).failure).toMatchObject({ _tag: 'OrderError', offset: 4, previous: 3 });
    expect(checkOrder(page('3 4 5'), range).updates).toEqual([]);
  });
});
